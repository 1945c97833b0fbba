"""A release: its version, its section in the changelog, and the names of its files."""

import hashlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import build_installer  # noqa: E402
import release  # noqa: E402

CHANGES = """\
# Changelog

## [Unreleased]

- later

## [0.2.0] - 2026-11-29

### Added

- a bot

## [0.1.0] - 2026-11-01
"""


def test_a_release_has_the_tag_of_its_version_and_a_section() -> None:
    assert release.tag_problem("v0.2.0", "0.2.0", CHANGES) == ""
    assert "The tag is v0.3.0" in release.tag_problem("v0.3.0", "0.2.0", CHANGES)
    assert "The tag is 0.2.0" in release.tag_problem("0.2.0", "0.2.0", CHANGES)


@pytest.mark.parametrize("version", ["0.1.0", "0.3.0", "0x2.0", "0.2"])
def test_a_version_without_text_in_the_changelog_is_refused(version: str) -> None:
    assert "CHANGELOG.md" in release.tag_problem(f"v{version}", version, CHANGES)


def test_the_notes_of_a_release_are_its_section_alone() -> None:
    assert release.section(CHANGES, "0.2.0") == "### Added\n\n- a bot"


def test_the_check_is_a_command_that_fails() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "release.py"), "check", "v99.0.0"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert "The tag is v99.0.0, but the version" in result.stderr


@pytest.mark.parametrize(
    ("system", "machine", "name"),
    [
        ("win32", "AMD64", "ForgetMeNot-0.1.0-windows-x64"),
        ("darwin", "arm64", "ForgetMeNot-0.1.0-macos-arm64"),
        ("darwin", "x86_64", "ForgetMeNot-0.1.0-macos-x64"),
        ("linux", "x86_64", "ForgetMeNot-0.1.0-linux-x64"),
        ("linux", "aarch64", "ForgetMeNot-0.1.0-linux-arm64"),
    ],
)
def test_a_program_is_named_after_its_version_and_system(
    system: str, machine: str, name: str
) -> None:
    assert release.program_name("0.1.0", system, machine) == name


def test_the_sums_are_those_of_the_files(tmp_path: Path) -> None:
    for name in ("b.deb", "a.zip"):
        (tmp_path / name).write_bytes(name.encode())
    release.write_sums(tmp_path)
    # a second run does not count the first one's file
    release.write_sums(tmp_path)
    sums = [hashlib.sha256(name).hexdigest() for name in (b"a.zip", b"b.deb")]
    written = (tmp_path / "SHA256SUMS").read_bytes().decode()
    assert written == f"{sums[0]}  a.zip\n{sums[1]}  b.deb\n"


@pytest.mark.skipif(sys.platform != "linux", reason="a package of Debian")
def test_the_package_has_the_program_a_command_and_a_menu_entry(tmp_path: Path) -> None:
    program = tmp_path / "ForgetMeNot"
    program.mkdir(mode=0o700)
    (program / "forgetmenot").write_text("#!/bin/sh\n", encoding="utf-8")
    (program / "forgetmenot").chmod(0o700)
    package = build_installer.build_deb(program, tmp_path, "0.1.0")
    listed = subprocess.run(
        ["dpkg-deb", "--contents", package], capture_output=True, text=True, check=True
    ).stdout
    assert re.search(
        r"^-rwxr-xr-x root/root .* \./opt/forgetmenot/forgetmenot$",
        listed,
        re.MULTILINE,
    )
    assert "./usr/bin/forgetmenot -> /opt/forgetmenot/forgetmenot" in listed
    assert "./usr/share/applications/forgetmenot.desktop" in listed
    assert "./usr/share/icons/hicolor/256x256/apps/forgetmenot.png" in listed


def test_the_workflow_pins_its_actions_and_checks_the_tag_first() -> None:
    workflow = (ROOT / ".github" / "workflows" / "release.yml").read_text(
        encoding="utf-8"
    )
    actions = re.findall(r"uses: (\S+)", workflow)
    assert len(actions) > 5
    assert [
        name for name in actions if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", name)
    ] == []
    assert 'release.py check "$GITHUB_REF_NAME"' in workflow
    jobs = workflow.split("\njobs:\n")[1]
    starts = re.findall(r"^  (\w+):\n(?:    needs: (.+)\n)?", jobs, re.MULTILINE)
    assert [name for name, needs in starts if not needs] == ["check"]
