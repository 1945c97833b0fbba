"""What must hold for the checkout as a whole."""

import ast
import re
import subprocess
from pathlib import Path

import pytest

from forgetmenot.cli import build_parser
from forgetmenot.cli.common import COMMANDS, FOR_DEVELOPERS
from forgetmenot.domain import Permission
from forgetmenot.operations.commands import commands

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "forgetmenot"
COMMANDS_PAGE = ROOT / "docs" / "COMMANDS.md"
PROJECT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
ARCHITECTURE = (ROOT / "docs" / "ARCHITECTURE.md").read_text(encoding="utf-8")
PLACES = ARCHITECTURE.split("## Where things are")[1].split("\n## ")[0]
ROWS = re.findall(r"^\| (`.+?`) \| (.+) \|$", PLACES, re.MULTILINE)


def committed() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    return [
        ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()
    ]


def test_no_registrys_host_and_no_path_of_a_machine_is_committed() -> None:
    parts = (
        ("pyp", r"i\.org"),
        ("pythonh", "osted"),
        ("npm", r"js\.org"),
        ("deb\\.deb", "ian"),
        ("/ro", "ot/"),
        ("/wo", "rk/"),
    )
    pattern = re.compile("|".join(a + b for a, b in parts))
    texts = [path for path in committed() if path.suffix not in {".bin", ".png"}]
    assert [
        path for path in texts if pattern.search(path.read_text(encoding="utf-8"))
    ] == []


def test_every_dependency_is_pinned_and_has_its_reason_in_the_architecture() -> None:
    pins = (ROOT / "constraints.txt").read_text().splitlines()
    pinned = {line.split("==")[0].lower() for line in pins if "==" in line}
    requirements = re.findall(r'^    "([a-zA-Z][\w.-]*)[><=]', PROJECT, re.MULTILINE)
    assert {name.lower() for name in requirements} <= pinned
    names = re.findall(
        r'"([a-zA-Z][\w-]*)[><=]',
        PROJECT.split("dependencies = [", 1)[1].split("]", 1)[0],
    )
    assert len(names) > 5
    assert [
        name
        for name in names
        if f"| {name} |" not in ARCHITECTURE.split("## Dependencies")[1]
    ] == []


def is_there(place: Path) -> bool:
    return place.exists() or place.with_name(f"{place.name}.py").exists()


def test_the_architecture_names_every_package_and_files_that_exist() -> None:
    named_places = set[str]()
    for place_cell, _ in ROWS:
        named_places |= {
            name.rstrip("/") for name in re.findall(r"`(.+?)`", place_cell)
        }
    packages = {
        str(path.parent.relative_to(PACKAGE)) for path in PACKAGE.rglob("__init__.py")
    } - {"."}
    files = {
        path.name for path in PACKAGE.glob("*.py") if not path.name.startswith("__")
    }
    assert named_places == {package.replace("\\", "/") for package in packages} | files
    for package, inside in ROWS:
        for name in re.findall(r"`(.+?)`", inside):
            assert is_there(PACKAGE / package.strip("`") / name), (
                f"{package} has no {name}"
            )
    for path in re.findall(r"`(\w+(?:/\w+)+(?:\.py)?/?)`", ARCHITECTURE):
        assert is_there(PACKAGE / path) or is_there(ROOT / path), f"{path} is not there"


