"""Makes a model's text fit to be sent, by a chain of small named filters. Pure.

The result is one line of at most `max_chars` characters without control characters, without a leading command
character, with at most one @name besides the addressee, and without a link unless the settings allow it. Each
filter that changed something is named, so that a filter that eats replies is seen. `tidy` is for lines that no model
wrote: they keep their @names and the streamer's link.
"""

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

from forgetmenot.operations.action_claims import without_machine_text
from forgetmenot.operations.requests import is_small_talk
from forgetmenot.settings.schema import Settings
from forgetmenot.text.caches import text_cache
from forgetmenot.text.clean import clean
from forgetmenot.text.mentions import show, without_addresses
from forgetmenot.text.outgoing import without_command, without_phrases
from forgetmenot.text.sentences import joined, sentences_of
from forgetmenot.text.words import telling_stems, words

OPENER_WORDS = 2
SHORTEST_WITHOUT_OPENER = 12
MOST_READ = 4_000
"""Characters of a model's answer that are looked at: eight times what a message holds."""
MOST_ROUNDS = 20
SHORTEST_QUOTE = 6
"""Words of the instructions in a row, from which on a sentence is cut."""
MOST_TALK = 2
"""Sentences of an answer to a line that asks for nothing."""
SHORTEST_ECHO = 3
"""Words that a sentence of the message must have for its repetition to be cut."""
MOST_SIGNS = 30
"""So many emoji are a mood; more of them, or of blocks and dots, are a wall."""


@dataclass(frozen=True, slots=True)
class Polished:
    """What may go out, and the names of the filters that changed it, in their order. An empty text says nothing."""

    text: str
    filters: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FilterContext:
    """Context of the filters: the settings, the bot's names, its last replies, and the addressee (login, name).

    `question`: the message, `direct` if it was said to the bot. `note_ids`: the notes in the prompt. `others`: names of
    other people, case-folded. `rules`: the instructions without the persona.
    """

    settings: Settings
    bot_names: tuple[str, ...] = ()
    last_replies: tuple[str, ...] = ()
    speaker_names: tuple[str, ...] = ()
    question: str = ""
    note_ids: frozenset[str] = frozenset()
    others: frozenset[str] = frozenset()
    rules: str = ""
    direct: bool = True


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
            says_something = any(char.isalnum() or (char >= "\u2190" and char != "…") for char in text)  # or a picture
            return Polished(text, tuple(fired)) if says_something else Polished("", (*fired, "empty"))
    return Polished("", (*fired, "never the same twice"))


def tidy(text: str, settings: Settings) -> str:
    """A line that no model wrote, fit to be sent: the filters that keep it from doing harm, and no other."""
    context = FilterContext(settings)
    own = settings.privacy.privacy_url
    text = without_command(show(clean(text), {}))
    # the streamer's own privacy link stays in a line of ours, whatever `allow_links` says
    pieces = text.split(own) if own else [text]
    text = own.join(_links(piece, context) for piece in pieces)
    text = _length(without_command(without_phrases(text, settings.reply.blocklist)), context)
    return text if any(char.isalnum() for char in text) else ""


_ROLE = re.compile(
    r"\s*(?:\[?(?:assistant|bot|you|reply|response|answer|model|ai|system(?: prompt)?)\]?)\s*:\s+", re.IGNORECASE
)
_NOTE_NUMBER = re.compile(
    r"\s?(?P<open>[(\[]\s?)?(?:(?P<word>(?<!\w)(?:note|notiz|fact|id))\s?[#:]?\s?#?|(?<![\w#&])#)"
    r"(?P<number>\d{1,9})\b(?(open)\s?[)\]]|(?P<colon>:)?)",
    re.IGNORECASE,
)
_OFFER = re.compile(
    r"\b(?:how|what) (?:can|may) i (?:help|assist)|\banything\b.*\bi can (?:help|assist|do)\b|\bhesitate to\b"
    r"|\bfeel free to (?:ask|let)\b"
    r"|\b(?:happy|glad|here) to (?:help|assist)|\b(?:help|assist) (?:you )?with (?:that|this)[.!]"
    r"|\byou need (?:anything|help|assistance)\b|\banything (?:else )?(?:that )?you need\b"
    r"|\bkann ich (?:dir|euch|ihnen) .*\b(?:\w*helfen|tun)\b|\bbrauchst du .*\bhilfe\b",
    re.IGNORECASE,
)
_REFUSES = re.compile(
    r"\b(?:\w+n['’]?t|cannot|not|unable to|nicht)\s(?:\w+\s){0,3}(?:help|assist|\w*helfen|tun)\b", re.IGNORECASE
)
_CALL = re.compile(r"(?P<before>(?:\A|(?<=[.!?…]\s))(?:[^\W\d]\w*(?:[’']\w*)?\s)?[^\W\d]+),\s@?(?P<name>\w+)(?=[!.,])")
_WHO = re.compile(r"\b(?:who|whose|which|wer|wen|wem|welche\w?)\b(?! (?:are|r|bist) (?:you|u|du)\b)", re.IGNORECASE)
_CODE_FENCE = re.compile(r"```[\w-]*")
_LINE_MARK = re.compile(r"^[^\S\n]*(?:#{1,6}\s+|[-*•]\s+|>\s+|\d{1,2}[.)]\s+(?=\S.*\n))", re.MULTILINE)
_MARKDOWN_LINK = re.compile(r"!?\[([^\]\n]{1,200})\]\((?:[^()\s]{1,500})\)")
_EMPHASIS = re.compile(r"(\*{1,3}|__|~~|`)(?=\S)([^\n]{1,400}?)(?<=\S)\1")
_OVER_AND_OVER = re.compile(r"(\D.{0,11}?)\1{7,}")
_PICTURES = frozenset({"So", "Sk", "Sm"})
_DOUBLE_AT = re.compile(r"[@＠﹫]{2,}")
_LEADING_AT = re.compile(r"^\s*[@＠﹫]([^\W]{1,30})[\s,:!]*")
_LATER_AT = re.compile(r"[@＠﹫]([^\W]{1,30})")
_OPENER = re.compile(r"^(.{2,60}?)(?:[,!.…—:]+|\s[–-])\s+(?=\S)")


