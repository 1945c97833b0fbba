"""What a scenario has in the place of Twitch and, where its script says so, of the model."""

import shlex
from dataclasses import dataclass, field

import msgspec

from forgetmenot.app.bot import NoAccount
from forgetmenot.domain.action import Outcome, OutcomeKind
from forgetmenot.domain.model import ModelAnswer, ModelRequest, TokenUsage
from forgetmenot.errors import ModelUnavailable
from forgetmenot.ports import LanguageModel


@dataclass
class RecordingAccount(NoAccount):
    """An account that remembers what it was asked to say and do. `answer`: what Twitch answers to a deed."""

    said: list[str] = field(default_factory=list)
    done: list[str] = field(default_factory=list)
    answer: Outcome = field(default_factory=lambda: Outcome(OutcomeKind.DONE))
    immune: set[str] = field(default_factory=set)

    async def say(self, text: str, reply_to: str | None = None) -> Outcome:  # noqa: ARG002  # the port's name
        """Said."""
        self.said.append(text)
        return Outcome(OutcomeKind.DONE, twitch_id=f"sent-{len(self.said)}")

    async def is_immune(self, user_id: str) -> bool:
        """The streamer, moderators and VIPs are."""
        return user_id in self.immune

    async def timeout(self, user_id: str, seconds: int, _reason: str) -> Outcome:
        """Timed out."""
        return self._do(f"timeout {user_id.removeprefix('id-')} {seconds}")

    async def ban(self, user_id: str, _reason: str) -> Outcome:
        """Banned."""
        return self._do(f"ban {user_id.removeprefix('id-')}")

    async def delete_message(self, _event_id: str) -> Outcome:
        """Deleted."""
        return self._do("delete")

    async def announce(self, text: str) -> Outcome:
        """Announced."""
        return self._do(f"announce {text}")

    async def shoutout(self, user_id: str) -> Outcome:
        """Shouted out."""
        return self._do(f"shoutout {user_id.removeprefix('id-')}")

    async def create_marker(self, _description: str) -> Outcome:
        """Marked."""
        return self._do("marker")

    async def create_clip(self) -> Outcome:
        """Clipped."""
        return self._do("clip")

    def _do(self, what: str) -> Outcome:
        self.done.append(what)
        return self.answer


@dataclass
class ScriptedModel:
    """A LanguageModel that says what a script tells it to, and else asks the model of the settings."""

    inner: LanguageModel
    answers: list[str] = field(default_factory=list)
    asked: list[ModelRequest] = field(default_factory=list)
    away: bool = False

    @property
    def name(self) -> str:
        """The inner model's."""
        return self.inner.name

    async def generate(self, request: ModelRequest) -> ModelAnswer:
        """The next of the script's answers, in the form a model answers in."""
        self.asked.append(request)
        if self.away:
            raise ModelUnavailable("The model is away.")
        if not self.answers:
            return await self.inner.generate(request)
        return ModelAnswer(_model_form(self.answers.pop(0)), self.name, TokenUsage())

    async def aclose(self) -> None:
        """Nothing but the inner model's."""
        await self.inner.aclose()


def _model_form(said: str) -> str:
    """`words [[timeout target=bob | other words]]` as a model answers it; what begins with `{` or `raw ` as it is."""
    if said.startswith(("{", "raw ")):
        return said.removeprefix("raw ")
    say, _, rest = said.partition("[[")
    call, _, otherwise = rest.removesuffix("]]").partition(" | ")
    name, *given = shlex.split(call)[:12] or [""]
    action = {"name": name, **dict(one.split("=", 1) for one in given)} if name else None
    return msgspec.json.encode({"action": action, "say": say.strip(), "if_refused": otherwise}).decode()


class NoMeter:
    """What the outer guard counts with: the inner one has counted the call."""

    async def record(self, *_call: object) -> None:
        """Nothing."""
