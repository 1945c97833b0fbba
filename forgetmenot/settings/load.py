"""Reads a settings file, with precise messages for what is wrong in it."""

import os
import re
import tomllib
from collections.abc import Collection, Iterable, Mapping
from importlib import resources
from pathlib import Path
from typing import Any, get_type_hints

import msgspec

from forgetmenot.errors import SettingsError
from forgetmenot.languages import languages, reason
from forgetmenot.settings.prices import known_prices
from forgetmenot.settings.schema import (
    CLIENT_ID,
    PersonaSettings,
    PriceSettings,
    Provider,
    Settings,
)
from forgetmenot.text.days import is_zone, zone_names
from forgetmenot.text.mentions import is_login, login_of

# Tables of tables with names of their own, which msgspec's errors leave out.
_NAMED_TABLES: Mapping[str, type[msgspec.Struct]] = {
    "personas": PersonaSettings,
    "prices": PriceSettings,
}
_ANY_NAME = re.compile(rf"^({'|'.join(_NAMED_TABLES)})\[\.\.\.\]")
_PATH = re.compile(r" - at `\$\.?([^`]*)`$")
_ERROR_LINE = re.compile(r"\(at line (\d+),")
# In double quotes TOML reads \n, \t and others as signs: "C:\new" is a path over two lines.
_PATH_ADVICE = (
    "write a path as 'C:\\Users\\alice' or \"C:/Users/alice\": in double quotes a \\ begins another"
    " sign."
)
_UNKNOWN = re.compile(r"Object contains unknown field `(.*)`", re.DOTALL)


def example_toml() -> str:
    """Return the commented example: packaged in a wheel, or at the root of a checkout."""
    packaged = resources.files("forgetmenot.settings") / "config.example.toml"
    if packaged.is_file():
        return packaged.read_text(encoding="utf-8")
    file = Path(__file__).parents[2] / "config.example.toml"
    return file.read_text(encoding="utf-8")


def load_settings(path: Path) -> Settings:
    """Return the settings of a TOML file. Raises SettingsError, which names file, table and key."""
    return parse_settings(_read(path), str(path))


def _read(path: Path) -> str:
    """Return the text of a settings file. Raises SettingsError."""
    is_pipe_or_device = path.exists() and not path.is_file() and not path.is_dir()
    # Reading one may never end.
    if is_pipe_or_device:
        raise SettingsError(f"{path} cannot be read: it is no file.")
    try:
        # Windows' editors put a byte order mark first.
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise SettingsError(
            f"{path} does not exist. Without --config, `forgetmenot start` makes one."
        ) from None
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise SettingsError(
            f"{path} cannot be read: it is not UTF-8 text (byte {error.start})."
        ) from error


def parse_settings(text: str, source: str) -> Settings:
    """Return the settings of TOML text. Raises SettingsError, which names source, table and key."""
    try:
        # Refuses half a character, which an enumeration cannot compare.
        text.encode()
        table = tomllib.loads(text)
    except RecursionError:
        raise SettingsError(
            f"{source} is nested too deeply. Write each table as [table] and key = value."
        ) from None
    # A number of thousands of digits is a ValueError, but no error of tomllib's.
    except ValueError as error:
        advice = f" W{_PATH_ADVICE[1:]}" if _has_backslash(text, str(error)) else ""
        raise SettingsError(f"{source} is not valid TOML: {error}.{advice}") from error
    settings = convert(table, source)
    refuse_contradictions(settings, source)
    return normalised(settings)


def _has_backslash(text: str, message: str) -> bool:
    """Return whether the line that a TOML error names has a backslash, as a Windows path does."""
    place = _ERROR_LINE.search(message)
    if place is None:
        return False
    # Only \n and \r\n end a line of TOML.
    lines = text.split("\n")
    number = int(place[1])
    return number <= len(lines) and "\\" in lines[number - 1]


def supplied_client_id() -> str:
    """Return the client ID that came with the program; "" if none was registered.

    A build brings its own in the variable.
    """
    return os.environ.get("FORGETMENOT_CLIENT_ID", "").strip() or CLIENT_ID


def normalised(settings: Settings) -> Settings:
    """Return settings with logins as Twitch stores them; the supplied client ID if none is set."""
    twitch = settings.twitch
    normalised_twitch = msgspec.structs.replace(
        twitch,
        channel=login_of(twitch.channel),
        bot_login=login_of(twitch.bot_login),
        client_id=twitch.client_id.strip() or supplied_client_id(),
    )
    return msgspec.structs.replace(settings, twitch=normalised_twitch)


def convert(tables: Mapping[str, Any], source: str) -> Settings:
    """Return settings from tables. Raises SettingsError, which names table and key."""
    try:
        return msgspec.convert(tables, Settings)
    except msgspec.ValidationError as error:
        raise SettingsError(f"{source}{_complaint(str(error))}") from error


