"""Makes a model's words fit to be sent, by a chain of small named filters. Pure.

The result is one line of at most `max_chars` characters without control characters, without a leading
command character, with at most one @name besides the addressee, without a link unless the settings
allow it, and without a claim of an action that was not done. Each filter that changed something is
named, so that one that eats replies is seen. `tidy` is for lines that no model wrote: they keep their
@names and the streamer's link.
"""

import re
import unicodedata
from collections.abc import Callable, Collection, Mapping
from functools import lru_cache
from typing import TypeAlias

from msgspec import Struct

from forgetmenot.settings.schema import Settings
from forgetmenot.text.clean import clean
from forgetmenot.text.mentions import with_names, without_links
from forgetmenot.text.sensitive import CATEGORIES, sensitive_category
from forgetmenot.text.unsendable import (
    without_blocked,
    without_command,
    without_machine_text,
)
from forgetmenot.text.words import join_sentences, sentences_of, text_cache, words

# A reply may speak of what is not stored, such as a game's religion, but for these.
_OTHER_CATEGORIES = frozenset(CATEGORIES) - {"address", "contact", "payment"}
# Characters of a model's answer that are looked at: eight times what a message holds.
LENGTH_READ = 4_000
# Filters uncover work for each other; after this many rounds a text is given up.
ROUNDS_LIMIT = 20
# Words of the instructions in a row, from which on a sentence is cut.
SHORTEST_QUOTE = 6


class Polished(Struct, frozen=True):
    """What may go out ("": nothing), and the names of the filters that changed it, in their order."""

    text: str
    filters: tuple[str, ...]


class FilterContext(Struct, frozen=True):
    """What the filters need to know."""

    settings: Settings
    # login and name of the addressee
    speaker_names: tuple[str, ...] = ()
    # the instructions without the persona
    rules: str = ""
    # the names of the actions that were done lately, which may be claimed
    done: frozenset[str] = frozenset()
    # to the channel's videos: code put them into the prompt, so they may be sent
    links: frozenset[str] = frozenset()


def polish(text: str, context: FilterContext) -> Polished:
    """Return a model's words, fit to be sent.

    The chain runs until nothing changes: what one filter uncovers, an earlier one may have to see.
    """
    fired: dict[str, None] = {}
    text = text[:LENGTH_READ]
    for _round in range(ROUNDS_LIMIT):
        text_before = text
        for name, filtered in CHAIN:
            filtered_text = filtered(text, context)
            if filtered_text != text:
                fired[name] = None
                text = filtered_text
        if text != text_before:
            continue
        if _says_something(text):
            return Polished(text, tuple(fired))
        return Polished("", (*fired, "empty"))
    return Polished("", (*fired, "never the same twice"))


def _says_something(text: str) -> bool:
    """Return whether a text has a letter, a digit or a picture."""
    for char in text:
        # Pictures begin with the arrows of Unicode; what is cut short ends with an ellipsis.
        is_picture = char >= "\u2190" and char != "…"
        if char.isalnum() or is_picture:
            return True
    return False


def tidy(text: str, settings: Settings) -> str:
    """Return a line that no model wrote, fit to be sent.

    It passes only the filters against harm: commands, links, the blocklist and the length.
    """
    context = FilterContext(settings)
    privacy_url = settings.privacy.privacy_url
    text_without_ids = with_names(clean(text), {})
    text = without_command(text_without_ids)
    # The streamer's own privacy link stays in a line of ours, whatever `allow_links` says.
    pieces = text.split(privacy_url) if privacy_url else [text]
    text = privacy_url.join(_without_links(piece, context) for piece in pieces)
    text = without_blocked(text, settings.reply.blocklist)
    # Once more: what was cut may have stood before a command.
    text = without_command(text)
    text = _within_length(text, context)
    has_words = any(char.isalnum() for char in text)
    return text if has_words else ""


_LINE_MARK = re.compile(
    r"^[^\S\n]*(?:```[\w-]*|#{1,6}\s+|[-*•]\s+|>\s+|\d{1,2}[.)]\s+(?=\S.*\n))",
    re.MULTILINE,
)
_MARKDOWN_LINK = re.compile(r"!?\[([^\]\n]{1,200})\]\((?:[^()\s]{1,500})\)")
_BOLD = re.compile(r"(\*\*|__)(?=\S)([^\n]{1,400}?)(?<=\S)\1")
_DOUBLE_AT = re.compile(r"[@＠﹫]{2,}")
_LEADING_AT = re.compile(r"^\s*[@＠﹫]([^\W]{1,30})[\s,:!]*")
_LATER_AT = re.compile(r"[@＠﹫]([^\W]{1,30})")


