"""What the bot would say to a message: the whole road of a reply, with nothing said, done or written at its end."""

import secrets

from forgetmenot.actions.catalogue import find
from forgetmenot.actions.gather import ActionContext
from forgetmenot.actions.grammar import parse
from forgetmenot.actions.policy import decide
from forgetmenot.app.bot import Bot
from forgetmenot.domain.action import Proposal
from forgetmenot.domain.chat import ChatEvent, EventKind
from forgetmenot.domain.model import ModelRequest, Purpose
from forgetmenot.prompt.assemble import assemble, split
from forgetmenot.reply.gather import Gatherer
from forgetmenot.reply.job import Job
from forgetmenot.reply.postprocess import polish
from forgetmenot.reply.triggers import Conversations, Trigger, TriggerKind, trigger_of, without_name
from forgetmenot.reply.wording import manner_of
from forgetmenot.store import crowd, working_set
from forgetmenot.text.clean import clean
from forgetmenot.text.mentions import show

LONGEST = 500


async def try_out(bot: Bot, login: str, text: str) -> dict[str, object]:
    """The words, the proposal with its decision, and the prompt's sections with what they cost. Raises ModelError."""
    settings = bot.settings()
    await bot.ingest.flush()
    trigger = await _trigger(bot, login, text)
    prefix = await bot.keeper.current()
    shown = [row for section in prefix.sections if section.name == "episodes" for row in section.rows]
    gatherer = Gatherer(db=bot.db, recall=bot.recall, clock=bot.clock)
    material = await gatherer.tail(
        trigger, settings, nonce=secrets.token_hex(3), bot_id=bot.me.user_id, shown_episodes=shown
    )
    prompt = assemble(prefix, material, settings, bot.keeper.factor)
    system, data = split(prompt)
    answer = await bot.models.reply.generate(
        ModelRequest(Purpose.REPLY, system, data, max_output_tokens=settings.model.reply_output_tokens)
    )
    parsed = parse(answer.text, prompt.nonce)
    job = Job(trigger, settings, 0)
    polished = polish(parsed.visible, manner_of(job, material, bot.identity()))
    return {
        "who": trigger.event.display_name,
        "text": polished.text,
        "filters": polished.filters,
        "model": answer.model,
        "latency_ms": answer.latency_ms,
        "usage": {"estimated": prompt.estimated_tokens, "billed": answer.usage.input, "cached": answer.usage.cached},
        "budget": settings.prompt.budget_tokens,
        "shed": prompt.shed,
        "sections": [{"name": one.name, "tokens": one.tokens, "dropped": one.dropped} for one in prompt.sections],
        "recalled": [
            {"id": one.note.id, "fact": show(one.note.fact, material.names), "score": round(one.score, 3)}
            for one in material.lore
        ],
        "proposal": await _decision(bot, parsed.proposal, trigger) if parsed.proposal else None,
    }


async def _trigger(bot: Bot, login: str, text: str) -> Trigger:
    """The message as if this person had just said it to the bot."""
    name = login.strip().removeprefix("@").casefold() or "somebody"
    found = (await crowd.find(bot.db, name)) or f"login:{name}"
    known = (await working_set.viewers(bot.db, [found])).get(found)
    who = (known.id, known.login, known.display_name) if known else (found, name, login.strip() or name)
    badges = frozenset({known.role.value}) if known else frozenset[str]()
    event = ChatEvent("dock-try", EventKind.MESSAGE, *who, clean(text)[:LONGEST], bot.clock.now(), badges=badges)
    identity = bot.identity()
    asked = trigger_of(event, identity, Conversations({}), bot.settings(), event.at)
    return asked or Trigger(TriggerKind.MENTION, event, without_name(event.text, identity))


async def _decision(bot: Bot, proposal: Proposal, trigger: Trigger) -> dict[str, object]:
    """What the policy says to it. Nothing is written, and Twitch is not asked."""
    settings, now, gatherer = bot.settings(), bot.clock.now(), bot.executor.gatherer
    facts = await gatherer.facts(proposal, ActionContext(trigger.event, "dock-try"), settings, now)
    decision = decide(proposal, facts, settings, await gatherer.recent(find(proposal.name), facts, now), now)
    return {
        "name": proposal.name,
        "verdict": decision.verdict,
        "rule": decision.rule,
        "reason": decision.reason,
        "otherwise": proposal.otherwise,
    }