def _complaint(message: str) -> str:
    """Return what msgspec says of some tables, for people who do not program."""
    # msgspec ends its errors with where: "Expected `int`, got `str` - at `$.memory.notes_per_viewer`".
    path = _PATH.search(message)
    place = _ANY_NAME.sub(r"\1.NAME", path[1] if path else "")
    problem = _PATH.sub("", message)
    unknown = _UNKNOWN.fullmatch(problem)
    if unknown is not None:
        return _unknown_name(unknown[1], place)
    table, _, key = place.rpartition(".")
    if table:
        # Of an entry of a list msgspec says "aliases[...]".
        bare_key = key.partition("[")[0]
        complaint = value_complaint(problem, table, key)
        return f": table [{table}], key `{bare_key}`{complaint}"
    if key:
        return f": `{key}` must be a table, written as [{key}]."
    return f": {message}."


def _unknown_name(name: str, place: str) -> str:
    """Return the complaint about a table or a key that does not exist, with the name that may be meant."""
    if not place:
        return f": there is no table `{name}`.{nearest_name(name, _keys(''))}"
    advice = ""
    # Without quotes TOML makes a table of each part: "gemini-3" and in it "5-flash".
    if place.endswith(".NAME"):
        advice = f' A name with a dot stands in quotes: [{place[:-5]}."NAME"].'
    guess = nearest_name(name, _keys(place))
    return f": table [{place}] has no key `{name}`.{guess}{advice}"


def _keys(place: str) -> list[str]:
    """Return the keys of a table; the tables if `place` is empty."""
    table = _table_type(place.partition(".")[0]) or Settings
    return [field.name for field in msgspec.structs.fields(table)]


def _table_type(name: str) -> Any:  # noqa: ANN401  # a type, or None
    return _NAMED_TABLES.get(name) or get_type_hints(Settings).get(name)


def refuse_contradictions(settings: Settings, source: str) -> None:
    """Refuse what each setting allows and all together do not. Raises SettingsError."""
    memory = settings.memory
    if memory.window_min_events > memory.window_max_events:
        raise SettingsError(
            f"{source}: table [memory]: `window_min_events` ({memory.window_min_events}) is larger"
            f" than `window_max_events` ({memory.window_max_events}). Lower the first or raise the"
            " second."
        )
    if settings.bot.language not in languages():
        why = (
            f"`{settings.bot.language}` is none of {', '.join(languages())}. The language it talks"
            " in is `reply_language`."
        )
        raise _wrong(source, "bot", "language", why)
    if not is_zone(settings.bot.timezone):
        raise _wrong(source, "bot", "timezone", _no_zone(settings.bot.timezone))
    for table, key, form, why in _FORMS:
        if not re.fullmatch(form, getattr(getattr(settings, table), key)):
            raise _wrong(source, table, key, why)
    logins = {
        "channel": settings.twitch.channel,
        "bot_login": settings.twitch.bot_login,
    }
    for key, login in logins.items():
        if not is_login(login):
            raise _wrong(source, "twitch", key, no_login_reason(login))
    persona = settings.bot.speaks_as
    if persona and persona not in settings.personas:
        raise _wrong(source, "bot", "speaks_as", _no_name(persona, settings.personas))
    _refuse_money_without_prices(settings, source)
    if settings.privacy.allow_categories:
        # Imported late, because it takes 30 ms.
        from forgetmenot.text.sensitive import CATEGORIES

        where = f"{source}: table [privacy], key `allow_categories`"
        refuse_unknown_words(settings.privacy.allow_categories, CATEGORIES, where)


def _refuse_money_without_prices(settings: Settings, source: str) -> None:
    """Refuse a limit in money that nothing could be counted against. Raises SettingsError."""
    limits = settings.limits
    model = settings.model
    has_limit = limits.money_per_day or limits.money_per_stream
    if not has_limit or model.provider is Provider.OFFLINE:
        return
    for name in (model.reply_model, model.memory_model):
        if name not in known_prices(settings):
            key = "money_per_day" if limits.money_per_day else "money_per_stream"
            why = (
                f"nobody knows what `{name}` costs."
                f' Put its prices into the table [prices."{name}"].'
            )
            raise _wrong(source, "limits", key, why)


def _wrong(
    source: str,
    table: str,
    key: str,
    why: str,
) -> SettingsError:
    """Return the error for a value that the schema allows."""
    where = f"{source}: table [{table}], key `{key}`"
    return SettingsError(reason("wrong_setting", where=where, why=why))


