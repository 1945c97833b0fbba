"""Every setting, with its default. Strict and frozen: an event is handled under one snapshot.

Durations end in their unit (`_s`, `_min`, `_h`, `_d`). Each setting stands, with the same default
and a word of explanation, in config.example.toml; a test compares the two.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, NamedTuple

from msgspec import Meta, Struct, field

# The client ID of the Twitch app that the program comes with, empty until one is registered. It is
# no secret. docs/RELEASING.md says how to register it, and how a build brings its own.
CLIENT_ID = ""
IRC_URL = "wss://irc-ws.chat.twitch.tv:443"
# No number is larger: as days in milliseconds it still fits into SQLite and the event loop.
MAX_NUMBER = 1_000_000_000
Positive = Annotated[int, Meta(ge=1, le=MAX_NUMBER)]
Count = Annotated[int, Meta(ge=0, le=MAX_NUMBER)]
Amount = Annotated[float, Meta(ge=0, le=MAX_NUMBER)]


class Mode(StrEnum):
    """How much the bot says by itself."""

    SHADOW = "shadow"
    MENTIONS = "mentions"
    LIVE = "live"


class ClassMode(StrEnum):
    """What happens to a proposed action of one class."""

    OFF = "off"
    SHADOW = "shadow"
    ASK = "ask"
    LIVE = "live"


class GuardedMode(StrEnum):
    """What may happen to an action that never runs alone: class C knows no `live`."""

    OFF = "off"
    SHADOW = "shadow"
    ASK = "ask"


class Earpiece(StrEnum):
    """About whom the dock shows a card when they come in."""

    REGULARS = "regulars"
    EVERYONE_KNOWN = "everyone_known"
    OFF = "off"


class Provider(StrEnum):
    """Where words come from."""

    OFFLINE = "offline"
    GEMINI = "gemini"
    OPENAI_COMPATIBLE = "openai_compatible"


class Level(StrEnum):
    """Lowest level that is logged."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class Table(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of the settings file."""


class TwitchSettings(Table, frozen=True, kw_only=True):
    """The channel, and the app that logs in."""

    channel: str = ""
    client_id: str = CLIENT_ID
    bot_login: str = ""
    server: str = ""

    @property
    def irc_url(self) -> str:
        """Return where chat is read."""
        if not self.server:
            return IRC_URL
        return f"ws{self.server.removeprefix('http').rstrip('/')}/irc"

    @property
    def helix_url(self) -> str:
        """Return where Twitch's API is."""
        if not self.server:
            return "https://api.twitch.tv/helix/"
        return f"{self.server.rstrip('/')}/helix/"

    @property
    def id_url(self) -> str:
        """Return where accounts log in."""
        if not self.server:
            return "https://id.twitch.tv/"
        return f"{self.server.rstrip('/')}/"


class BotSettings(Table, frozen=True, kw_only=True):
    """Who the bot is and how much it says."""

    name: str = "ForgetMeNot"
    aliases: tuple[str, ...] = ()
    mode: Mode = Mode.SHADOW
    persona: Annotated[str, Meta(max_length=4000)] = (
        "You are one of this channel's regulars, the one with the good memory. Be warm and"
        " quick-witted, tease gently, never punch down, and keep it short."
    )
    language: str = "en"
    timezone: str = ""
    reply_language: str = "the language of the message"
    speaks_as: str = ""
    notice: Annotated[str, Meta(max_length=400)] = (
        "I'm a bot with a memory. !privacy says what I keep, !optout keeps you out of it."
    )
    answers_help: bool = True
    answers_commands: bool = True


class PersonaSettings(Table, frozen=True, kw_only=True):
    """Another voice, `[personas.NAME]`: `speaks_as` in [bot] switches to it."""

    persona: Annotated[str, Meta(max_length=4000)] = ""
    reply_language: str = ""
    own_notes: bool = False


class MemorySettings(Table, frozen=True, kw_only=True):
    """How chat becomes memory."""

    # No more than 24: docs/PRIVACY.md promises it to viewers.
    raw_events_h: Annotated[float, Meta(gt=0, le=24)] = 24
    window_min_events: Positive = 40
    window_max_events: Annotated[int, Meta(ge=2, le=400)] = 100
    notes_per_viewer: Positive = 200
    briefs: bool = True
    ignored_viewers: tuple[str, ...] = ()
    known_bots: tuple[str, ...] = ()


