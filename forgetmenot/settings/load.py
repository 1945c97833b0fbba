"""Reads a settings file, with precise messages for what is wrong in it."""

import os
import re
import tomllib
from collections.abc import Collection, Iterable, Mapping
from enum import StrEnum
from importlib import resources
from pathlib import Path
from typing import Any, get_type_hints

import msgspec

from forgetmenot.errors import SettingsError
from forgetmenot.languages import languages, reason
from forgetmenot.settings.schema import (
    CLIENT_ID,
    BridgeSettings,
    PersonaSettings,
    PriceSettings,
    Provider,
    Settings,
)
from forgetmenot.text.mentions import is_login, login_of

PERSONAS = "personas"
NAMED: Mapping[str, tuple[str, type[msgspec.Struct]]] = {
    PERSONAS: ("a persona", PersonaSettings),
    "prices": ("a price", PriceSettings),
}
"""Tables of tables with names of their own."""
LONG_NAME = 30  # letters; a key is longer, and a name that is as long holds no digits or no small letters
_PATH = re.compile(r" - at `\$\.?([^`]*)`$")
_HERE = re.compile(r"http://(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?(?:/|$)")
_UNKNOWN = re.compile(r"Object contains unknown field `(.*)`", re.DOTALL)


def example_toml() -> str:
    """The commented example. Packaged in a wheel; at the checkout's root under an editable install."""
    packaged = resources.files("forgetmenot.settings") / "config.example.toml"
    if packaged.is_file():
        return packaged.read_text(encoding="utf-8")
    return (Path(__file__).parents[2] / "config.example.toml").read_text(encoding="utf-8")


def load_settings(path: Path) -> Settings:
    """Read a TOML file. Raises SettingsError, which names file, table and key."""
    if path.exists() and not path.is_file() and not path.is_dir():  # a pipe, or a device that never ends
        raise SettingsError(f"{path} cannot be read: it is no file.")
    try:
        text = path.read_text(encoding="utf-8-sig")  # Windows' editors put a mark first
    except FileNotFoundError:
        raise SettingsError(f"{path} does not exist. Without --config, `forgetmenot start` makes one.") from None
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise SettingsError(f"{path} cannot be read: it is not UTF-8 text (byte {error.start}).") from error
    return parse_settings(text, str(path))


def parse_settings(text: str, source: str) -> Settings:
    """Settings from TOML text. Raises SettingsError, which names source, table and key."""
    try:
        text.encode()  # half a character, which an enumeration cannot compare
        table = tomllib.loads(text)
    except RecursionError:
        raise SettingsError(f"{source} is nested too deeply. Write each table as [table] and key = value.") from None
    except ValueError as error:  # also a number of thousands of digits, which is no error of tomllib's
        raise SettingsError(f"{source} is not valid TOML: {error}.") from error
    _refuse_odd_named(table, source)
    settings = convert(table, source)
    refuse_contradictions(settings, source)
    return normalised(settings)


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


def _refuse_odd_named(tables: Mapping[str, Any], source: str) -> None:
    """Each of these by itself, so that it can be said in which of them something is wrong."""
    for table, (kind, of) in NAMED.items():
        named = tables.get(table, {})
        for name, content in named.items() if isinstance(named, dict) else ():
            if not isinstance(content, dict):
                raise SettingsError(f"{source}: {kind} is a table, written as [{table}.NAME]; `{name}` is none.")
            if any(isinstance(value, dict) for value in content.values()):
                raise SettingsError(
                    f'{source}: [{table}.{name}]: a name with a dot in it stands in quotes: [{table}."NAME"].'
                )
            try:
                msgspec.convert(content, of)
            except msgspec.ValidationError as error:
                raise SettingsError(_sentence(str(error), source, f"{table}.{name}")) from error


