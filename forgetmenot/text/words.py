"""A text as words, stems, trigrams and sentences, as recall, duplicates and triggers read it. Pure.

- Texts that look the same give the same words: case, full-width and ornamental letters, accents,
  look-alike letters inside a word, invisible characters and long-drawn letters ("sooooo") make no
  difference.
- Mentions (`<@42>`) are words. Punctuation is not, and emoji are only where somebody names a
  topic ("forget 🍣").
- Scripts without spaces give pairs of characters.
- The meaning of a word is not known.

What is read from texts is cached by `text_cache`, so that an erasure can empty all caches at once.
"""

import re
from collections.abc import Callable, Collection, Iterable
from functools import lru_cache
from typing import Any, TypeVar, cast

import Stemmer

from forgetmenot.text.clean import fold_word, folded, key_of_folded, plain
from forgetmenot.text.mentions import MENTION

Reader = TypeVar("Reader", bound=Callable[..., Any])
_cache_clears: list[Callable[[], None]] = []
# Lines of chat of which something is kept from one prompt to the next: many more than one is made of.
LINES_CACHED = 1_024
# Characters of a line on Twitch, at most: nothing is kept of longer texts, such as summaries.
LONGEST_LINE = 500


def text_cache(limit: int) -> Callable[[Reader], Reader]:
    """Return a decorator that caches up to `limit` results of a function of people's texts."""

    def cached(read: Reader) -> Reader:
        cached_read = lru_cache(maxsize=limit)(read)
        _cache_clears.append(cached_read.cache_clear)
        return cast("Reader", cached_read)

    return cached


def clear_text_caches() -> None:
    """Empty the caches of all functions decorated with `text_cache`, and that of patterns, which have names in them.

    Full ones take 20 ms, so it is called in a thread.
    """
    for clear in _cache_clears:
        clear()
    re.purge()


# Thai, Lao, Burmese, Khmer, kana, Chinese characters and Hangul: no spaces between words.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
)
UNSPACED = re.compile(f"[{_UNSPACED}]")
# The end of a word, also before a letter of such a script ("ForgetMeNotさん").
WORD_END = rf"(?!(?![{_UNSPACED}])\w)"
_TOKEN = re.compile(
    rf"(?P<mention>{MENTION.pattern})|(?P<run>[{_UNSPACED}\U00020000-\U0002ffff]+)"
    rf"|(?P<word>(?:(?![{_UNSPACED}])[^\W_])+(?:['’ʼ`´](?:(?![{_UNSPACED}])[^\W_])+)*)"
)
# The same pattern for ASCII texts. Its ++ and *+ give nothing back, which saves a fifth of the time.
_ASCII_TOKEN = re.compile(r"[a-z0-9]++(?:['`][a-z0-9]++)*+|<@[A-Za-z0-9_:.-]{1,64}>")
_APOSTROPHES = re.compile("['’ʼ`´]")
_POSSESSIVE = re.compile("['’ʼ`´]s$")
# What French and Italian write before a vowel: "j'habite" is "habite".
_ELIDED = re.compile("^(?:[cdjlmnst]|qu|(?:a|da|de|ne|su)ll|un)['’ʼ`´](?=..)")
# "III", "XXX" and "www" are not long-drawn.
_LONG_DRAWN = re.compile(r"([^\W\d_ixw])\1{2,}|([ixw])\2{3,}")
# What every long-drawn word of an ASCII text has. To look for it once takes less than to fold each word.
_THRICE = re.compile(r"([a-z])\1\1")

