"""Finds sentences that claim an action: that somebody was moderated, or a thing was made. Pure.

Moderation and deletion are announced to everybody who reads along, so that such a sentence is cut unless it was done.
English and German; in other languages only the instructions forbid it.
"""

import re
import unicodedata
from collections.abc import Collection
from functools import lru_cache

from forgetmenot.text.words import sentences_of

_CLAIMED = {
    ("timeout", "long_timeout"): "timed out|muted|silenced|getimeoutet|gemutet|stumm ?geschaltet",
    ("ban",): "banned|kicked|gebannt|gesperrt|rausgeworfen|gekickt",
    ("untimeout", "unban"): "unbanned|unmuted|untimed|entbannt|entsperrt|entstummt",
    ("delete", "forget"): "deleted|erased|wiped|purged|gelöscht",
    ("clip",): "clipped|geclippt",
    ("marker",): "(?:book)?marked|markiert",
    ("shoutout",): "shouted out",
    ("announce",): "announced|angekündigt",
    ("title", "category"): "renamed|umbenannt",
}
_CLAIMED_THINGS = {
    ("timeout", "long_timeout"): "time-?outs?",
    ("ban",): "bans?|banns?",
    ("clip",): "clips?",
    ("shoutout",): "shout[ -]?outs?",
    ("marker",): "markers?",
    ("announce",): "announcement|ankündigung",
    ("title", "category"): "title|category|titel|kategorie",
    ("slow_mode",): "slow[ -]?mode",
    ("emote_only",): "emote[ -]only(?: mode)?",
}
_MADE = (
    "made|set|sent|gave|created|added|dropped|changed|switched|updated|posted|saved|turned on|activated|gesetzt"
    "|erstellt|geändert|aktiviert"
)
_WHOM = r"(?:@?\w+|(?:that|your|the|his|her|their|all|die|deine?|seine?|ihre?) (?:\w+ )?\w+)"
_MARKUP = re.compile(r"[*_~`✅✔☑]")
_NOT_CLAIMED = re.compile(
    r"\?|\b(?:not|never|nobody|no one|nothing|cannot|\w+n['’]t|if|would|could|should|might|said|says"
    r"|by (?:the |a )?mod\w*|nichts?|nie(?:mand)?|kein\w*|wenn|würde|könnte|sollte|gestern)\b"
)


def claims_action(text: str, done: Collection[str] = ()) -> bool:
    """Whether a sentence says that a person or message was moderated, or a thing made, by an action not in `done`."""
    pattern = _claims(frozenset(done))
    return any(
        pattern.search(sentence) and not _NOT_CLAIMED.search(sentence)
        for sentence in sentences_of(_MARKUP.sub("", unicodedata.normalize("NFKC", text)).casefold())
    )


@lru_cache(maxsize=64)
def _claims(done: frozenset[str]) -> re.Pattern[str]:
    deed = "|".join(deeds for names, deeds in _CLAIMED.items() if done.isdisjoint(names)) or "(?!)"
    thing = "|".join(things for names, things in _CLAIMED_THINGS.items() if done.isdisjoint(names)) or "(?!)"
    return re.compile(
        rf"\b(?:i(?:['’]ve| have)?|just)(?: just| now| already)? (?:{deed})\b|\bhab(?:e|s|['’]s)?\b.*\b(?:{deed})\b"
        rf"|^\s*@?\w+:? (?:{deed})[.!]*$|^\W*(?:bans|mutes|kicks|deletes) \w+\W*$"
        rf"|(?:^|[,;:(!.] ?)(?:{deed})"
        r"(?:[.!,]|$| (?:him|her|them|you|that|your|everything)\b| @?\w+(?:[.!]?$| for\b))"
        rf"|(?:^|[,;:] ){_WHOM} (?:is|are|has been|have been|got|ist|sind|wurden?)(?: now| just| jetzt)? (?:{deed})"
        r"(?=[.!,]|$| (?:for|now|from chat|für)\b)"
        rf"|(?:^|[,;:] |\bi(?:['’]ve| have)? |\bjust )(?:{_MADE}) (?:\w+ ){{0,2}}(?:{thing})\b"
        rf"|\b(?:{thing}) (?:is |are |has been |ist |wurde |mode )*(?:now )?(?:{_MADE}|on|up|out|active|an|aktiv|raus)"
        rf"(?=[.!,]|$| (?:now|to)\b)|\bhab(?:e|s|['’]s)?\b.*\b(?:{thing})\b.*\b(?:{_MADE})\b"
    )
