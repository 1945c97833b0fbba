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
NAMED: Mapping[str, type[msgspec.Struct]] = {"personas": PersonaSettings, "prices": PriceSettings}
_ANY_NAME = re.compile(rf"^({'|'.join(NAMED)})\[\.\.\.\]")
_PATH = re.compile(r" - at `\$\.?([^`]*)`$")
_ERROR_LINE = re.compile(r"\(at line (\d+),")
# In double quotes TOML reads \n, \t and others as signs of their own: "C:\new" is a path over two lines.
_PATH_ADVICE = "write a path as 'C:\\Users\\alice' or \"C:/Users/alice\": in double quotes a \\ begins another sign."
_UNKNOWN = re.compile(r"Object contains unknown field `(.*)`", re.DOTALL)


def example_toml() -> str:
    """The commented example. Packaged in a wheel; at the checkout's root under an editable install."""
    packaged = resources.files("forgetmenot.settings") / "config.example.toml"
    if packaged.is_file():
        return packaged.read_text(encoding="utf-8")
    return (Path(__file__).parents[2] / "config.example.toml").read_text(encoding="utf-8")


def load_settings(path: Path) -> Settings:
    """Read a TOML file. Raises SettingsError, which names file, table and key."""
    if (
        path.exists() and not path.is_file() and not path.is_dir()
    ):  # a pipe, or a device that never ends
        raise SettingsError(f"{path} cannot be read: it is no file.")
    try:
        text = path.read_text(encoding="utf-8-sig")  # Windows' editors put a mark first
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
    return parse_settings(text, str(path))


def parse_settings(text: str, source: str) -> Settings:
    """Settings from TOML text. Raises SettingsError, which names source, table and key."""
    try:
        text.encode()  # half a character, which an enumeration cannot compare
        table = tomllib.loads(text)
    except RecursionError:
        raise SettingsError(
            f"{source} is nested too deeply. Write each table as [table] and key = value."
        ) from None
    except (
        ValueError
    ) as error:  # also a number of thousands of digits, which is no error of tomllib's
        advice = f" W{_PATH_ADVICE[1:]}" if _has_backslash(text, str(error)) else ""
        raise SettingsError(f"{source} is not valid TOML: {error}.{advice}") from error
    settings = convert(table, source)
    refuse_contradictions(settings, source)
    return normalised(settings)


def _has_backslash(text: str, message: str) -> bool:
    """Return whether the line that a TOML error names holds a backslash, as a Windows path does."""
    place = _ERROR_LINE.search(message)
    if place is None:
        return False
    # only \n and \r\n end a line of TOML
    lines = text.split("\n")
    number = int(place[1])
    return number <= len(lines) and "\\" in lines[number - 1]


def supplied_client_id() -> str:
    """The client ID that came with the program; a build brings its own in the variable. Empty: none was registered."""
    return os.environ.get("FORGETMENOT_CLIENT_ID", "").strip() or CLIENT_ID


def normalised(settings: Settings) -> Settings:
    """Logins as Twitch has them, and the client id that came with the program where none is set."""
    twitch = settings.twitch
    fresh = msgspec.structs.replace(
        twitch,
        channel=login_of(twitch.channel),
        bot_login=login_of(twitch.bot_login),
        client_id=twitch.client_id.strip() or supplied_client_id(),
    )
    return msgspec.structs.replace(settings, twitch=fresh)


def convert(table: Mapping[str, Any], source: str) -> Settings:
    """Settings from tables. Raises SettingsError, which names table and key."""
    try:
        return msgspec.convert(table, Settings)
    except msgspec.ValidationError as error:
        raise SettingsError(_sentence(str(error), source)) from error


