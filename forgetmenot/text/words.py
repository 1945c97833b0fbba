"""A text as words, stems, trigrams and sentences: how recall, duplicates and triggers read chat.

Texts that look the same give the same words: case, full-width and ornamental letters, accents, look-alike
letters inside a word, invisible characters and long-drawn letters ("sooooo") make no difference. Mentions (`<@42>`)
are words. Punctuation is none, and emoji are none but for what somebody names ("forget 🍣"). Scripts without spaces
give pairs of characters. Does not know meaning.

What is read from texts is cached in one way, so that an erasure can empty all of it at once.
"""

import importlib.util
import re
import sys
from collections.abc import Callable, Collection, Iterable
from functools import cache, lru_cache
from typing import Any, TypeVar, cast

from forgetmenot.text.clean import fold_word, plain
from forgetmenot.text.mentions import MENTION

Reader = TypeVar("Reader", bound=Callable[..., Any])
_clears: list[Callable[[], None]] = []


def text_cache(most: int) -> Callable[[Reader], Reader]:
    """`functools.lru_cache` for a function of texts that people wrote; the results for at most `most` are kept."""

    def cached(read: Reader) -> Reader:
        cache = lru_cache(maxsize=most)(read)
        _clears.append(cache.cache_clear)
        return cast("Reader", cache)

    return cached


def clear_text_caches() -> None:
    """Empty them all."""
    for clear in _clears:
        clear()


_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
# A letter of a script that writes no spaces between words.
UNSPACED = re.compile(f"[{_UNSPACED}]")
# Behind a word: where it ends, also before a letter of such a script ("ForgetMeNotさん").
WORD_END = rf"(?!(?![{_UNSPACED}])\w)"
_TOKEN = re.compile(
    rf"(?P<mention>{MENTION.pattern})|(?P<run>[{_UNSPACED}\U00020000-\U0002ffff]+)"
    rf"|(?P<word>(?:(?![{_UNSPACED}])[^\W_])+(?:['’ʼ`´](?:(?![{_UNSPACED}])[^\W_])+)*)"
)
_ASCII_TOKEN = re.compile(
    r"<@[A-Za-z0-9_:.-]{1,64}>|[a-z0-9]+(?:['`][a-z0-9]+)*"
)  # the same, as far as it goes
_APOSTROPHES = re.compile("['’ʼ`´]")
_POSSESSIVE = re.compile("['’ʼ`´]s$")
# What French and Italian write before a vowel: "j'habite" is "habite".
_ELIDED = re.compile("^(?:[cdjlmnst]|qu|(?:a|da|de|ne|su)ll|un)['’ʼ`´](?=..)")
LONG_DRAWN = re.compile(r"([^\W\d_ixw])\1{2,}|([ixw])\2{3,}")  # not "III", "XXX" or "www"

_STOP = """a about after again all also am an and any are as at be because been being but by can cant could did didnt do
does doesnt doing done dont down for from get gets getting go goes going got had has hasnt have havent having he
hed her here hers herself hes hey him himself his how i id if ill im in into is isnt it its itself ive just let
lets like lol me more most much my myself no nor not now of off oh ok okay on once one only or other our ours out
over own pls please really same say says she shes should so some soo such than that thats the their theirs them
then there theres these they theyre this those though through to too u under until up ur us very was wasnt we well
    went were what whats when where which while who whos whom why will with wont would yeah yes yet you youre your
yours yourself"""
# English words that say nothing about a topic, as `words` gives them.
STOPWORDS = frozenset(_STOP.split())
_FOREIGN = """
ich du er sie es wir ihr mir dir mich dich sich mein dein sein ihre deine meine der die das den dem des ein eine
einen einem einer und oder aber ist bist bin sind war hat hast habe haben wird werden heißt heißen in im an am
auf zu zum zur von vom mit für als auch noch schon ja nein nicht wie was wo wann wer so da dass yo tú el ella
nosotros mi tu su sus tus mis un una unos unas los las de del al y o pero eres soy son era está estás estoy
tiene tienes tengo ha has se te me le lo la que en con por para muy ya sí no qué cómo je il elle nous vous mon
ton ma ta sa mes tes ses les une et ou mais est suis sont était as ai a avez au aux dans sur pour avec ce cet
cette qui cest oui pas ne eu você ele ela seu sua teu tua meu minha um uma os do dos na nos nas em é és sou são
foi tem tens tenho com e mas não sim io lui lei noi gli i di della dei è sei sono hai ho che per non sì alla nel
nella suo tuo mio mia ik jij hij zij ze het een van of maar is ben bent heeft hebt heb met op voor niet nee zijn
haar jouw mijn ty on ona ono jego jej twój twoja mój moja jest jesteś są był była masz mam w we z ale nie tak
się to że welche welcher welches welchen wieviel wohin woher wem wen warum denn doch mal nochmal eigentlich
gerade cuál cuáles cuándo cuánto cuántos cuántas dónde quién adónde otra vez quel quelle quels quelles combien
quand où comment déjà encore quoi qual quais quando quanto quantos quantas onde quem mesmo quale quali dove chi
quanti quante cosa hoe waar wanneer welk welke hoeveel ook alweer jak kto gdzie kiedy ile jaki jaka jakie co czy
czym jakim znowu meinen meinem meiner meines deinen deinem deiner seine seinen seiner ihren ihrem ihrer unser unsere
unseren unserem unserer euer eure mis nuestro nuestra nuestros nuestras notre nos votre vos leur leurs meus minhas teus
tuas seus suas nosso nossa nossos nossas miei mie tuoi tue suoi sue nostro nostra onze mijne
eso esto esa isso isto aquilo ça cela dies dieses einfach"""