def _sentence(message: str, source: str, within: str = "") -> str:
    """What msgspec says, for people who do not program; `within`: the table that was converted by itself."""
    path = _PATH.search(message)
    place = ".".join(filter(None, (within, path[1] if path else "")))
    what = _PATH.sub("", message)
    if unknown := _UNKNOWN.fullmatch(what):
        if not place:
            return f"{source}: there is no table `{unknown[1]}`.{nearest(unknown[1], _keys(''))}"
        return f"{source}: table [{place}] has no key `{unknown[1]}`.{nearest(unknown[1], _keys(place))}"
    table, _, key = place.rpartition(".")
    if not table:
        return f"{source}: `{key}` must be a table, written as [{key}]." if key else f"{source}: {message}."
    named = key.partition("[")[0]
    return f"{source}: table [{table}], key `{named}`{wrong_value(what, table, key)}"


def _keys(place: str) -> list[str]:
    """What may stand in a table; the tables themselves where none is named."""
    table = place.partition(".")[0]
    of = NAMED[table][1] if table in NAMED else get_type_hints(Settings).get(table, Settings)
    return [field.name for field in msgspec.structs.fields(of)]


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
    _refuse_odd_places(settings, source)
    _refuse_other_machines(settings.bridge, source)
    _refuse_the_key_itself(settings.model.api_key_env, source)
    _refuse_unknown_personas(settings, source)
    _refuse_money_without_prices(settings, source)
    if settings.privacy.allow_categories:
        from forgetmenot.text.sensitive import CATEGORIES  # with stems: 30 ms

        where = f"{source}: table [privacy], key `allow_categories`"
        refuse_unknown_words(settings.privacy.allow_categories, CATEGORIES, where)


def _refuse_money_without_prices(settings: Settings, source: str) -> None:
    model, limits = settings.model, settings.limits
    if model.provider is Provider.OFFLINE or not (limits.money_per_day or limits.money_per_stream):
        return
    for name in (model.reply_model, model.memory_model):
        if name not in settings.prices:
            key = "money_per_day" if limits.money_per_day else "money_per_stream"
            why = f'nobody knows what `{name}` costs. Put its prices into the table [prices."{name}"].'
            raise _wrong(source, "limits", key, why)


def _wrong(source: str, table: str, key: str, why: str) -> SettingsError:
    return SettingsError(reason("wrong_setting", where=f"{source}: table [{table}], key `{key}`", why=why))


def _refuse_odd_places(settings: Settings, source: str) -> None:
    """Refuse logins and addresses that cannot be valid."""
    twitch = settings.twitch
    for key, login in (("channel", twitch.channel), ("bot_login", twitch.bot_login)):
        if not is_login(login):
            raise _wrong(source, "twitch", key, no_login(login))
    if not re.fullmatch(r"[A-Za-z0-9]*", twitch.client_id.strip()):
        raise _wrong(source, "twitch", "client_id", "a client ID has only letters and digits.")
    for key, name in (("reply_model", settings.model.reply_model), ("memory_model", settings.model.memory_model)):
        if name and not re.fullmatch(r"\S+( \S+)*", name):
            raise _wrong(source, "model", key, "the name of a model is needed here.")
    for table, key, address, kinds in (
        ("twitch", "server", twitch.server, ("http",)),
        ("model", "base_url", settings.model.base_url, ("http", "https")),
    ):
        if re.search(r"[@?#]", address):  # it is shown in errors, in the dock, in the log: nothing secret stands in it
            why = "an address without user, password or ? is needed here. A model's key belongs into the environment "
            raise _wrong(source, table, key, f"{why}variable that `api_key_env` in [model] names.")
        if address and not re.match(rf"(?:{'|'.join(kinds)})://[^\s/]", address):
            known = ", ".join(f"{kind}://" for kind in kinds)
            raise _wrong(source, table, key, reason("no_address", address=address, known=known))
    if twitch.server and not _HERE.match(twitch.server):
        raise _wrong(
            source, "twitch", "server", "the log-in is sent there, so only an address on this computer will do."
        )


