"""Makes a model's words fit to be sent, by a chain of small named filters. Pure.

The result is one line of at most `max_chars` characters without control characters, without a leading command
character, with at most one @name besides the addressee, without a link unless the settings allow it, and without a
claim of an action that was not done. Each filter that changed something is named, so that one that eats replies is
seen. `tidy` is for lines that no model wrote: they keep their @names and the streamer's link.
"""

import re
import unicodedata
from collections.abc import Callable, Collection
from functools import lru_cache

from msgspec import Struct

from forgetmenot.settings.schema import Settings
from forgetmenot.text.clean import clean
from forgetmenot.text.mentions import with_names, without_links
from forgetmenot.text.outgoing import without_command, without_machine_text, without_phrases
from forgetmenot.text.words import join_sentences, sentences_of, text_cache, words

# Characters of a model's answer that are looked at: eight times what a message holds.
MOST_READ = 4_000
MOST_ROUNDS = 20
# Words of the instructions in a row, from which on a sentence is cut.
SHORTEST_QUOTE = 6


class Polished(Struct, frozen=True):
    """What may go out, and the names of the filters that changed it, in their order. An empty text says nothing."""

    text: str
    filters: tuple[str, ...]


class FilterContext(Struct, frozen=True):
    """Context of the filters: the settings, the addressee (login, name), and the instructions without the persona.

    `done`: the names of the actions that were done lately, which may be claimed.
    """

    settings: Settings
    speaker_names: tuple[str, ...] = ()
    rules: str = ""
    done: frozenset[str] = frozenset()


def polish(text: str, context: FilterContext) -> Polished:
    """Run the chain until nothing changes: what one filter uncovers, an earlier one may have to see."""
    fired: dict[str, None] = {}
    text = text[:MOST_READ]
    for _ in range(MOST_ROUNDS):
        before = text
        for name, change in CHAIN:
            changed = change(text, context)
            if changed != text:
                fired[name] = None
                text = changed
        if text == before:
            says_something = any(
                char.isalnum() or (char >= "\u2190" and char != "…") for char in text
            )  # or a picture
            return (
                Polished(text, tuple(fired)) if says_something else Polished("", (*fired, "empty"))
            )
    return Polished("", (*fired, "never the same twice"))


def tidy(text: str, settings: Settings) -> str:
    """A line that no model wrote, fit to be sent: the filters that keep it from doing harm, and no other."""
    context = FilterContext(settings)
    own = settings.privacy.privacy_url
    text = without_command(with_names(clean(text), {}))
    # the streamer's own privacy link stays in a line of ours, whatever `allow_links` says
    pieces = text.split(own) if own else [text]
    text = own.join(_links(piece, context) for piece in pieces)
    text = _length(without_command(without_phrases(text, settings.reply.blocklist)), context)
    return text if any(char.isalnum() for char in text) else ""


_LINE_MARK = re.compile(
    r"^[^\S\n]*(?:```[\w-]*|#{1,6}\s+|[-*•]\s+|>\s+|\d{1,2}[.)]\s+(?=\S.*\n))", re.MULTILINE
)
_MARKDOWN_LINK = re.compile(r"!?\[([^\]\n]{1,200})\]\((?:[^()\s]{1,500})\)")
_BOLD = re.compile(r"(\*\*|__)(?=\S)([^\n]{1,400}?)(?<=\S)\1")
_DOUBLE_AT = re.compile(r"[@＠﹫]{2,}")
_LEADING_AT = re.compile(r"^\s*[@＠﹫]([^\W]{1,30})[\s,:!]*")
_LATER_AT = re.compile(r"[@＠﹫]([^\W]{1,30})")


def _markdown(text: str, _context: FilterContext) -> str:
    """What chat would show as signs. Single stars stay: "*waves*" is how people write there."""
    return _BOLD.sub(r"\2", _LINE_MARK.sub("", _MARKDOWN_LINK.sub(r"\1", text)))


def _instructions(text: str, context: FilterContext) -> str:
    """Cut sentences that quote the instructions."""
    rules = _runs(context.rules)
    return _cut_sentences(text, lambda sentence: bool(_runs(sentence) & rules))


@text_cache(16)
def _runs(text: str) -> frozenset[tuple[str, ...]]:
    spoken = words(text)
    return frozenset(
        tuple(spoken[i : i + SHORTEST_QUOTE]) for i in range(len(spoken) - SHORTEST_QUOTE + 1)
    )


def _cut_sentences(text: str, is_cut: Callable[[str], bool]) -> str:
    sentences = sentences_of(text)
    kept = [sentence for sentence in sentences if not is_cut(sentence)]
    return text if len(kept) == len(sentences) else join_sentences(kept)


def _links(text: str, context: FilterContext) -> str:
    return text if context.settings.reply.allow_links else without_links(text)


def _ats(text: str, context: FilterContext) -> str:
    """A Twitch reply names its addressee by itself: no second @, nobody in front, and one person called at most."""
    text = _DOUBLE_AT.sub("@", text)
    speaker = {name.casefold() for name in context.speaker_names}
    while leading := _LEADING_AT.match(text):
        text = (
            text[leading.end() :] if leading[1].casefold() in speaker else text[leading.start(1) :]
        )
    called: set[str] = set()

    def once(at: re.Match[str]) -> str:
        if called or at[1].casefold() in speaker:
            return at[1]
        called.add(at[1].casefold())
        return at[0]

    return _LATER_AT.sub(once, text).rstrip()


def _length(text: str, context: FilterContext) -> str:
    most = context.settings.reply.max_chars
    if len(text) <= most:
        return text
    cut = text[: most - 1]
    # a language without spaces is cut where the limit is
    at_word = cut.rsplit(" ", 1)[0] if " " in cut[most // 2 :] else cut
    return at_word.rstrip(" ,;:-–—") + "…"


# Claims of an action: that somebody was moderated, or a thing was made. Moderation and deletion are announced to
# everybody who reads along, so that such a sentence is cut unless it was done. English and German; in other languages
# only the instructions forbid it.

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
        for sentence in sentences_of(
            _MARKUP.sub("", unicodedata.normalize("NFKC", text)).casefold()
        )
    )


@lru_cache(maxsize=64)
def _claims(done: frozenset[str]) -> re.Pattern[str]:
    deed = "|".join(deeds for names, deeds in _CLAIMED.items() if done.isdisjoint(names)) or "(?!)"
    thing = (
        "|".join(things for names, things in _CLAIMED_THINGS.items() if done.isdisjoint(names))
        or "(?!)"
    )
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


# what removes markup stands first, so that what looks at sentences and words sees bare text; the length comes last,
# because each other filter makes a text shorter
CHAIN: tuple[tuple[str, Callable[[str, FilterContext], str]], ...] = (
    (
        "machine text",
        lambda text, _: without_machine_text(text),
    ),  # JSON, calls, tags, the prompt's own marks
    ("markdown", _markdown),
    ("lines", lambda text, _: clean(text)),
    ("mention tokens", lambda text, _: with_names(text, {})),  # ids are not for chat
    ("instructions", _instructions),
    (
        "claim",
        lambda text, context: _cut_sentences(text, lambda one: claims_action(one, context.done)),
    ),
    ("links", _links),
    ("double @", _ats),
    ("blocklist", lambda text, context: without_phrases(text, context.settings.reply.blocklist)),
    ("command", lambda text, _: without_command(text)),
    ("length", _length),
)
