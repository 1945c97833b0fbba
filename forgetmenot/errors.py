"""Every error of our own. Each carries one sentence for a person: what is wrong and the way out."""


class ForgetMeNotError(Exception):
    """The root of every error that is expected."""

    exit_code = 1


class SettingsError(ForgetMeNotError):
    """A setting is missing, broken or misspelt."""

    exit_code = 2


class InputError(ForgetMeNotError):
    """A file, an argument or a line cannot be used."""

    exit_code = 2


class StoreError(ForgetMeNotError):
    """The database cannot be used."""

    exit_code = 3


class StoreLocked(StoreError):
    """Another process holds the database."""


class StoreForeign(StoreError):
    """The file is not a ForgetMeNot database, or one from a newer version."""


class StoreDamaged(StoreError):
    """The database is damaged, or most of what it held is gone."""


class StoreFull(StoreError):
    """The disk is full."""


class StoreRequestsLost(StoreError):
    """The file of privacy requests is missing, damaged or another one."""


class StoreRefused(StoreError):
    """A row breaks a rule of the schema. Trying again does not help; other rows may be stored."""


class TwitchError(ForgetMeNotError):
    """Twitch did not do what was asked."""

    exit_code = 4


class TwitchUnavailable(TwitchError):
    """No network, a 5xx, a time-out: worth trying again."""


class TwitchLoginNeeded(TwitchError):
    """There is no log-in, or it has lapsed."""


class TwitchRefused(TwitchError):
    """Twitch understood and said no."""


class TwitchRateLimited(TwitchError):
    """Too many calls; try again after `retry_after_s` seconds."""

    def __init__(self, message: str, retry_after_s: float = 1.0) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class ModelError(ForgetMeNotError):
    """The language model gave no usable answer.

    `retry_after_s`: the wait that the server asked for, if it did.
    """

    exit_code = 5

    def __init__(self, message: str, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class ModelUnavailable(ModelError):
    """No network, a 5xx, a time-out: worth trying again."""


class ModelRateLimited(ModelError):
    """Too many calls or tokens: worth trying again later."""


class ModelRefused(ModelError):
    """Wrong key, unknown model, bad request: trying again does not help."""


class ModelBlocked(ModelError):
    """A safety filter stepped in, or the answer was empty."""


class WebhookError(ForgetMeNotError):
    """A text was not posted. `lost`: it may have been."""

    def __init__(self, message: str, *, lost: bool = False) -> None:
        super().__init__(message)
        self.lost = lost


class HearingError(ForgetMeNotError):
    """The streamer's captions cannot be heard."""


class FactRefused(Exception):
    """A proposal did not pass; `rule` names why.

    Control flow: callers catch it, nobody is shown it.
    """

    def __init__(self, rule: str) -> None:
        super().__init__(rule)
        self.rule = rule


# What our code raises when a value that chat, a model or a file wrote is not what it expects. Where
# such values are read one by one, the odd one is set aside and counted, so that it holds up nothing
# else. No error of SQLite is among them: a full disk is not the fault of a value.
ODD_INPUT = (
    ValueError,
    TypeError,
    LookupError,
    ArithmeticError,
    AttributeError,
    RecursionError,
)