def _refuse_other_machines(bridge: BridgeSettings, source: str) -> None:
    """What may run an effect without a password must not be anybody else's computer."""
    for key, address in (("streamerbot_url", bridge.streamerbot_url), ("firebot_url", bridge.firebot_url)):
        if not re.fullmatch(r"http://(?:127\.0\.0\.1|localhost):[0-9]{1,5}", address):
            why = (
                "an address on this computer is needed here, such as http://127.0.0.1:7474, without anything behind it."
            )
            raise _wrong(source, "bridge", key, why)


def _refuse_the_key_itself(name: str, source: str) -> None:
    """A key in the place of its variable's name would be shown in errors and in the dock."""
    long_and_mixed = len(name) >= LONG_NAME and re.search("[a-z]", name) and re.search(r"\d", name)
    if name and (long_and_mixed or not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII)):
        why = (
            "the name of an environment variable is needed here, not the key itself. Put the key into GEMINI_API_KEY, "
        )
        raise _wrong(source, "model", "api_key_env", f"{why}or another variable, and name that.")


def refuse_unknown_words(given: Iterable[str], known: Collection[str], where: str) -> None:
    """Names in a list of which none exists: what they were to switch would stay as it is. Raises SettingsError."""
    for word in given:
        if word not in known:
            raise SettingsError(
                reason("wrong_setting", where=where, why=reason("no_name", name=word, known=nearest(word, known)))
            )


def no_login(text: str) -> str:
    """What to say of what is none."""
    return reason("no_login", name=text)


def _refuse_unknown_personas(settings: Settings, source: str) -> None:
    named = [("bot", "speaks_as", settings.bot.speaks_as)] if settings.bot.speaks_as else []
    named += [
        (f"{PERSONAS}.{name}", "inherits", other)
        for name, persona in settings.personas.items()
        for other in persona.inherits
    ]
    for table, key, name in named:
        if name not in settings.personas:
            raise _wrong(source, table, key, reason("no_name", name=name, known=nearest(name, settings.personas)))


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
_LIMITED = re.compile(r"Expected `\w+` (<=|>=|<|>) (-?[\d.]+)")
_LONG = re.compile(r"Expected `str` of length (<=|>=) (\d+)")
_OTHER_KIND = re.compile(r"Expected `(\w+)`, got `(\w+)`")
_NOT_KNOWN = re.compile(r"Invalid enum value '?(.*?)'?", re.DOTALL)


def wrong_value(message: str, table: str, key: str) -> str:
    """The end of a sentence that begins with table and key; `message` is what msgspec says. Pure."""
    if found := _LIMITED.fullmatch(message):
        return f" must be {_LIMIT[found[1]]} {float(found[2]):g}."
    if found := _LONG.fullmatch(message):
        return f" must be {_LIMIT[found[1]]} {found[2]} letters long."
    if found := _OTHER_KIND.fullmatch(message):
        wanted, given = (_KINDS.get(kind, kind) for kind in found.groups())
        return f"{': an entry' if '[' in key else ''} must be {wanted}, not {_GIVEN.get(found[2], given)}."
    known = _known(table, key)
    if known and (found := _NOT_KNOWN.fullmatch(message)):
        return f" cannot be `{found[1]}`.{nearest(found[1], known, in_order=True)}"
    return f": {message}."


def nearest(word: str, known: Iterable[str], *, in_order: bool = False) -> str:
    """A guess at what was meant, or else all that there is."""
    names = list(known)
    if not names:
        return ""
    import difflib

    match = difflib.get_close_matches(word, names, n=1, cutoff=0.5)
    if match:
        return reason("nearest", name=match[0])
    return reason("known", names=", ".join(names if in_order else sorted(names)))


def _known(table: str, key: str) -> list[str]:
    """The words that a setting may be, if they are few."""
    of: Any = get_type_hints(Settings).get(table)
    kind = get_type_hints(of).get(key) if isinstance(of, type) else None
    return [choice.value for choice in kind] if isinstance(kind, type) and issubclass(kind, StrEnum) else []