def _without_markdown(text: str, _context: FilterContext) -> str:
    """Return a text without Markdown, which chat would show as signs.

    Single stars stay: "*waves*" is how people write there.
    """
    text = _MARKDOWN_LINK.sub(r"\1", text)
    text = _LINE_MARK.sub("", text)
    return _BOLD.sub(r"\2", text)


def _without_instructions(text: str, context: FilterContext) -> str:
    """Return a text without sentences that quote the instructions."""
    rule_sequences = _word_sequences(context.rules)

    def is_quote(sentence: str) -> bool:
        return not rule_sequences.isdisjoint(_word_sequences(sentence))

    return _cut_sentences(text, is_quote)


@text_cache(16)
def _word_sequences(text: str) -> frozenset[tuple[str, ...]]:
    """Return every run of SHORTEST_QUOTE words of a text: what two texts share, one quotes."""
    text_words = words(text)
    sequences = set()
    for start in range(len(text_words) - SHORTEST_QUOTE + 1):
        sequence = text_words[start : start + SHORTEST_QUOTE]
        sequences.add(tuple(sequence))
    return frozenset(sequences)


def _cut_sentences(text: str, is_cut: Callable[[str], bool]) -> str:
    """Return a text without some of its sentences; unchanged, spaces too, if none is cut."""
    sentences = sentences_of(text)
    remaining = [sentence for sentence in sentences if not is_cut(sentence)]
    if len(remaining) == len(sentences):
        # Joining would even out the spaces.
        return text
    return join_sentences(remaining)


def _without_contact_data(text: str, context: FilterContext) -> str:
    """Return a text without sentences with an address, a telephone number, a mail address or a card's number.

    No note has them; a model could only repeat what somebody typed about somebody minutes ago.
    """
    allowed = _OTHER_CATEGORIES | frozenset(context.settings.privacy.allow_categories)

    def has_contact_data(sentence: str) -> bool:
        return sensitive_category(sentence, allow=allowed) is not None

    return _cut_sentences(text, has_contact_data)


def _without_links(text: str, context: FilterContext) -> str:
    """Return a text without links but those to the channel's own videos, unless settings allow all."""
    if context.settings.reply.allow_links:
        return text
    for link in sorted(context.links, key=len, reverse=True):
        before, found_link, after = text.partition(link)
        # With a letter or digit behind it, the text has a longer link that only begins like ours.
        if not found_link:
            continue
        if after[:1].isalnum():
            continue
        before = _without_links(before, context)
        after = _without_links(after, context)
        return f"{before}{link}{after}"
    return without_links(text)


def _with_one_at_name(text: str, context: FilterContext) -> str:
    """Return a text with one @name at most, and none in front.

    A Twitch reply names its addressee by itself.
    """
    text = _DOUBLE_AT.sub("@", text)
    speaker_names = {name.casefold() for name in context.speaker_names}
    leading = _LEADING_AT.match(text)
    while leading is not None:
        # The addressee's name goes; another name loses its @.
        is_speaker = leading[1].casefold() in speaker_names
        start = leading.end() if is_speaker else leading.start(1)
        text = text[start:]
        leading = _LEADING_AT.match(text)
    called_names: set[str] = set()

    def with_at_if_first(match: re.Match[str]) -> str:
        name = match[1].casefold()
        # The addressee is called already, by Twitch's reply.
        if called_names or name in speaker_names:
            return match[1]
        called_names.add(name)
        return match[0]

    return _LATER_AT.sub(with_at_if_first, text).rstrip()