def _sentence(message: str, source: str) -> str:
    """What msgspec says, for people who do not program."""
    path = _PATH.search(message)
    place = _ANY_NAME.sub(r"\1.NAME", path[1] if path else "")
    what = _PATH.sub("", message)
    if unknown := _UNKNOWN.fullmatch(what):
        if not place:
            return f"{source}: there is no table `{unknown[1]}`.{nearest(unknown[1], _keys(''))}"
        dotted = (
            f' A name with a dot stands in quotes: [{place[:-5]}."NAME"].'
            if place.endswith(".NAME")
            else ""
        )
        return f"{source}: table [{place}] has no key `{unknown[1]}`.{nearest(unknown[1], _keys(place))}{dotted}"
    table, _, key = place.rpartition(".")
    if not table:
        return (
            f"{source}: `{key}` must be a table, written as [{key}]."
            if key
            else f"{source}: {message}."
        )
    named = key.partition("[")[0]
    return f"{source}: table [{table}], key `{named}`{wrong_value(what, table, key)}"


def _keys(place: str) -> list[str]:
    """What may stand in a table; the tables themselves where none is named."""
    return [
        field.name for field in msgspec.structs.fields(_table(place.partition(".")[0]) or Settings)
    ]


def _table(name: str) -> Any:  # noqa: ANN401  # a type, or None
    return NAMED.get(name) or get_type_hints(Settings).get(name)


def refuse_contradictions(settings: Settings, source: str) -> None:
    """What each setting allows and all together do not. Raises SettingsError."""
    memory = settings.memory
    if memory.window_min_events > memory.window_max_events:
        raise SettingsError(
            f"{source}: table [memory]: `window_min_events` ({memory.window_min_events}) is larger than "
            f"`window_max_events` ({memory.window_max_events}). Lower the first or raise the second."
        )
    if settings.bot.language not in languages():
        why = f"`{settings.bot.language}` is none of {', '.join(languages())}. The language it talks in is "
        raise _wrong(source, "bot", "language", f"{why}`reply_language`.")
    if not is_zone(settings.bot.timezone):
        raise _wrong(source, "bot", "timezone", _no_zone(settings.bot.timezone))
    for table, key, form, why in _FORMS:
        if not re.fullmatch(form, getattr(getattr(settings, table), key)):
            raise _wrong(source, table, key, why)
    for key, login in (
        ("channel", settings.twitch.channel),
        ("bot_login", settings.twitch.bot_login),
    ):
        if not is_login(login):
            raise _wrong(source, "twitch", key, no_login(login))
    persona = settings.bot.speaks_as
    if persona and persona not in settings.personas:
        raise _wrong(source, "bot", "speaks_as", _no_name(persona, settings.personas))
    _refuse_money_without_prices(settings, source)
    if settings.privacy.allow_categories:
        from forgetmenot.text.sensitive import CATEGORIES  # with stems: 30 ms

        where = f"{source}: table [privacy], key `allow_categories`"
        refuse_unknown_words(settings.privacy.allow_categories, CATEGORIES, where)


def _refuse_money_without_prices(settings: Settings, source: str) -> None:
    limits, model = settings.limits, settings.model
    if model.provider is not Provider.OFFLINE and (limits.money_per_day or limits.money_per_stream):
        for name in (model.reply_model, model.memory_model):
            if name not in known_prices(settings):
                key = "money_per_day" if limits.money_per_day else "money_per_stream"
                why = f'nobody knows what `{name}` costs. Put its prices into the table [prices."{name}"].'
                raise _wrong(source, "limits", key, why)


def _wrong(source: str, table: str, key: str, why: str) -> SettingsError:
    return SettingsError(
        reason("wrong_setting", where=f"{source}: table [{table}], key `{key}`", why=why)
    )