class PromptSettings(Table, frozen=True, kw_only=True):
    """The budget of one reply's input."""

    budget_tokens: Annotated[int, Meta(ge=500, le=MAX_NUMBER)] = 4000


class ReplySettings(Table, frozen=True, kw_only=True):
    """When the bot answers, and what may be in it."""

    # Twitch refuses a longer message.
    max_chars: Annotated[int, Meta(ge=20, le=500)] = 500
    # One viewer cannot keep the bot busy, nor spend the whole cap.
    viewer_gap_s: Amount = 10
    # Chat has moved on: an answer that late reads as noise.
    stale_after_s: Positive = 30
    follow_up_s: Count = 180
    # A short line without an end may be the beginning of a question: its rest is waited for.
    gather_s: Amount = 2
    allow_links: bool = False
    blocklist: tuple[str, ...] = ()


class ActionSettings(Table, frozen=True, kw_only=True):
    """What it may do. Class A is free, B guarded, C never alone."""

    class_a: ClassMode = ClassMode.LIVE
    class_b: ClassMode = ClassMode.SHADOW
    class_c: GuardedMode = GuardedMode.ASK
    disabled: tuple[str, ...] = ()
    allowed_targets: tuple[str, ...] = ()
    denied_targets: tuple[str, ...] = ()
    safe_mode: bool = False
    # Longer timeouts are class C (`long_timeout`).
    max_timeout_s: Annotated[int, Meta(ge=1, le=60)] = 60
    # Between two actions of class B: of the same viewer, and of any.
    viewer_cooldown_s: Count = 1800
    channel_cooldown_s: Count = 300
    per_stream: Positive = 30
    newcomer_protection: bool = True
    approval_expires_s: Positive = 300


class ModelSettings(Table, frozen=True, kw_only=True):
    """The models. The API key is read from the environment variable that `api_key_env` names."""

    provider: Provider = Provider.OFFLINE
    reply_model: str = "gemini-3.5-flash-lite"
    memory_model: str = "gemini-3.8-flash"
    base_url: str = ""
    api_key_env: str = "GEMINI_API_KEY"
    # Shorter than `stale_after_s`, so that one more try is not in vain.
    reply_timeout_s: Annotated[float, Meta(gt=0, le=MAX_NUMBER)] = 12
    memory_timeout_s: Annotated[float, Meta(gt=0, le=MAX_NUMBER)] = 60
    reply_output_tokens: Positive = 400
    # A thinking model can spend the whole output on thoughts, and answer nothing.
    thinking: str = ""
    currency: Annotated[str, Meta(max_length=12)] = ""


class PriceSettings(Table, frozen=True, kw_only=True):
    """What a model costs per million tokens, `[prices."MODEL"]`.

    settings/prices has list prices besides.
    """

    input: Amount = 0
    cached: Amount = 0
    output: Amount = 0


class LimitSettings(Table, frozen=True, kw_only=True):
    """What may be spent. 0: no limit."""

    tokens_per_day: Annotated[int, Meta(ge=0)] = 0
    tokens_per_stream: Annotated[int, Meta(ge=0)] = 0
    money_per_day: Amount = 0
    money_per_stream: Amount = 0
    replies_per_viewer_hour: Annotated[int, Meta(ge=0)] = 0


class PeopleSettings(Table, frozen=True, kw_only=True):
    """Who counts as a regular, a newcomer, a returner."""

    regular_streams: Positive = 5
    newcomer_streams: Positive = 3
    returner_away_d: Positive = 21
    # Off: nothing is read or said of streaks and anniversaries.
    time_together: bool = True


class PrivacySettings(Table, frozen=True, kw_only=True):
    """What is never stored, unless the streamer says so."""

    allow_categories: tuple[str, ...] = ()
    never_store: tuple[str, ...] = ()
    keep_replies_d: Annotated[int, Meta(ge=1, le=90)] = 30
    # An erasure replaces all of them with a new one.
    keep_backups: Annotated[int, Meta(ge=0, le=100)] = 3
    privacy_url: str = ""


