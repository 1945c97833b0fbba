"""Every language has every text, with the same things filled in, and no text is left over."""

import ast
import inspect
import re
import string
from pathlib import Path

import pytest

from forgetmenot.domain import OperationResult
from forgetmenot.errors import ForgetMeNotError
from forgetmenot.languages import (
    ENGLISH,
    Language,
    in_language,
    join_reasons,
    languages,
    read_reason,
    reason,
)
from forgetmenot.operations import actions
from forgetmenot.operations.commands import OPERATIONS
from forgetmenot.operations.policy import RULES
from forgetmenot.operations.wording import chat_line, sentence
from forgetmenot.privacy.receipt_search import MOST_PLACES_IN_CHAT
from forgetmenot.prompt import assemble, blocks
from forgetmenot.reply.output_filters import claims_action
from forgetmenot.reply.triggers import TriggerKind
from forgetmenot.secret_store import Account
from forgetmenot.settings.live_settings import LABELS

PACKAGE = Path(__file__).parents[2] / "forgetmenot"
PAGE = "".join(
    path.read_text("utf-8")
    for path in sorted((PACKAGE / "dock" / "static").rglob("*.js"))
)
OTHERS = sorted(set(languages()) - {"en"})


def filled_in(text: str | tuple[str, str]) -> set[str]:
    texts = (text,) if isinstance(text, str) else text
    names = set()
    for template in texts:
        for _, name, _, _ in string.Formatter().parse(template):
            if name:
                names.add(name)
    return names


@pytest.mark.parametrize("code", OTHERS)
def test_a_language_has_every_text_with_the_same_values(code: str) -> None:
    theirs = in_language(code).texts
    ours = ENGLISH.texts
    assert theirs.keys() == ours.keys()
    for key, text in ours.items():
        assert isinstance(theirs[key], str) == isinstance(text, str), key
        assert filled_in(theirs[key]) <= filled_in(text), key
        assert bool(theirs[key]) == bool(text), key


# ── keys in code ────────────────────────────────────────────────────────────────────────────


def test_every_text_that_the_page_asks_for_is_there_and_none_is_left_over() -> None:
    keys = set(re.findall(r'\b(?:t|parts)\(\s*"([\w.]+)"', PAGE))
    assert len(keys) > 150
    assert (
        sorted(
            key for key in keys if f"page.{key}" not in ENGLISH and key not in ENGLISH
        )
        == []
    )
    groups = re.findall(r"`([\w.]+)\.\$\{", PAGE) + re.findall(
        r'(?:named|toCopy)\("([\w.]+)"', PAGE
    )
    used = set(re.findall(r'"([\w.]+)"', PAGE)) | {"skip", "noscript"}
    there = {
        key.removeprefix("page.") for key in ENGLISH.texts if key.startswith("page.")
    }
    assert {
        name
        for name in there - used
        if not name.startswith(tuple(f"{group}." for group in groups))
    } == set()


def test_every_operation_action_and_setting_has_its_words() -> None:
    assert [
        name
        for name, operation in OPERATIONS.items()
        if operation.examples and f"does.{name}" not in ENGLISH
    ] == []
    assert [
        action.name
        for action in actions.ACTIONS
        if f"action.name.{action.name}" not in ENGLISH
    ] == []
    assert [
        label.group
        for label in LABELS.values()
        if f"group.{label.group}" not in ENGLISH
    ] == []
    labelled = {f"settings.{table}.{key}" for table, key in LABELS}
    assert {key for key in ENGLISH.texts if key.startswith("settings.")} == labelled
    for language in map(
        in_language, languages()
    ):  # a note that is quoted is no claim of an action
        for key in ("quote.notes", "quote.others"):
            assert not claims_action(
                language(key, who="Bob", fact="moved to Oslo last week"), frozenset()
            )


def test_every_result_of_a_service_has_its_words() -> None:
    nodes: list[ast.AST] = []
    operations = PACKAGE / "operations"
    modules = [operations / f"{name}.py" for name in ("executor", "run", "commands")]
    for path in (*modules, *sorted((operations / "handlers").glob("*.py"))):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.keyword) and node.arg == "code":
                nodes.append(node.value)
            called = getattr(node, "func", None)
            if getattr(called, "id", getattr(called, "attr", "")) in {
                "_result",
                "Refused",
            }:
                nodes += getattr(node, "args", [])
    codes = set()
    for node in nodes:
        for part in ast.walk(node):
            if isinstance(part, ast.Constant):
                codes.add(str(part.value))
    wordless = {
        "exported",
        "approved",
        "approved_unknown",
        "why",
        "status",
        "input",
    }  # their data are shown
    expected_codes = {
        code for code in codes - wordless if re.fullmatch(r"[a-z_]+", code)
    }
    assert len(expected_codes) > 40
    assert (
        sorted(
            code
            for code in expected_codes
            if f"chat.{code}" not in ENGLISH and f"result.{code}" not in ENGLISH
        )
        == []
    )


# ── reasons ─────────────────────────────────────────────────────────────────────────────────


def test_every_reason_of_code_is_there_with_its_values_and_none_is_left_over() -> None:
    there = {
        key.removeprefix("reason."): text
        for key, text in ENGLISH.texts.items()
        if key.startswith("reason.")
    }
    code = {path: path.read_text("utf-8") for path in sorted(PACKAGE.rglob("*.py"))}
    literals = set(re.findall(r'"(\w+)"', "\n".join(code.values())))
    names = {rule.name for rule in RULES} | {account.value for account in Account}
    assert sorted(there.keys() - literals - names) == []
    for path, text in code.items():
        for node in ast.walk(ast.parse(text)) if "reason(" in text else ():
            if not (
                isinstance(node, ast.Call)
                and getattr(node.func, "id", "") == "reason"
                and node.args
            ):
                continue
            key = node.args[0]
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                values = {keyword.arg for keyword in node.keywords}
                assert filled_in(there[key.value]) <= values, (
                    f"{path.name}: {key.value}"
                )