_ENGLISH = """
    a about after again all also am an and any are as at be because been being but by can cant
    could did didnt do does doesnt doing done dont down for from get gets getting go goes going
    got had has hasnt have havent having he hed her here hers herself hes hey him himself his
    how i id if ill im in into is isnt it its itself ive just let lets like lol me more most
    much my myself no nor not now of off oh ok okay on once one only or other our ours out over
    own pls please really same say says she shes should so some soo such than that thats the
    their theirs them then there theres these they theyre this those though through to too u
    under until up ur us very was wasnt we well went were what whats when where which while who
    whos whom why will with wont would yeah yes yet you youre your yours yourself
"""
# English words that say nothing about a topic, as `words` gives them.
STOPWORDS = frozenset(_ENGLISH.split())
_FOREIGN = """
    ich du er sie es wir ihr mir dir mich dich sich mein dein sein ihre deine meine der die das
    den dem des ein eine einen einem einer und oder aber ist bist bin sind war hat hast habe
    haben wird werden heißt heißen in im an am auf zu zum zur von vom mit für als auch noch
    schon ja nein nicht wie was wo wann wer so da dass yo tú el ella nosotros mi tu su sus tus
    mis un una unos unas los las de del al y o pero eres soy son era está estás estoy tiene
    tienes tengo ha has se te me le lo la que en con por para muy ya sí no qué cómo je il elle
    nous vous mon ton ma ta sa mes tes ses les une et ou mais est suis sont était as ai a avez
    au aux dans sur pour avec ce cet cette qui cest oui pas ne eu você ele ela seu sua teu tua
    meu minha um uma os do dos na nos nas em é és sou são foi tem tens tenho com e mas não sim
    io lui lei noi gli i di della dei è sei sono hai ho che per non sì alla nel nella suo tuo
    mio mia ik jij hij zij ze het een van of maar is ben bent heeft hebt heb met op voor niet
    nee zijn haar jouw mijn ty on ona ono jego jej twój twoja mój moja jest jesteś są był była
    masz mam w we z ale nie tak się to że welche welcher welches welchen wieviel wohin woher wem
    wen warum denn doch mal nochmal eigentlich gerade cuál cuáles cuándo cuánto cuántos cuántas
    dónde quién adónde otra vez quel quelle quels quelles combien quand où comment déjà encore
    quoi qual quais quando quanto quantos quantas onde quem mesmo quale quali dove chi quanti
    quante cosa hoe waar wanneer welk welke hoeveel ook alweer jak kto gdzie kiedy ile jaki jaka
    jakie co czy czym jakim znowu meinen meinem meiner meines deinen deinem deiner seine seinen
    seiner ihren ihrem ihrer unser unsere unseren unserem unserer euer eure mis nuestro nuestra
    nuestros nuestras notre nos votre vos leur leurs meus minhas teus tuas seus suas nosso nossa
    nossos nossas miei mie tuoi tue suoi sue nostro nostra onze mijne eso esto esa isso isto
    aquilo ça cela dies dieses einfach
"""


_GERMAN = """
    ich nicht und ist bist hast sind mich dich wann wer geht guten kannst mein meine meinen dein
    deine viele
"""
_ONLY_GERMAN = frozenset(_GERMAN.split())
_SHARED_GERMAN = "das wir mir dir von mit auf fur ein eine zu"
_GERMAN_OR_OTHER = frozenset(_SHARED_GERMAN.split())


def is_german(text: str) -> bool:
    """Return whether a line has a word or a letter that only German has.

    Two words that other languages have as well count too, if they are a quarter of the line.
    """
    if "ß" in text:
        return True
    line_words = words(text)
    if not _ONLY_GERMAN.isdisjoint(line_words):
        return True
    shared_count = sum(word in _GERMAN_OR_OTHER for word in line_words)
    are_a_quarter = 4 * shared_count >= len(line_words)
    return shared_count > 1 and are_a_quarter


def words(text: str) -> list[str]:
    """Return the words of a text in order, folded and without apostrophes.

    "alice's" is "alice", "don't" is "dont".
    """
    if len(text) <= LONGEST_LINE:
        return list(_line_as_words(text))
    return read_words(text)


# A dozen rules read the words of one message, and of the same lines again in the next prompt.
@text_cache(LINES_CACHED)
def _line_as_words(text: str) -> tuple[str, ...]:
    """Return the words of a line of chat; kept for the next rule that reads it."""
    return tuple(read_words(text))


def read_words(text: str) -> list[str]:
    """Return the words of a text as `words` does, and keep none of them: for many texts that are read once."""
    folded_text = plain(text)
    # Most texts are ASCII, and read this way they take half the time.
    if folded_text.isascii():
        return _ascii_words(folded_text)
    text_words: list[str] = []
    for match in _TOKEN.finditer(folded_text):
        text_words += _words_of_token(match)
    return text_words


def _ascii_words(folded_text: str) -> list[str]:
    """Return the words of an ASCII text whose case is folded."""
    tokens: list[str] = _ASCII_TOKEN.findall(folded_text)
    if _THRICE.search(folded_text):
        # A mention stays as it is.
        return [token if token[0] == "<" else _folded(token) for token in tokens]
    # Without long-drawn letters only a token with an apostrophe is another word than it stands.
    if "'" in folded_text or "`" in folded_text:
        return [token if token.isalnum() else _folded(token) for token in tokens]
    return tokens


# The same lines of chat stand in one prompt after the other.
@text_cache(LINES_CACHED)
def words_of_line(text: str) -> tuple[str, ...]:
    """Return the words of a line of chat, each once, in their order; kept for the next prompt."""
    return tuple(dict.fromkeys(words(text)))


