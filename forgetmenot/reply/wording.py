"""From what the model wrote to what may be said: the proposal is decided and carried out first, then the words fit it.

Promises that nothing is claimed which was not done: a refused, failed or unclear action speaks the executor's words,
and a reply that proposed nothing tells only of deeds that were done. Nothing is done for a reply that could not go out
in time.
"""

from collections.abc import Callable
from dataclasses import replace

from forgetmenot.actions import lines
from forgetmenot.actions.claims import claims_own
from forgetmenot.actions.executor import ActionContext, Executor
from forgetmenot.actions.grammar import parse
from forgetmenot.domain.action import Proposal
from forgetmenot.domain.model import ModelAnswer, Prompt
from forgetmenot.memory.silence import leaving_alone
from forgetmenot.prompt.material import TailMaterial
from forgetmenot.reply.job import Job
from forgetmenot.reply.outbox import Outbox
from forgetmenot.reply.postprocess import Manner, Polished, polish, whole_sentences
from forgetmenot.reply.triggers import Identity

LINES_AROUND = 10
ANOTHER_SUBJECT = "I leave that one alone. What else is new?"


class Wording:
    """Finds the words of a reply."""

    def __init__(
        self,
        *,
        executor: Executor,
        outbox: Outbox,
        identity: Callable[[], Identity],
        room_modes: Callable[[], frozenset[str]] = frozenset,
    ) -> None:
        self._executor = executor
        self._outbox = outbox
        self._identity = identity
        self._room_modes = room_modes

    async def find(self, job: Job, prompt: Prompt, material: TailMaterial, answer: ModelAnswer) -> Polished:
        """Act, if something was proposed and there is time for it, and polish the words that fit."""
        parsed = parse(answer.text, prompt.nonce)
        words = whole_sentences(parsed.visible) if answer.finish == "length" else parsed.visible
        fired: tuple[str, ...] = () if words == parsed.visible else ("unfinished",)
        manner = manner_of(job, material, self._identity())
        read = polish(words, manner)  # what is judged is what chat would read
        text = read.text
        if parsed.proposal is not None:
            if reason := self._outbox.room_for("", job.deadline):
                return Polished("", (*fired, reason))  # neither done nor claimed
            refusal = polish(parsed.proposal.otherwise, manner).text
            proposal = replace(parsed.proposal, otherwise=refusal)
            text = await self._carried_out(job, proposal, material, text)
        elif any(claims_own(one, {done.done for done in material.actions_done}) for one in (words, text)):
            text, fired = lines.NEUTRAL, (*fired, "boast")
        if (allowed := leaving_alone(text, material.left_alone)) != text:
            text, fired = allowed or ANOTHER_SUBJECT, (*fired, "left alone")
        polished = read if text == read.text else polish(text, manner)
        return Polished(polished.text, (*fired, *polished.filters))

    async def _carried_out(self, job: Job, proposal: Proposal, material: TailMaterial, words: str) -> str:
        if not job.kept:  # what is done has a row, with who asked and what they said
            return lines.harmless(proposal.otherwise)
        context = ActionContext(
            event=job.event,
            key=f"reply:{job.reply_id}",
            recent_lines=tuple(line.text for line in material.chat[-LINES_AROUND:]),
            bot_message_id=job.reply_id,
            words=words,
            room_modes=self._room_modes(),
            question=job.trigger.question if job.trigger.direct else "",
        )
        carried = await self._executor.carry_out(proposal, context)
        return carried.words_hint or words


def manner_of(job: Job, material: TailMaterial, identity: Identity) -> Manner:
    """What the filters need to know about this reply."""
    replies = tuple(line.text for line in (*material.bot_replies, *material.thread))
    names = (identity.login, identity.name, *identity.aliases)
    return Manner(job.settings, names, replies, (job.event.login, job.event.display_name))