def _labels(text: str, context: FilterContext) -> str:
    """`Bot: hello` → `hello`."""
    names = "|".join(re.escape(name) for name in context.bot_names if name)
    named = re.compile(rf"\s*[@＠]?(?:{names})\s*:\s+", re.IGNORECASE) if names else None
    while label := _ROLE.match(text) or (named.match(text) if named else None):
        text = text[label.end() :]
    return text


def _note_numbers(text: str, context: FilterContext) -> str:
    """Cut the number of a note, unless the message has that number."""
    asked = re.findall(r"\d+", context.question)

    def cut(found: re.Match[str]) -> str:
        written_as_one = (found["open"] or found["word"]) and "#" in found[0]
        if found["number"] in asked or not (written_as_one or found["number"] in context.note_ids):
            return found[0]
        if found["open"] or not found["word"]:
            return ""
        return f"{' ' if found[0][0].isspace() else ''}{found['word']}{found['colon'] or ''}"

    return _NOTE_NUMBER.sub(cut, text)


def _instructions(text: str, context: FilterContext) -> str:
    """Cut sentences that quote the instructions."""
    rules = _runs(context.rules)
    return _cut_sentences(text, lambda sentence: bool(_runs(sentence) & rules))


@text_cache(16)
def _runs(text: str) -> frozenset[tuple[str, ...]]:
    spoken = words(text)
    return frozenset(tuple(spoken[i : i + SHORTEST_QUOTE]) for i in range(len(spoken) - SHORTEST_QUOTE + 1))


def _echo(text: str, context: FilterContext) -> str:
    """Cut the message itself, a sentence of it, or a question with its words: none is an answer.

    What is left is none either if it only asks without a word of its own ("How about you?").
    """
    said = [words(part) for part in (context.question, *sentences_of(context.question))]
    asked = telling_stems(context.question)

    def is_echo(sentence: str) -> bool:
        spoken = words(sentence)
        asks_back = sentence.endswith("?") and bool(asked) and telling_stems(sentence) == asked
        return asks_back or (len(spoken) >= SHORTEST_ECHO and spoken in said)

    rest = _cut_sentences(text, is_echo)
    return "" if rest != text and rest.endswith("?") and not telling_stems(rest) else rest


def _offer(text: str, context: FilterContext) -> str:
    """Cut an offer of help behind an answer, or where nobody spoke to the bot: it is a regular, not a service.

    "I can't help with that" is one only before an answer: at the end it is what is said.
    """
    rest = _cut_sentences(text, lambda sentence: bool(_OFFER.search(sentence) and not _REFUSES.search(sentence)))
    rest = _cut_sentences(rest, lambda sentence: bool(_OFFER.search(sentence)) and not rest.endswith(sentence))
    return rest or (text if context.direct else "")


def _talk(text: str, context: FilterContext) -> str:
    """A sentence or two, as the instructions say, where the message asks for nothing: the rest is off the point."""
    sentences = sentences_of(text)
    too_many = len(sentences) > MOST_TALK and is_small_talk(context.question)
    return joined(sentences[:MOST_TALK]) if too_many else text


def _cut_sentences(text: str, is_cut: Callable[[str], bool]) -> str:
    sentences = sentences_of(text)
    kept = [sentence for sentence in sentences if not is_cut(sentence)]
    return text if len(kept) == len(sentences) else joined(kept)