class DockSettings(Table, frozen=True, kw_only=True):
    """The local page. It is served to this machine alone, since it shows chat and takes orders."""

    # OBS's own server is at 4455.
    port: Annotated[int, Meta(ge=0, le=65535)] = 8737
    earpiece: Earpiece = Earpiece.REGULARS
    earpiece_without: tuple[str, ...] = ()


class RecapSettings(Table, frozen=True, kw_only=True):
    """Where the recap of a stream goes, besides the dock.

    The webhook's address is a secret and stands elsewhere.
    """

    folder: str = ""
    post_at_once: bool = False


class BridgeSettings(Table, frozen=True, kw_only=True):
    """Effects of the streamer's other bot on this computer that the bot may run."""

    streamerbot_url: str = "http://127.0.0.1:7474"
    streamerbot_actions: tuple[str, ...] = ()
    firebot_url: str = "http://127.0.0.1:7472"
    firebot_lists: tuple[str, ...] = ()

    @property
    def effects(self) -> tuple[str, ...]:
        """Return the names of all of them."""
        return (*self.streamerbot_actions, *self.firebot_lists)


class LocalApiSettings(Table, frozen=True, kw_only=True):
    """The interface by which other programs on this computer may read."""

    enabled: bool = False


class HearingSettings(Table, frozen=True, kw_only=True):
    """The streamer's voice, from captions that another program makes.

    Empty and false: nothing is heard.
    """

    obs: str = ""
    source: str = ""
    captions: str = ""
    programs: bool = False
    offline: bool = False
    answer_aloud: bool = False

    @property
    def on(self) -> bool:
        """Return whether anything is to be heard."""
        return bool((self.obs and self.source) or self.captions or self.programs)


class RewardSettings(Table, frozen=True, kw_only=True):
    """Channel-point rewards for the bot, by their titles on Twitch."""

    ask: str = ""
    remember: str = ""


class LogSettings(Table, frozen=True, kw_only=True):
    """How much is written to the console and the log file."""

    level: Level = Level.INFO


class Settings(Table, frozen=True, kw_only=True):
    """All of it."""

    twitch: TwitchSettings = field(default_factory=TwitchSettings)
    bot: BotSettings = field(default_factory=BotSettings)
    memory: MemorySettings = field(default_factory=MemorySettings)
    prompt: PromptSettings = field(default_factory=PromptSettings)
    reply: ReplySettings = field(default_factory=ReplySettings)
    actions: ActionSettings = field(default_factory=ActionSettings)
    model: ModelSettings = field(default_factory=ModelSettings)
    limits: LimitSettings = field(default_factory=LimitSettings)
    people: PeopleSettings = field(default_factory=PeopleSettings)
    privacy: PrivacySettings = field(default_factory=PrivacySettings)
    dock: DockSettings = field(default_factory=DockSettings)
    recap: RecapSettings = field(default_factory=RecapSettings)
    bridge: BridgeSettings = field(default_factory=BridgeSettings)
    local_api: LocalApiSettings = field(default_factory=LocalApiSettings)
    hearing: HearingSettings = field(default_factory=HearingSettings)
    rewards: RewardSettings = field(default_factory=RewardSettings)
    log: LogSettings = field(default_factory=LogSettings)
    personas: Mapping[str, PersonaSettings] = field(default_factory=dict)
    prices: Mapping[str, PriceSettings] = field(default_factory=dict)


class Persona(NamedTuple):
    """The voice of the moment.

    `name` is empty for the one in [bot]. `writes_as` is the persona whose the new notes are; empty:
    they are of all.
    """

    name: str
    text: str
    language: str
    writes_as: str

    def sees(self, persona: str) -> bool:
        """Return whether a note of a persona ("": of all) is shown while this one speaks."""
        return persona in {"", self.name}


def current_persona(settings: Settings) -> Persona:
    """Return the persona that `speaks_as` names; the one of [bot] if it names none."""
    bot = settings.bot
    persona = settings.personas.get(bot.speaks_as)
    if persona is None:
        return Persona("", bot.persona, bot.reply_language, "")
    return Persona(
        name=bot.speaks_as,
        text=persona.persona or bot.persona,
        language=persona.reply_language or bot.reply_language,
        writes_as=bot.speaks_as if persona.own_notes else "",
    )