def anchors(page: Path) -> set[str]:
    """The headings of a page, as links name them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {
        re.sub(r"[^\w -]", "", heading).strip().lower().replace(" ", "-")
        for heading in headings
    }


def test_every_link_of_a_page_leads_somewhere() -> None:
    pages = [path for path in committed() if path.suffix == ".md"]
    link = re.compile(r"\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)")
    links = []
    for page in pages:
        targets = link.findall(page.read_text(encoding="utf-8"))
        links += [(page, name, anchor) for name, anchor in targets]
    assert len(links) > 5
    for page, name, anchor in links:
        target = page.parent / name if name else page
        assert target.exists(), f"{page.name}: {name}"
        assert not anchor or anchor in anchors(target), f"{page.name}: {name}#{anchor}"


def test_sql_is_written_in_store_alone() -> None:
    sql = re.compile(r"(?:SELECT|INSERT|UPDATE|DELETE|PRAGMA|CREATE)\s[A-Za-z(*]")
    for path in PACKAGE.rglob("*.py"):
        if path.is_relative_to(PACKAGE / "store"):
            continue
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if sql.search(text) else ():
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                assert not sql.match(node.value.lstrip()), (
                    f"{path.relative_to(ROOT)}:{node.lineno} speaks SQL"
                )


@pytest.mark.parametrize(
    "command", [name for name in COMMANDS if name not in FOR_DEVELOPERS]
)
def test_every_command_and_action_stands_in_the_docs_and_explains_itself(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        build_parser().parse_args([command, "--help"])
    assert ended.value.code == 0
    help_text = capsys.readouterr().out
    assert len(help_text) > 100
    rows = re.findall(
        r"^\| `.*", COMMANDS_PAGE.read_text(encoding="utf-8"), re.MULTILINE
    )
    listed = " ".join(row for row in rows if f"`{command}" in row)
    actions = re.findall(
        r"^    (\w+)  ", help_text.partition("\n  ACTION\n")[2], re.MULTILINE
    )
    assert listed
    assert [
        action for action in actions if not re.search(rf"\b{action}\b", listed)
    ] == []


def test_the_glossary_is_short_and_its_places_exist() -> None:
    there = {
        str(path.relative_to(PACKAGE).with_suffix("")) for path in PACKAGE.rglob("*.py")
    }
    for path in PACKAGE.rglob("*.py"):
        there.update(
            re.findall(r"^ *class (\w+)", path.read_text("utf-8"), re.MULTILINE)
        )
    page = (ROOT / "docs" / "GLOSSARY.md").read_text("utf-8")
    rows = re.findall(r"^\| (.+?) \| .+? \| (.+?) \|$", page, re.MULTILINE)[2:]
    assert 20 <= len(rows) <= 40
    for _, places in rows:
        assert set(re.findall(r"`(.+?)`", places)) <= there


BEGIN = "<!-- chat commands: begin -->"
END = "<!-- chat commands: end -->"


def test_the_docs_list_the_commands_of_the_table() -> None:
    allowed = {Permission.ANYONE: "everybody", Permission.MODERATOR: "moderators"}
    rows = [
        f"| `{form}` | {does} | `{example}` | {allowed[permission]} |"
        for form, does, example, permission in commands()
    ]
    listed = "\n".join(
        [
            BEGIN,
            "| command | what it does | for example | for |",
            "|---|---|---|---|",
            *rows,
            END,
        ]
    )
    assert listed in COMMANDS_PAGE.read_text(encoding="utf-8"), (
        f"put this into docs/COMMANDS.md:\n{listed}"
    )


@pytest.mark.parametrize(
    ("file", "pattern"),
    [
        ("forgetmenot@.service", r"^ExecStart=\S+forgetmenot (.+)$"),
        ("Dockerfile", r"^CMD \[(.+)\]$"),
    ],
)
def test_what_packaging_starts_is_a_command_that_needs_no_file(
    file: str, pattern: str
) -> None:
    """A settings file that was named and is not there ends a start; without a name it is made."""
    written = (ROOT / "packaging" / file).read_text(encoding="utf-8")
    start = re.search(pattern, written, re.MULTILINE)
    assert start is not None
    arguments = build_parser().parse_args(re.sub('[",]', " ", start[1]).split())
    assert arguments.config is None
    assert arguments.no_browser


def test_the_built_program_holds_every_module_that_is_loaded_by_its_name() -> None:
    """PyInstaller cannot see a name in a string: a module that is missing ends the program."""
    recipe = (ROOT / "packaging" / "forgetmenot.spec").read_text(encoding="utf-8")
    listed = set(
        re.findall(r'"([\w.]+)"', recipe.split("LOADED_BY_NAME = ")[1].split("]")[0])
    )
    loaded: set[str] = set()
    for path in PACKAGE.rglob("*.py"):
        for call in re.finditer(
            r"\bload(?:_off_the_loop)?\(([^()]*)\)", path.read_text("utf-8")
        ):
            loaded.update(re.findall(r'"([\w.]+)"', call[1]))
    collected_whole = ("forgetmenot", "google", "twitchio")
    by_name = {name for name in loaded if not name.startswith(collected_whole)}
    assert "keyring.errors" in by_name
    assert by_name <= listed
