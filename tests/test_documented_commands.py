"""Every command that README, INSTALL and CONTRIBUTING show is run, or parsed where it needs more than a test has."""

import re
import shlex
from pathlib import Path

import pytest

from forgetmenot.cli import build_parser, main
from forgetmenot.files import IN_USE
from forgetmenot.languages import ENGLISH
from tests.program import environment

ROOT = Path(__file__).parents[1]
PAGES = (
    "README.md",
    "docs/COMMANDS.md",
    "docs/INSTALL.md",
    "docs/CONNECT.md",
    "CONTRIBUTING.md",
)
PROGRAMS = "forgetmenot|python|py"
PLACES = {"FILE": "copy.sqlite3", "YOUR_CHANNEL": "demo", "REPLY_ID": "1"}
ONLY_PARSED = {
    "start": "runs until Ctrl-C (tests/cli/test_start.py)",
    "setup": "runs until Ctrl-C (tests/dock/test_setup.py)",
    "demo": "takes seconds (tests/demo/test_show.py)",
    "login": "needs an account (tests/cli/test_login.py)",
    "uninstall": "changes this computer (tests/cli/test_uninstall.py)",
    "autostart": "changes this computer (tests/app/test_autostart.py)",
    "doctor": "asks Twitch (tests/app/test_doctor.py)",
    "mcp": "serves until its input ends (tests/local_api/test_connect.py)",
    "dock": "opens a browser; its options are run",
}


def shown_commands() -> list[str]:
    """The commands in the pages' code, without comments and the prompts around them."""
    snippets = []
    for page in PAGES:
        text = (ROOT / page).read_text(encoding="utf-8")
        blocks = re.findall(
            r"^```\w*\n(.*?)^```|((?:^    \S.*\n)+)", text, re.DOTALL | re.MULTILINE
        )
        for fenced, indented in blocks:
            snippets += [line.strip() for line in (fenced + indented).splitlines()]
        snippets += re.findall(rf"`((?:{PROGRAMS})(?: [^`]*)?)`", text)
    commands = [line.partition("  #")[0].strip() for line in snippets]
    commands += [
        line[line.index("forgetmenot ") :]
        for line in commands
        if re.match(r'start "" .*forgetmenot ', line)
    ]
    return sorted(
        {
            line
            for line in commands
            if re.match(rf"(?:{PROGRAMS})\b", line) and "…" not in line
        }
    )


OURS = [
    line.removesuffix(" & obs")
    for line in shown_commands()
    if line.startswith("forgetmenot ")
]


def words_of(line: str) -> list[str]:
    return [PLACES.get(word, word) for word in shlex.split(line)[1:]]


def test_the_pages_show_commands_and_no_exception_is_left_over() -> None:
    assert len(OURS) > 12
    assert sorted(ONLY_PARSED.keys() - {line.split()[1] for line in OURS}) == []
    for line in OURS:
        assert build_parser().parse_args(words_of(line)).run is not None, line


RUN = [
    line
    for line in OURS
    if line.split()[1] not in ONLY_PARSED or line.startswith("forgetmenot dock --")
]


@pytest.mark.parametrize("line", RUN)
def test_a_command_of_ours_runs(
    line: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, value in environment(tmp_path).items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    notes = '{"id": 2, "scope": "channel", "fact": "streams every friday"}\n'
    (tmp_path / "notes.jsonl").write_text(notes, encoding="utf-8")
    assert main(["memory", "import", "notes.jsonl"]) == 0
    if "restore" in line:
        assert main(["memory", "backup", PLACES["FILE"]]) == 0
    yes = ["--yes"] if "restore" in line else []
    assert main([*words_of(line), *yes]) == (
        2 if line.startswith("forgetmenot why") else 0
    )
    shown_text = "".join(capsys.readouterr())
    assert "this is a bug" not in shown_text


def test_a_script_of_ours_is_there_and_takes_the_options_that_are_shown() -> None:
    script_line = re.compile(r"(?:python|py) scripts[/\\](\w+\.py)(.*)")
    matches = [script_line.match(line) for line in shown_commands()]
    scripts = [match for match in matches if match]
    assert len(scripts) > 2
    for script in scripts:
        source = (ROOT / "scripts" / script[1]).read_text(encoding="utf-8")
        options = re.findall(r"--[a-z-]+", script[2])
        assert [option for option in options if f'"{option}"' not in source] == [], (
            script[0]
        )


def test_readme_quotes_messages_as_they_are_said() -> None:
    table = (
        (ROOT / "README.md")
        .read_text(encoding="utf-8")
        .split("| message |")[1]
        .split("\n\n")[0]
    )
    quoted = [
        double_quoted or single_quoted
        for double_quoted, single_quoted in re.findall(
            r"^\| (?:`` (.+?) ``|`(.+?)`) \|", table, re.MULTILINE
        )
    ]
    texts = [f"… {IN_USE}"]
    for text in ENGLISH.texts.values():
        texts += [text] if isinstance(text, str) else text
    message_patterns = [
        re.sub(r"\\\{\w+\\\}", ".+", re.escape(text.split(". ")[0].rstrip(".")))
        for text in texts
    ]
    assert len(quoted) > 6
    assert [
        message
        for message in quoted
        if not any(
            re.fullmatch(pattern, message.rstrip(".")) for pattern in message_patterns
        )
    ] == []