@text_cache(LINES_CACHED)
def folded_line(text: str) -> str:
    """Return a line of chat, clean and in small letters; kept for the next prompt."""
    return folded(text)


@text_cache(LINES_CACHED)
def key_of_line(text: str) -> str:
    """Return by what others have the same words as a line of chat (`words_key`); kept for the next prompt."""
    # a prompt asks for both, and a line is cleaned once
    return key_of_folded(folded_line(text))


def _words_of_token(match: re.Match[str]) -> list[str]:
    """Return a word, a mention, or the pairs of characters of a run without spaces."""
    token = match[0]
    if match["word"]:
        return [_folded(token)]
    if match["mention"]:
        return [token]
    # Pairs overlap, because nothing shows where a word ends.
    pair_count = max(1, len(token) - 1)
    return [token[start : start + 2] for start in range(pair_count)]


@text_cache(32_768)
def _folded(token: str) -> str:
    """Return a word without apostrophes, elisions, look-alike and long-drawn letters."""
    word = fold_word(token)
    if _APOSTROPHES.search(word):
        word = _POSSESSIVE.sub("", word)
        word = _ELIDED.sub("", word)
        word = _APOSTROPHES.sub("", word)
    return _LONG_DRAWN.sub(_first_two, word)


def _first_two(letters: re.Match[str]) -> str:
    """Return the first two of the same letters in a row: "sooooo" is "soo"."""
    return letters[0][:2]


_IDEOGRAPH = re.compile("[\u3400-\u9fff]")
_HIRAGANA = re.compile("[\u3040-\u309f]+")


def ideographs(text: str) -> list[str]:
    """Return each Chinese character of a text: one alone may be a word of a note ("猫")."""
    return _IDEOGRAPH.findall(text)


def is_hiragana(word: str) -> bool:
    """Return whether a word is nothing but hiragana: in Japanese mostly an ending or a particle."""
    return _HIRAGANA.fullmatch(word) is not None


# Some of them are words of English.
FOREIGN_STOPWORDS = frozenset(words(_FOREIGN))
# Words of chat and of questions that say nothing about what is asked for.
_FILLER = """
    hey hi hello yo lol lmao lul kekw omg btw tbh imo thanks thx yeah yep nope nah hmm uh um
    actually maybe know knows remember tell think talk anything something everything thing stuff chat
    bot guys dude bro man everyone everybody weißt weiß kennst kennt erinnerst erzähl über sabes recuerdas
    conoces cuéntame sobre sabe lembra conhece sais connais souviens gibts gibt es
"""
FILLER = frozenset(words(_FILLER))


def foreign_stopwords_in(text_words: Collection[str]) -> frozenset[str]:
    """Return the foreign stop words if a text has more of them than English ones, else none."""
    foreign_count = sum(word in FOREIGN_STOPWORDS for word in text_words)
    english_count = sum(word in STOPWORDS for word in text_words)
    # Some are words of an English topic: "die", "chat", "war".
    if foreign_count <= english_count:
        return frozenset()
    return FOREIGN_STOPWORDS - STOPWORDS


@text_cache(32_768)
def stem(word: str) -> str:
    """Return the English stem of a word as `words` gives it: "playing" and "plays" are "play"."""
    # A stemmer keeps state while it works, so one for each call keeps threads apart. It is made in a
    # microsecond, and without a cache of its own: `text_cache` is what an erasure empties.
    stemmer = Stemmer.Stemmer("english", 0)
    return str(stemmer.stemWord(word))


def stems(text: str) -> list[str]:
    """Return the stems of a text's words in order, stop words included."""
    return [stem(word) for word in words(text)]


def telling_stems(text: str, min_length: int = 1) -> frozenset[str]:
    """Return the stems of a text's words of `min_length` characters that are no stop words."""
    return frozenset(
        stem(word)
        for word in words(text)
        if word not in STOPWORDS and len(word) >= min_length
    )


# A flag (two letters), or another picture; a skin tone behind one makes no other picture of it.
EMOJI = (
    "[\U0001f1e6-\U0001f1ff]{2}|[\u2600-\u27bf\u2b50\u2b55\U0001f000-\U0001f1e5"
    "\U0001f200-\U0001f3fa\U0001f400-\U0001faff]"
)
_EMOJI = re.compile(EMOJI)
# Chinese characters and katakana: in Japanese they carry the meaning, hiragana joins them.
_TELLING_RUN = re.compile(
    "[\u3005\u30a1-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff]+"
)


def emoji_in(text: str) -> list[str]:
    """Return the emoji of a text in order."""
    if text.isascii():
        return []
    return _EMOJI.findall(plain(text))