def test_a_reason_is_said_in_each_language_and_kept_in_a_row() -> None:
    german = in_language("de")
    why = reason("not_undone", reason=reason("in_time"))
    assert (why, german.reason(why)) == (
        "not undone: no answer in time",
        "nicht rückgängig gemacht: keine Antwort in der Zeit",
    )
    stored = read_reason(why.row)
    assert (stored, german.reason(stored)) == (why, german.reason(why))
    assert german.reason(str(ForgetMeNotError(why))) == german.reason(why)
    assert (
        german.reason(join_reasons("", why, reason("undone")))
        == f"{german.reason(why)} rückgängig gemacht"
    )
    for text in (
        "",
        "not undone: no answer in time",
        '["no_such_code", {}]',
        '["',
        '["undone"]',
        '["undone", 3]',
    ):
        assert german.reason(read_reason(text)) == text


def test_numbers_and_times_are_written_as_people_do() -> None:
    german = in_language("de")
    day = 86_400_000
    assert (ENGLISH.number(12345), german.number(12345)) == ("12,345", "12.345")
    spans = (5_000, 180_000, 3 * 3_600_000, 2 * day, 61 * day)
    assert [ENGLISH.duration(ms) for ms in spans] == [
        "5 s",
        "3 min",
        "3 h",
        "2 days",
        "2 months",
    ]
    assert german.duration(2 * day, "ago") == "vor 2 Tagen"
    assert Language({"x": ["{n} line", "{n} lines"]})("x", n=1) == "1 line"


def test_every_part_of_a_prompt_and_trigger_has_words_in_the_dock() -> None:
    source = inspect.getsource(assemble) + inspect.getsource(blocks)
    pattern = r'(?:Block|plain_section|_newest_last)\(\s*"(\w+)"'
    names = set(re.findall(pattern, source)) | {"instructions"}
    assert len(names) > 15
    triggers = {re.sub(r"\W+", "_", kind) for kind in TriggerKind} | {
        "command",
        "notice",
    }
    for code in languages():
        page = in_language(code).tables["page"]
        assert names <= set(page["section"]), code
        assert triggers <= set(page["trigger"]), code


def test_what_the_dock_says_of_a_result_names_no_command_of_chat() -> None:
    for code in languages():
        tables = in_language(code).tables
        texts = [*tables["result"].values(), *tables["page"]["does"].values()]
        texts += tables["page"]["did"].values()
        assert not re.findall(r"![a-z]\w*", str(texts)), code


def test_no_button_of_the_dock_has_a_tooltip_that_names_a_command_of_chat() -> None:
    """A button's tooltip is its operation's sentence, or the page's own one for it."""
    buttons = set(re.findall(r'"(\w+)"', PAGE)) & set(OPERATIONS)
    assert {"edit", "uncall", "never_mention", "pause", "opt_out"} <= buttons
    for code in languages():
        tables = in_language(code).tables
        tooltips = {**tables["does"], **tables["page"]["does"]}
        for name in buttons:
            assert not re.findall(r"![a-z]\w*", tooltips.get(name, "")), (code, name)


@pytest.mark.parametrize("code", languages())
def test_a_receipt_in_chat_ends_with_a_whole_sentence(code: str) -> None:
    language = in_language(code)
    words = sorted(language.tables["place"].values(), key=len)
    # and "elsewhere"
    longest = words[-(MOST_PLACES_IN_CHAT + 1) :]
    data = {
        "receipt": "fact",
        "receipt_code": "BCDFGH",
        "day": "2026-07-24",
        "finished": True,
        "removed": 12_345,
        "named": True,
        "files": 12,
        "mb": 123.4,
        "traces": dict.fromkeys(longest, 1234),
        "newer": dict.fromkeys(longest, 1234),
        "doubtful": 12,
        "unknown": 12,
        "max_chars": 500,
    }
    result = OperationResult(ok=True, code="receipt", data=data)
    line = chat_line(result, language)
    assert len(line) <= 500
    assert line.endswith(".")
    assert all(place in line for place in longest)


def test_an_erasure_says_in_which_files_traces_are_left() -> None:
    places = {"chat.log": 26, "backups/old.sqlite3": 1}
    data = {"notes": 1, "events": 2, "found": 27, "files": 3, "mb": 1.5}
    result = OperationResult(ok=True, code="erased", data={**data, "places": places})
    line = sentence(result)
    assert "27 traces. Still in: backups/old.sqlite3 1, chat.log 26." in line
    # viewers need not see the streamer's paths
    assert "chat.log" not in chat_line(result)
    nothing = OperationResult(ok=True, code="erased", data={**data, "places": {}})
    assert "Still in" not in sentence(nothing)


def test_chat_is_told_of_an_erasure_with_the_decimal_of_its_language() -> None:
    data = {"found": 0, "files": 1, "mb": 1.5}
    result = OperationResult(ok=True, code="erased", data=data)
    assert "1 Datei (1,5 MB)" in chat_line(result, in_language("de"))
    assert "1 file (1.5 MB)" in chat_line(result)