def _within_length(text: str, context: FilterContext) -> str:
    """Return a text cut to the limit of characters, behind a whole word where there are spaces."""
    limit = context.settings.reply.max_chars
    if len(text) <= limit:
        return text
    cut_text = text[: limit - 1]
    # A language without spaces is cut where the limit is.
    if " " in cut_text[limit // 2 :]:
        cut_text = cut_text.rsplit(" ", 1)[0]
    return cut_text.rstrip(" ,;:-–—") + "…"


# ── claims ────────────────────────────────────────────────────────────────────────────────────
# A claim says that somebody was moderated, or that a thing was made. It is announced to everybody who
# reads along, so such a sentence is cut unless it was done. English and German; in other languages
# only the instructions forbid it.

# By the actions that make it true: the verbs of a claim, and below the things that are made.
_CLAIMED = {
    (
        "timeout",
        "long_timeout",
    ): "timed out|muted|silenced|getimeoutet|gemutet|stumm ?geschaltet",
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
    """Return whether a sentence claims an action that is not among the `done` ones.

    It does if it says that a person or a message was moderated, or that a thing was made.
    """
    claim = _claim_pattern(frozenset(done))
    # Wide and mathematical letters read the same to people.
    normalized_text = unicodedata.normalize("NFKC", text)
    plain_text = _MARKUP.sub("", normalized_text).casefold()
    for sentence in sentences_of(plain_text):
        if _NOT_CLAIMED.search(sentence):
            continue
        if claim.search(sentence):
            return True
    return False


@lru_cache(maxsize=64)
def _claim_pattern(done: frozenset[str]) -> re.Pattern[str]:
    """Return the pattern of a sentence that claims an action that was not done.

    `done`: the names of the actions that were done. The pattern has no words for these, so that a
    sentence may claim them.
    """
    deed = _alternatives(_CLAIMED, done)
    thing = _alternatives(_CLAIMED_THINGS, done)
    claims = (
        # "I just banned", "ich habe ... gebannt"
        rf"\b(?:i(?:['’]ve| have)?|just)(?: just| now| already)? (?:{deed})\b",
        rf"\bhab(?:e|s|['’]s)?\b.*\b(?:{deed})\b",
        # all of the sentence: "alice: banned!", "bans alice"
        rf"^\s*@?\w+:? (?:{deed})[.!]*$",
        r"^\W*(?:bans|mutes|kicks|deletes) \w+\W*$",
        # at the start of a clause: "ok, banned him"
        (
            rf"(?:^|[,;:(!.] ?)(?:{deed})"
            r"(?:[.!,]|$| (?:him|her|them|you|that|your|everything)\b| @?\w+(?:[.!]?$| for\b))"
        ),
        # "alice has been banned for spam"
        (
            rf"(?:^|[,;:] ){_WHOM} (?:is|are|has been|have been|got|ist|sind|wurden?)(?: now| just| jetzt)? (?:{deed})"
            r"(?=[.!,]|$| (?:for|now|from chat|für)\b)"
        ),
        # "made a clip", "the clip is up", "ich habe den Titel geändert"
        rf"(?:^|[,;:] |\bi(?:['’]ve| have)? |\bjust )(?:{_MADE}) (?:\w+ ){{0,2}}(?:{thing})\b",
        (
            rf"\b(?:{thing}) (?:is |are |has been |ist |wurde |mode )*(?:now )?"
            rf"(?:{_MADE}|on|up|out|active|an|aktiv|raus)(?=[.!,]|$| (?:now|to)\b)"
        ),
        rf"\bhab(?:e|s|['’]s)?\b.*\b(?:{thing})\b.*\b(?:{_MADE})\b",
    )
    return re.compile("|".join(claims))


def _alternatives(claims: Mapping[tuple[str, ...], str], done: frozenset[str]) -> str:
    """Return a pattern of the words for all actions but those that were done.

    It fits nothing if all were done.
    """
    patterns = []
    for names, pattern in claims.items():
        if done.isdisjoint(names):
            patterns.append(pattern)
    return "|".join(patterns) or "(?!)"


def _without_false_claims(text: str, context: FilterContext) -> str:
    """Return a text without sentences that claim an action that was not done."""
    return _cut_sentences(text, lambda sentence: claims_action(sentence, context.done))


# Takes a text and what filters know, and returns the text that may be sent.
Filter: TypeAlias = Callable[[str, FilterContext], str]

# What removes markup stands first, so that what looks at sentences and words sees bare text. The
# length comes last, because each other filter makes a text shorter.
CHAIN: tuple[tuple[str, Filter], ...] = (
    # JSON, calls, tags, the prompt's own marks
    ("machine text", lambda text, _: without_machine_text(text)),
    ("markdown", _without_markdown),
    ("lines", lambda text, _: clean(text)),
    # ids are not for chat
    ("mention tokens", lambda text, _: with_names(text, {})),
    ("instructions", _without_instructions),
    ("claim", _without_false_claims),
    ("contact data", _without_contact_data),
    ("links", _without_links),
    ("double @", _with_one_at_name),
    (
        "blocklist",
        lambda text, context: without_blocked(text, context.settings.reply.blocklist),
    ),
    ("command", lambda text, _: without_command(text)),
    ("length", _within_length),
)
