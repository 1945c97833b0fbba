"""What the bot would say to a message: the whole road of a reply, with nothing said, done or written at its end."""

import re
import secrets

from forgetmenot.actions.catalogue import find
from forgetmenot.actions.gather import ActionContext
from forgetmenot.actions.grammar import parse
from forgetmenot.actions.policy import decide
from forgetmenot.app.bot import Bot
from forgetmenot.domain.action import Proposal
from forgetmenot.domain.model import ModelAnswer, ModelRequest, Purpose
from forgetmenot.prompt.assemble import split
from forgetmenot.reply.dry_run import Rehearsal
from forgetmenot.reply.job import Job
from forgetmenot.reply.postprocess import polish
from forgetmenot.reply.triggers import Trigger
from forgetmenot.reply.wording import manner_of
from forgetmenot.settings import prices
from forgetmenot.settings.schema import Settings
from forgetmenot.text.clean import clean
from forgetmenot.text.mentions import show

LONGEST = 500
_NO_LOGIN = re.compile(r"[^A-Za-z0-9_]")


async def try_out(bot: Bot, login: str, text: str) -> dict[str, object]:
    """The words, the proposal with its decision, and the prompt's sections with what they cost. Raises ModelError."""
    settings, identity = bot.settings(), bot.identity
    await bot.ingest.flush()
    rehearsal = Rehearsal(db=bot.db, settings=bot.settings, clock=bot.clock, keeper=bot.keeper, identity=identity)
    name = _NO_LOGIN.sub("", login)[:50] or "somebody"
    dry = await rehearsal.of(name, clean(text)[:LONGEST], secrets.token_hex(3))
    prompt, material, trigger = dry.prompt, dry.material, dry.trigger
    system, data = split(prompt)
    answer = await bot.models.reply.generate(
        ModelRequest(Purpose.REPLY, system, data, max_output_tokens=settings.model.reply_output_tokens)
    )
    parsed = parse(answer.text, prompt.nonce)
    job = Job(trigger, settings, 0)
    polished = polish(parsed.visible, manner_of(job, material, identity()))
    return {
        "who": trigger.event.display_name,
        "text": polished.text,
        "filters": polished.filters,
        "model": answer.model,
        "latency_ms": answer.latency_ms,
        "usage": {"estimated": prompt.estimated_tokens, "billed": answer.usage.input, "cached": answer.usage.cached},
        "cost": _cost(settings, answer),
        "budget": settings.prompt.budget_tokens,
        "shed": prompt.shed,
        "sections": [{"name": one.name, "tokens": one.tokens, "dropped": one.dropped} for one in prompt.sections],
        "recalled": [
            {"id": one.note.id, "fact": show(one.note.fact, material.names), "score": round(one.score, 3)}
            for one in material.lore
        ],
        "proposal": await _decision(bot, parsed.proposal, trigger) if parsed.proposal else None,
    }


def _cost(settings: Settings, answer: ModelAnswer) -> str:
    bill = answer.usage
    used = prices.of_call(answer.model, bill.input, bill.cached, bill.output, bill.thoughts)
    return prices.in_words(settings, used) if used else ""


async def _decision(bot: Bot, proposal: Proposal, trigger: Trigger) -> dict[str, object]:
    """What the policy says to it. Nothing is written, and Twitch is not asked."""
    settings, now, gatherer = bot.settings(), bot.clock.now(), bot.executor.gatherer
    context = ActionContext(trigger.event, "dock-try", question=trigger.question if trigger.direct else "")
    facts = await gatherer.facts(proposal, context, settings, now)
    decision = decide(proposal, facts, settings, await gatherer.recent(find(proposal.name), facts, now), now)
    return {
        "name": proposal.name,
        "verdict": decision.verdict,
        "rule": decision.rule,
        "reason": decision.reason,
        "otherwise": proposal.otherwise,
    }
