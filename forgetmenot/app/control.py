"""The running bot as seen by the dock: implements ports.Control over a Bot and its settings.

The asker of a dock request is the channel's account. Explanations of replies and notes, and reply previews, are JSON.
"""

import re
from collections.abc import Callable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from forgetmenot.app.bot import Bot
from forgetmenot.app.stream_input import StreamInput
from forgetmenot.domain import OperationResult, Proposal, Surface
from forgetmenot.languages import in_language
from forgetmenot.memory import provenance
from forgetmenot.operations import actions
from forgetmenot.operations.facts import ActionContext
from forgetmenot.operations.run import run
from forgetmenot.operations.targets import owner
from forgetmenot.ports import BotState, Check
from forgetmenot.prompt.instructions import check_floor
from forgetmenot.reply import explain
from forgetmenot.reply.output_filters import polish
from forgetmenot.reply.reply_object import offered, read_reply, reply_request
from forgetmenot.reply.triggers import Trigger
from forgetmenot.reply.writer import filter_context
from forgetmenot.secret_store import login_folder
from forgetmenot.settings.live_settings import LiveSettings
from forgetmenot.settings.schema import Settings
from forgetmenot.startup import load_off_the_loop
from forgetmenot.store import channel_state
from forgetmenot.text.clean import clean
from forgetmenot.text.mentions import with_names
from forgetmenot.twitch.connection import ConnectionState, Phase


class ConnectionStatus(Struct, frozen=True):
    """State outside the Bot: its chat connection and problems with its log-in."""

    connection: Callable[[], ConnectionState | None] = lambda: None
    login_trouble: Callable[[], str] = lambda: ""
    login_hint: Callable[[], str] = lambda: ""


class BotControl:
    """A ports.Control. `stream`: what the bot hears of the stream besides chat."""

    def __init__(
        self,
        bot: Bot,
        settings: LiveSettings,
        status: ConnectionStatus,
        stream: StreamInput | None = None,
    ) -> None:
        self.bot = bot
        self._settings = settings
        self._status = status
        self._channel = settings().twitch.channel
        if stream is None:
            folder = login_folder(bot.db.path)
            stream = StreamInput(bot, settings, folder)
        self.stream = stream

    def state(self) -> BotState:
        """Return the bot's state now."""
        bot = self.bot
        task_troubles = []
        for task in bot.tasks.all:
            if task.trouble:
                task_troubles.append(task.trouble)
        phase = "none"
        phase_trouble = ""
        connection = self._status.connection()
        if connection is not None:
            phase = connection.phase.value
            phase_trouble = connection.error
            # another channel was chosen: the bot of this one runs until the next one is built
            channel = self._settings().twitch.channel
            if channel != self._channel:
                phase = Phase.CONNECTING.value
        models = bot.models
        return BotState(
            login=bot.me.login,
            phase=phase,
            phase_trouble=phase_trouble,
            login_trouble=self._status.login_trouble(),
            reply_model=models.reply.name,
            memory_model=models.memory.name,
            model_trouble=models.trouble or models.prompt_cut or "",
            file_trouble=bot.file_watch.trouble,
            memory_trouble=bot.ingest.trouble or bot.memory_trouble,
            task_troubles=tuple(task_troubles),
            settings_file=str(self._settings.path or ""),
            login_hint=self._status.login_hint(),
            sending_trouble=bot.permission.warning(),
            saving=bot.spending.line,
            port_trouble=self._settings.port_trouble(),
            hearing=self.stream.state(),
        )

    async def checks(self, *, everything: bool) -> list[Check]:
        """Return how each part of the bot is; `everything`: also this computer, the files and the network."""
        # Imported late: few sessions ask, and what it needs costs the start.
        await load_off_the_loop("forgetmenot.app.doctor")
        from forgetmenot.app.doctor import Examined, examine, running_checks

        bot = self.bot
        settings = self._settings()
        channel = await channel_state.read_all(bot.db)
        language = in_language(settings.bot.language)
        now = bot.clock.now()
        state = self.state()
        checks = running_checks(state, settings, channel, now, language)
        if not everything:
            return checks
        subject = Examined(
            bot.db.path,
            settings,
            self._settings.path,
            open_memory=bot.db,
            language=language,
        )
        return checks + await examine(subject)

    async def why(self, reply_id: int) -> Mapping[str, object]:
        """Return the explanation of one reply. Raises InputError if there is none."""
        settings = self._settings()
        trail = await explain.explain(self.bot.db, reply_id)
        language = in_language(settings.bot.language)
        return explain.as_json(trail, settings, language)

    async def chain(self, note_id: int) -> Mapping[str, object]:
        """Return the origin and the uses of one note."""
        now = self.bot.clock.now()
        return await provenance.chain(self.bot.db, note_id, now)

    async def run(self, name: str, params: Mapping[str, object]) -> OperationResult:
        """Run an operation as the streamer, and return its result."""
        bot = self.bot
        channel = self._settings().twitch.channel
        now = bot.clock.now()
        asker = await owner(bot.db, Surface.DOCK, channel, now)
        return await run(bot.operations, name, params, asker)

    def hear(self, text: str) -> bool:
        """Take a line that a program says the streamer said; return False if too many come."""
        return self.stream.sent(text)