_GERMAN = frozenset(
    (
        "ich",
        "nicht",
        "und",
        "ist",
        "bist",
        "hast",
        "sind",
        "mich",
        "dich",
        "wann",
        "wer",
        "geht",
        "guten",
        "kannst",
        "mein",
        "meine",
        "meinen",
        "dein",
        "deine",
        "viele",
    )
)
_GERMAN_OR_OTHER = frozenset(
    ("das", "wir", "mir", "dir", "von", "mit", "auf", "fur", "ein", "eine", "zu")
)


def is_german(text: str) -> bool:
    """Whether a line has a word or letter of German alone, or a quarter of it are words that others seldom combine."""
    said = words(text)
    shared = sum(word in _GERMAN_OR_OTHER for word in said)
    return "ß" in text or bool(_GERMAN & set(said)) or (shared > 1 and 4 * shared >= len(said))


def words(text: str) -> list[str]:
    """The words of a text in order: folded, without apostrophes; "alice's" is "alice", "don't" is "dont"."""
    seen = plain(text)
    if seen.isascii():  # most texts are, and this is half the time
        return [word if word[0] == "<" else _folded(word) for word in _ASCII_TOKEN.findall(seen)]
    return [word for token in _TOKEN.finditer(seen) for word in _read(token)]


def _read(token: re.Match[str]) -> list[str]:
    found = token[0]
    if token["word"]:
        return [_folded(found)]
    if token["mention"]:
        return [found]
    # pairs that overlap, because nothing says where a word ends
    return [found[i : i + 2] for i in range(max(1, len(found) - 1))]


_IDEOGRAPH = re.compile("[\u3400-\u9fff]")
_HIRAGANA = re.compile("[\u3040-\u309f]+")


def ideographs(text: str) -> list[str]:
    """Return each Chinese character of a text: alone it may be a word of a note ("猫"), where `words` has pairs."""
    return _IDEOGRAPH.findall(text)


def is_hiragana(word: str) -> bool:
    """Return whether a word of Japanese is nothing but hiragana: mostly an ending or a particle."""
    return _HIRAGANA.fullmatch(word) is not None


@text_cache(32_768)
def _folded(found: str) -> str:
    word = _APOSTROPHES.sub("", _ELIDED.sub("", _POSSESSIVE.sub("", fold_word(found))))
    return LONG_DRAWN.sub(lambda drawn: drawn[0][:2], word)


# The like of German, Spanish, French, Portuguese, Italian, Dutch and Polish. Some are words of English.
FOREIGN_STOPWORDS = frozenset(word for listed in _FOREIGN.split() for word in words(listed))
# Words of chat and of questions that say nothing about what is asked for.
_FILLER = """hey hi hello yo lol lmao lul kekw omg btw tbh imo thanks thx yeah yep nope nah hmm uh um actually maybe
    know remember tell think talk anything something everything thing stuff chat bot guys dude bro man everyone
    everybody weißt kennst erinnerst erzähl über sabes recuerdas conoces cuéntame sobre sabe lembra conhece sais connais
    souviens gibts gibt es"""
FILLER = frozenset(words(_FILLER))


def foreign_stopwords_in(said: Collection[str]) -> frozenset[str]:
    """The foreign ones, for a text of these words, if more of it are theirs than English stop words; else none."""
    foreign, english = (
        sum(word in FOREIGN_STOPWORDS for word in said),
        sum(word in STOPWORDS for word in said),
    )
    return FOREIGN_STOPWORDS - STOPWORDS if foreign > english else frozenset()


@text_cache(32_768)
def stem(word: str) -> str:
    """The English stem of one word as `words` gives it: "playing" and "plays" are "play"."""
    return str(
        _stemmer_class()().stemWord(word)
    )  # a stemmer keeps state while it works: one per call is thread-safe


@cache
def _stemmer_class() -> Callable[[], Any]:
    """Snowball's English stemmer. Importing its package would run 39 languages (36 ms, 3 MB), so that is left out."""
    name = "snowballstemmer"
    spec = importlib.util.find_spec(name)
    if spec is not None and name not in sys.modules:
        sys.modules[name] = importlib.util.module_from_spec(spec)  # not executed
        try:
            return importlib.import_module(f"{name}.english_stemmer").EnglishStemmer  # type: ignore[no-any-return]
        finally:
            sys.modules.pop(name, None)  # whoever imports it after this gets the whole of it
    return importlib.import_module(f"{name}.english_stemmer").EnglishStemmer  # type: ignore[no-any-return]