def topic_stems(topic: str) -> frozenset[str]:
    """Return the stems of a topic's telling words ("my cat", "猫のミケ", "🍣"); may be empty."""
    folded_topic = plain(topic)
    topic_parts = set(emoji_in(topic))
    has_telling_run = _TELLING_RUN.search(folded_topic) is not None
    for match in _TOKEN.finditer(folded_topic):
        token = match[0]
        telling_runs = _TELLING_RUN.findall(token)
        if has_telling_run and not telling_runs and UNSPACED.match(token):
            # Hiragana that joins the telling words of a topic.
            continue
        for part in telling_runs or [token]:
            topic_parts |= telling_stems(part)
    return frozenset(topic_parts)


def mentioned_stems(text: str) -> frozenset[str]:
    """Return what somebody may name of a text: telling stems, emoji, single Chinese characters."""
    mentioned = set(telling_stems(text))
    if not text.isascii():
        mentioned.update(emoji_in(text))
        mentioned.update(UNSPACED.findall(plain(text)))
    return frozenset(mentioned)


_INFLECTION = re.compile("(?:[aeiou]?[sn]|[aeiou])$")
_MIN_ROOT = 3
# The share of trigrams that two spellings of one word have in common.
_SIMILAR_SHARE = 0.6


def similar_words(first: str, second: str) -> bool:
    """Return whether two words differ by a slip, or by an ending ("gato", "gatas").

    The endings are those of German and of the Romance languages.
    """
    root = _INFLECTION.sub("", first)
    other_root = _INFLECTION.sub("", second)
    if len(root) >= _MIN_ROOT and root == other_root:
        return True
    first_trigrams = trigrams(first)
    second_trigrams = trigrams(second)
    shared_count = len(first_trigrams & second_trigrams)
    total_count = len(first_trigrams) + len(second_trigrams)
    return 2 * shared_count >= _SIMILAR_SHARE * total_count


# In shorter words a wrong letter makes another word; swapped letters seldom do.
_MIN_SWAPPED = 4
_MIN_SLIP = 6


def is_typo(typed: str, word: str) -> bool:
    """Return whether a word was typed with one slip behind its first letter.

    A slip is two letters swapped, or one letter wrong, missing or too much.
    """
    if len(word) < _MIN_SWAPPED:
        return False
    if typed == word:
        return False
    if typed[:1] != word[:1]:
        return False
    place = _first_difference(typed, word)
    if place is None:
        # One begins with the other. A shorter one is mostly another word ("form", "format").
        has_letter_more = len(typed) == len(word) + 1
        return has_letter_more and len(word) >= _MIN_SLIP
    # Both from the first letter that differs on.
    typed_rest = typed[place:]
    rest = word[place:]
    swapped_rest = rest[1:2] + rest[:1] + rest[2:]
    if typed_rest == swapped_rest:
        return True
    if len(word) < _MIN_SLIP:
        return False
    is_wrong_letter = typed_rest[1:] == rest[1:]
    is_letter_too_much = typed_rest[1:] == rest
    is_letter_missing = typed_rest == rest[1:]
    return is_wrong_letter or is_letter_too_much or is_letter_missing


def _first_difference(first: str, second: str) -> int | None:
    """Return the place of the first letter that differs; None if one begins with the other."""
    letter_pairs = zip(first, second, strict=False)
    for place, (first_letter, second_letter) in enumerate(letter_pairs):
        if first_letter != second_letter:
            return place
    return None


# To empty it takes 3 ms, in which nothing else runs.
@text_cache(8_192)
def trigrams(word: str) -> frozenset[str]:
    """Return the three-letter pieces of a word between spaces: "cat" gives " ca", "cat", "at "."""
    padded = f" {word} "
    # A list is made faster than a generator is read.
    pieces = [padded[start : start + 3] for start in range(len(word))]
    return frozenset(pieces)


# ── sentences ────────────────────────────────────────────────────────────────────────────────

SENTENCE_MARKS = ".!?…。！？"
# Behind a Chinese or Japanese mark no space is written.
_UNSPACED_MARKS = ("。", "！", "？")
_BETWEEN_SENTENCES = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])(?![。！？])\s*")


def sentences_of(text: str) -> list[str]:
    """Return the sentences of a text, without the space between them."""
    pieces = _BETWEEN_SENTENCES.split(text)
    return [sentence for sentence in pieces if sentence.strip()]


def join_sentences(sentences: Iterable[str]) -> str:
    """Return sentences as one text, with a space behind each that ends in no unspaced mark."""
    text = ""
    for sentence in sentences:
        text += sentence
        if not sentence.endswith(_UNSPACED_MARKS):
            text += " "
    return text.removesuffix(" ")