# An address is shown in errors, in the dock and in the log: nothing secret stands in it.
_PLAIN = (
    "an address without user, password or ? is needed here, which begins with http:// or https://. "
    "A key belongs into the variable of `api_key_env`."
)
_BRIDGE = r"http://(?:127\.0\.0\.1|localhost):[0-9]{1,5}"
# What may run an effect without a password must not be anybody else's computer.
_HERE = "an address on this computer is needed here, such as http://127.0.0.1:7474, without anything behind it."
# A key in the place of its variable's name would be shown. It is longer than a name of small letters and digits.
_VARIABLE = r"(?!(?=.*[a-z])(?=.*\d).{30})(?:[A-Za-z_][A-Za-z0-9_]*)?"
_NO_KEY = "the name of an environment variable is needed here, not the key itself. The key is that variable's value."
# Table, key, the form of its text, and what to say of another.
_FORMS: tuple[tuple[str, str, str, str], ...] = (
    ("twitch", "client_id", r"\s*[A-Za-z0-9]*\s*", "a client ID has only letters and digits."),
    (
        *(
            "twitch",
            "server",
            r"(?:http://(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?(?:/[^@?#]*)?)?",
        ),
        "the log-in is sent there, so only an address on this computer will do, without user, password or ?.",
    ),
    ("model", "base_url", r"(?:https?://[^\s/@?#][^@?#]*)?", _PLAIN),
    ("model", "reply_model", r"(?:\S+(?: \S+)*)?", "the name of a model is needed here."),
    ("model", "memory_model", r"(?:\S+(?: \S+)*)?", "the name of a model is needed here."),
    ("model", "api_key_env", _VARIABLE, _NO_KEY),
    ("recap", "folder", r"[^\x00-\x1f\x7f]*", _PATH_ADVICE),
    ("hearing", "captions", r"[^\x00-\x1f\x7f]*", _PATH_ADVICE),
    ("bridge", "streamerbot_url", _BRIDGE, _HERE),
    ("bridge", "firebot_url", _BRIDGE, _HERE),
)


def refuse_unknown_words(given: Iterable[str], known: Collection[str], where: str) -> None:
    """Names in a list of which none exists: what they were to switch would stay as it is. Raises SettingsError."""
    for word in given:
        if word not in known:
            raise SettingsError(
                reason("wrong_setting", where=where, why=_no_name(word, sorted(known)))
            )


def _no_name(name: str, known: Iterable[str]) -> str:
    return reason("no_name", name=name, known=nearest(name, known))


def _no_zone(name: str) -> str:
    """Return what to say of a name that no time zone has."""
    import difflib

    similar = difflib.get_close_matches(name, zone_names(), n=1)
    guess = reason("nearest", name=similar[0]) if similar else ""
    return reason("no_zone", name=name, guess=guess)


def no_login(text: str) -> str:
    """What to say of what is none."""
    return reason("no_login", name=text)


# Messages about wrong values, for people who do not program.


_KINDS = {
    "str": "text in quotes",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list in square brackets",
    "object": "a table",
}
_GIVEN = {"str": "text", "float": "a number with a point", "array": "a list"}
_LIMIT = {"<=": "at most", ">=": "at least", "<": "less than", ">": "more than"}
_LIMITED = re.compile(r"Expected `\w+`( of length)? (<=|>=|<|>) (-?[\d.]+)")
_OTHER_KIND = re.compile(r"Expected `(\w+)`, got `(\w+)`")
_NOT_KNOWN = re.compile(r"Invalid enum value '?(.*?)'?", re.DOTALL)


def wrong_value(message: str, table: str, key: str) -> str:
    """The end of a sentence that begins with table and key; `message` is what msgspec says. Pure."""
    if found := _LIMITED.fullmatch(message):
        return (
            f" must be {_LIMIT[found[2]]} {float(found[3]):g}{' letters long' if found[1] else ''}."
        )
    if found := _OTHER_KIND.fullmatch(message):
        wanted, given = (_KINDS.get(kind, kind) for kind in found.groups())
        return f"{': an entry' if '[' in key else ''} must be {wanted}, not {_GIVEN.get(found[2], given)}."
    if found := _NOT_KNOWN.fullmatch(message):
        return f" cannot be `{found[1]}`.{nearest(found[1], get_type_hints(_table(table))[key])}"
    return f": {message}."


def nearest(word: str, known: Iterable[str]) -> str:
    """A guess at what was meant, or else all that there is."""
    names = list(known)
    if not names:
        return ""
    import difflib

    match = difflib.get_close_matches(word, names, n=1, cutoff=0.5)
    if match:
        return reason("nearest", name=match[0])
    return reason("known", names=", ".join(names))