def stems(text: str) -> list[str]:
    """The stems of a text's words, in order, stop words included."""
    return [stem(word) for word in words(text)]


def telling_stems(text: str, shortest: int = 1) -> frozenset[str]:
    """The stems of the words that carry a text's meaning: no stop words, none below `shortest` characters."""
    return frozenset(
        stem(word) for word in words(text) if word not in STOPWORDS and len(word) >= shortest
    )


# A flag, or another picture; a tone of skin makes no other picture of it.
EMOJI = (
    "[\U0001f1e6-\U0001f1ff]{2}|[\u2600-\u27bf\u2b50\u2b55\U0001f000-\U0001f1e5\U0001f200-\U0001f3fa"
    "\U0001f400-\U0001faff]"
)
_PICTURE = re.compile(EMOJI)
# Chinese characters and katakana: in Japanese they carry the meaning, hiragana joins them.
_TELLING_RUN = re.compile("[\u3005\u30a1-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff]+")


def emoji_in(text: str) -> list[str]:
    """The emoji of a text, in order."""
    return [] if text.isascii() else _PICTURE.findall(plain(text))


def topic_stems(topic: str) -> frozenset[str]:
    """What somebody names ("my cat", "猫のミケ", "🍣"), as the stems of its telling words; may be empty."""
    text = plain(topic)
    stems_of_topic = set(emoji_in(topic))
    joins_others = _TELLING_RUN.search(text) is not None
    for token in _TOKEN.finditer(text):
        telling_runs = _TELLING_RUN.findall(token[0])
        if joins_others and not telling_runs and UNSPACED.match(token[0]):
            continue
        for part in telling_runs or [token[0]]:
            stems_of_topic |= telling_stems(part)
    return frozenset(stems_of_topic)


def mentioned_stems(text: str) -> frozenset[str]:
    """All by which somebody may name what a text speaks of: telling words, emoji, single Chinese characters."""
    mentioned = set(telling_stems(text))
    if not text.isascii():
        mentioned.update(emoji_in(text))
        mentioned.update(UNSPACED.findall(plain(text)))
    return frozenset(mentioned)


_INFLECTION = re.compile("(?:[aeiou]?[sn]|[aeiou])$")
_SHORTEST_ROOT = 3
_ALIKE = 0.6


def similar_words(one: str, other: str) -> bool:
    """Whether two words differ by a slip, or by an ending of German or of a Romance language ("gato", "gatas")."""
    root = _INFLECTION.sub("", one)
    if len(root) >= _SHORTEST_ROOT and root == _INFLECTION.sub("", other):
        return True
    ours = trigrams(one)
    theirs = trigrams(other)
    return 2 * len(ours & theirs) >= _ALIKE * (len(ours) + len(theirs))


# In shorter words a wrong letter makes another word; swapped letters seldom do.
_SHORTEST_SWAPPED, _SHORTEST_SLIP = 4, 6


def is_typo(typed: str, word: str) -> bool:
    """Whether a word was typed with one slip: two letters swapped, one wrong, missing inside, or too much."""
    if len(word) < _SHORTEST_SWAPPED or typed[:1] != word[:1] or typed == word:
        return False
    at = next(
        (at for at, pair in enumerate(zip(typed, word, strict=False)) if len({*pair}) > 1), None
    )
    if at is None:  # only longer or shorter: a shorter one is mostly another word
        return len(word) >= _SHORTEST_SLIP and len(typed) == len(word) + 1
    swapped = word[:at] + word[at + 1 : at + 2] + word[at] + word[at + 2 :]
    if typed == swapped:
        return True
    if len(word) < _SHORTEST_SLIP:
        return False
    return typed[at + 1 :] in {word[at + 1 :], word[at:]} or typed[at:] == word[at + 1 :]


@text_cache(32_768)
def trigrams(word: str) -> frozenset[str]:
    """The three-letter pieces of a word with its edges marked by a space: "cat" gives " ca", "cat", "at "."""
    padded = f" {word} "
    return frozenset(padded[i : i + 3] for i in range(len(padded) - 2))


# ── sentences: they end at a mark before a space, or at a Chinese or Japanese mark, which no space follows ───────


# The marks that end one, also for patterns that need their places in a text.
SENTENCE_MARKS = ".!?…。！？"
_BETWEEN_SENTENCES = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])(?![。！？])\s*")
_SENTENCE_ENDS_UNSPACED = ("。", "！", "？")


def sentences_of(text: str) -> list[str]:
    """The sentences, without the space between them."""
    return [sentence for sentence in _BETWEEN_SENTENCES.split(text) if sentence.strip()]


def join_sentences(sentences: Iterable[str]) -> str:
    """Sentences as one text: a space between them, but none after a Chinese or Japanese mark."""
    return "".join(
        one if one.endswith(_SENTENCE_ENDS_UNSPACED) else f"{one} " for one in sentences
    ).removesuffix(" ")