def check_settings(settings: Settings) -> None:
    """Refuse what the schema allows and the bot cannot work with. Raises SettingsError."""
    actions.refuse_unknown(settings.actions, "The new value")
    offered_actions = offered(settings.actions, settings.bridge.effects)
    # A persona too long for the budget would be an error at the next reply.
    check_floor(settings, settings.twitch.channel, offered_actions)


# Explanations of replies and notes, and reply previews.


# Twitch's own limits.
LONGEST_MESSAGE = 500
LONGEST_NAME = 50
_NO_LOGIN = re.compile(r"[^A-Za-z0-9_]")


async def try_out(
    bot: Bot,
    login: str,
    text: str,
    changed: Settings | None = None,
) -> dict[str, object]:
    """Return a preview of a reply: words, the notes it could use, a proposal with its decision.

    `changed`: settings to preview before they are saved. Raises ModelError.
    """
    settings = changed or bot.settings()
    await bot.ingest.flush()
    # other settings make another prefix, and the one that the provider has cached must stay as it is
    keeper = None if changed else bot.keeper
    safe_login = _NO_LOGIN.sub("", login)
    name = safe_login[:LONGEST_NAME] or "somebody"
    line = clean(text)
    trigger, composed = await explain.preview(
        name,
        line[:LONGEST_MESSAGE],
        db=bot.db,
        settings=settings,
        clock=bot.clock,
        keeper=keeper,
        identity=bot.identity(),
    )
    material = composed.material
    role = material.speaker.role
    request = reply_request(composed.prompt, settings, role, trigger.question)
    answer = await bot.models.reply.generate(request)
    reply = read_reply(answer)
    context = filter_context(trigger, composed, settings)
    decision = None
    if reply.proposal:
        # the words are shown as if it were done
        done = context.done | {reply.proposal.name}
        context = replace(context, done=done)
        decision = await _decision(bot, reply.proposal, trigger)
    recalled_notes = []
    for recalled in material.notes:
        note = recalled.note
        fact = with_names(note.fact, material.names)
        recalled_notes.append({"id": note.id, "fact": fact})
    polished = polish(reply.say, context)
    return {
        "text": polished.text,
        "model": answer.model,
        "recalled": recalled_notes,
        "proposal": decision,
    }


async def _decision(
    bot: Bot,
    proposal: Proposal,
    trigger: Trigger,
) -> dict[str, object]:
    """Return the policy's decision. Nothing is written and Twitch is not asked."""
    question = trigger.question if trigger.direct else ""
    context = ActionContext(trigger.event, "dock-try", question=question)
    decision = await bot.executor.preview(proposal, context)
    return {
        "name": proposal.name,
        "verdict": decision.verdict,
        "reason": decision.reason,
    }