def _wrong_name(text: str, context: FilterContext) -> str:
    """`Hello, Carol!` → `Hello!`, where Carol is the bot itself, or neither who asked nor in what was asked."""
    absent = {name.casefold() for name in context.bot_names}
    if not _WHO.search(context.question):
        speaker = {name.casefold() for name in context.speaker_names}
        absent |= context.others - speaker - set(words(context.question))

    def cut(call: re.Match[str]) -> str:
        lists_names = call["before"].split()[-1].casefold() in context.others
        return call["before"] if call["name"].casefold() in absent and not lists_names else call[0]

    return _CALL.sub(cut, text)


def _markdown(text: str, _context: FilterContext) -> str:
    text = _LINE_MARK.sub("", _MARKDOWN_LINK.sub(r"\1", _CODE_FENCE.sub(" ", text)))
    for _ in range(3):  # bold inside italics inside code
        text = _EMPHASIS.sub(r"\2", text)
    return text


def _quotes(text: str, context: FilterContext) -> str:
    for opening, closing in ('""', "“”", "«»", "''"):
        inner = text[1:-1]
        around = inner and text[0] == opening and text[-1] == closing
        if around and not re.search(rf"(?<!\w){opening}|{closing}(?!\w)|[{opening}{closing}]{{2}}", inner):
            return _quotes(inner.strip(), context)
    return text


def _spam(text: str, _context: FilterContext) -> str:
    """What fills a chat without saying anything: the same over and over, and pictures made of signs."""
    text = _OVER_AND_OVER.sub(r"\1\1\1", text)
    signs = sum(map(_is_sign, text))
    return "".join(char for char in text if not _is_sign(char)).strip() if signs > MOST_SIGNS else text


def _is_sign(char: str) -> bool:
    """Whether it is a piece of a picture: a box, a block, a dot pattern, an emoji."""
    return char > "\u2190" and unicodedata.category(char) in _PICTURES


def _links(text: str, context: FilterContext) -> str:
    return text if context.settings.reply.allow_links else without_addresses(text)


def _ats(text: str, context: FilterContext) -> str:
    """A Twitch reply names its addressee by itself: no second @, nobody in front, and one person called at most."""
    text = _DOUBLE_AT.sub("@", text)
    speaker = {name.casefold() for name in context.speaker_names}
    while leading := _LEADING_AT.match(text):
        text = text[leading.end() :] if leading[1].casefold() in speaker else text[leading.start(1) :]
    called: set[str] = set()

    def once(at: re.Match[str]) -> str:
        if called or at[1].casefold() in speaker:
            return at[1]
        called.add(at[1].casefold())
        return at[0]

    return _LATER_AT.sub(once, text).rstrip()


def _openers(text: str, context: FilterContext) -> str:
    """An opener that one of its last replies began with is left out, if enough is left to be said."""
    used = {_beginning(reply) for reply in context.last_replies} - {()}
    opener = _OPENER.match(text)
    if opener is None or _beginning(text) not in used or not 1 <= len(words(opener[1])) <= 4:
        return text
    rest = _without_vocative(text[opener.end() :], context)
    return rest[:1].upper() + rest[1:] if len(rest) >= SHORTEST_WITHOUT_OPENER else text


def _without_vocative(text: str, context: FilterContext) -> str:
    """`Alice: you play drums` → `you play drums`: what an opener leaves behind must not look like somebody's line."""
    called = re.match(r"[^\W]+(?=[:,])", text)
    if called and called[0].casefold() in {name.casefold() for name in context.speaker_names}:
        return text[called.end() + 1 :].lstrip()
    return text


def _beginning(text: str) -> tuple[str, ...]:
    opener = _OPENER.match(text)
    return tuple(words(opener[1])[:OPENER_WORDS]) if opener else ()


def _length(text: str, context: FilterContext) -> str:
    most = context.settings.reply.max_chars
    if len(text) <= most:
        return text
    cut = text[: most - 1]
    # a language without spaces is cut where the limit is
    at_word = cut.rsplit(" ", 1)[0] if " " in cut[most // 2 :] else cut
    return at_word.rstrip(" ,;:-–—") + "…"


# what removes markup stands first, so that what looks at sentences and words sees bare text; the length comes last,
# because each other filter makes a text shorter
CHAIN: tuple[tuple[str, Callable[[str, FilterContext], str]], ...] = (
    ("labels", _labels),
    ("machine text", lambda text, _: without_machine_text(text)),  # JSON, calls, tags, the prompt's own marks
    ("markdown", _markdown),
    ("note numbers", _note_numbers),
    ("lines", lambda text, _: clean(text)),
    ("mention tokens", lambda text, _: show(text, {})),  # ids are not for chat
    ("quotes", _quotes),
    ("instructions", _instructions),
    ("echo", _echo),
    ("offer", _offer),
    ("talk", _talk),
    ("wrong name", _wrong_name),
    ("spam", _spam),
    ("links", _links),
    ("double @", _ats),
    ("openers", _openers),
    ("blocklist", lambda text, context: without_phrases(text, context.settings.reply.blocklist)),
    ("command", lambda text, _: without_command(text)),
    ("length", _length),
)