# An address is shown in errors, in the dock and in the log: nothing secret may stand in it.
_PLAIN_ADDRESS = (
    "an address without user, password or ? is needed here, which begins with http:// or https://. "
    "A key belongs into the variable of `api_key_env`."
)
_BRIDGE = r"http://(?:127\.0\.0\.1|localhost):[0-9]{1,5}"
# What may run an effect without a password must not be anybody else's computer.
_THIS_COMPUTER = (
    "an address on this computer is needed here, such as http://127.0.0.1:7474, without anything"
    " behind it."
)
# A key in the place of its variable's name would be shown. It is longer than a name of small
# letters and digits.
_VARIABLE = r"(?!(?=.*[a-z])(?=.*\d).{30})(?:[A-Za-z_][A-Za-z0-9_]*)?"
_NO_KEY = (
    "the name of an environment variable is needed here, not the key itself. The key is that"
    " variable's value."
)
_LOCAL_SERVER = r"(?:http://(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?(?:/[^@?#]*)?)?"
_SENDS_LOGIN = (
    "the log-in is sent there, so only an address on this computer will do, without user, password"
    " or ?."
)
_MODEL = r"(?:\S+(?: \S+)*)?"
_NO_MODEL = "the name of a model is needed here."
_PRINTABLE = r"[^\x00-\x1f\x7f]*"
# Table, key, the form of its text, and what is wrong with any other.
_FORMS: tuple[tuple[str, str, str, str], ...] = (
    (
        "twitch",
        "client_id",
        r"\s*[A-Za-z0-9]*\s*",
        "a client ID has only letters and digits.",
    ),
    ("twitch", "server", _LOCAL_SERVER, _SENDS_LOGIN),
    ("model", "base_url", r"(?:https?://[^\s/@?#][^@?#]*)?", _PLAIN_ADDRESS),
    ("model", "reply_model", _MODEL, _NO_MODEL),
    ("model", "memory_model", _MODEL, _NO_MODEL),
    ("model", "api_key_env", _VARIABLE, _NO_KEY),
    ("recap", "folder", _PRINTABLE, _PATH_ADVICE),
    ("hearing", "captions", _PRINTABLE, _PATH_ADVICE),
    ("bridge", "streamerbot_url", _BRIDGE, _THIS_COMPUTER),
    ("bridge", "firebot_url", _BRIDGE, _THIS_COMPUTER),
)


def refuse_unknown_words(
    words: Iterable[str],
    known: Collection[str],
    where: str,
) -> None:
    """Refuse a list with a name that does not exist: it would switch nothing.

    Raises SettingsError.
    """
    for word in words:
        if word not in known:
            why = _no_name(word, sorted(known))
            raise SettingsError(reason("wrong_setting", where=where, why=why))


def _no_name(name: str, known: Iterable[str]) -> str:
    """Return the error for a name that is none of those that are known."""
    return reason("no_name", name=name, known=nearest_name(name, known))


def _no_zone(name: str) -> str:
    """Return the error for a name that no time zone has."""
    # There are hundreds of them: none is listed, and the nearest is named.
    import difflib

    similar = difflib.get_close_matches(name, zone_names(), n=1)
    guess = reason("nearest", name=similar[0]) if similar else ""
    return reason("no_zone", name=name, guess=guess)


def no_login_reason(text: str) -> str:
    """Return the error for a text that cannot be a login."""
    return reason("no_login", name=text)


# ── messages about wrong values, for people who do not program ──────────────────────────────

_EXPECTED_KINDS = {
    "str": "text in quotes",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list in square brackets",
    "object": "a table",
}
_ACTUAL_KINDS = _EXPECTED_KINDS | {
    "str": "text",
    "float": "a number with a point",
    "array": "a list",
}
_BOUNDS = {"<=": "at most", ">=": "at least", "<": "less than", ">": "more than"}
_OUT_OF_BOUNDS = re.compile(r"Expected `\w+`( of length)? (<=|>=|<|>) (-?[\d.]+)")
_OTHER_KIND = re.compile(r"Expected `(\w+)`, got `(\w+)`")
_NO_CHOICE = re.compile(r"Invalid enum value '?(.*?)'?", re.DOTALL)


def value_complaint(
    message: str,
    table: str,
    key: str,
) -> str:
    """Return the end of a sentence that begins with table and key, by msgspec's `message`. Pure."""
    bound = _OUT_OF_BOUNDS.fullmatch(message)
    if bound is not None:
        of_length = " letters long" if bound[1] else ""
        return f" must be {_BOUNDS[bound[2]]} {float(bound[3]):g}{of_length}."
    kinds = _OTHER_KIND.fullmatch(message)
    if kinds is not None:
        entry = ": an entry" if "[" in key else ""
        expected = _EXPECTED_KINDS.get(kinds[1], kinds[1])
        actual = _ACTUAL_KINDS.get(kinds[2], kinds[2])
        return f"{entry} must be {expected}, not {actual}."
    choice = _NO_CHOICE.fullmatch(message)
    if choice is not None:
        choices = get_type_hints(_table_type(table))[key]
        return f" cannot be `{choice[1]}`.{nearest_name(choice[1], choices)}"
    return f": {message}."


def nearest_name(word: str, known: Iterable[str]) -> str:
    """Return a guess at the name that was meant, or else all that there are."""
    names = list(known)
    if not names:
        return ""
    import difflib

    match = difflib.get_close_matches(word, names, n=1, cutoff=0.7)
    if match:
        return reason("nearest", name=match[0])
    return reason("known", names=", ".join(names))
