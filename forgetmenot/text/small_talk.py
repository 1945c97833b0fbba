"""Lines without content: greetings, goodbyes, laughter, emotes. Pure.

A line with any other word is taken to have content, in any language.
"""

import re

from forgetmenot.text.clean import clean
from forgetmenot.text.mentions import SOMEBODY
from forgetmenot.text.words import STOPWORDS, foreign_stopwords_in, words

_SPACED = """
    hello hi hiya heya hey yo sup howdy hai henlo welcome greetings morning mornin evening
    afternoon night nite day good gm gn goodnight goodmorning bye cya cu goodbye ciao cheers
    later see sleep well great have back brb wb all everyone everybody everybuddy folks guys
    chat people friends mates team peeps stream streamer mods bot someone somebody nice lovely
    happy gg ggs wp glhf lol lul lulw kek kekw lmao lmfao rofl haha hahaha hehe hihi xd pog pogs
    poggers pogchamp hype wow omg thanks thank thx ty tysm np yw please sorry ok okay yes yep no
    nope o7 hallo moin moinsen servus gruss grusse tach guten gute guter morgen abend tag nacht
    tschuss tschau bis dann spater bald morgn abend zusammen leute alle allen danke bitte hola
    buenas buenos buen dias dia tardes noches noche adios hasta luego manana gracias todos todas
    gente chicos bonjour bonsoir salut coucou bonne bon nuit soiree journee matin tout monde
    merci bientot demain ola oi bom boa noite tarde tchau ate obrigado obrigada pessoal galera
    buongiorno buonasera buonanotte ciao arrivederci grazie tutti ragazzi hoi hallo goedemorgen
    goedenavond doei dag czesc hej siema dobranoc witam dzien dobry
"""
_REPEATED_LETTER = re.compile(r"(.)\1+")


def _short(word: str) -> str:
    """Return a word without repeated letters: "lmaooo" is "lmao"."""
    return _REPEATED_LETTER.sub(r"\1", word)


_SMALL_TALK = frozenset(map(_short, words(_SPACED)))
_UNSPACED = re.compile(
    "おはよう|こんにち[はわ]|こんばん[はわ]|おやすみ|お疲れ様?|おつかれ|おつ|初見|ただいま|おかえり|さようなら|またね?"
    "|ありがとう|ございます|ございました|です|さま|なさい|皆さん|みなさん|みんな|[wｗ草笑]+"
    "|안녕(?:하세요|히)?|잘자요?|반가워요|ㅋ+|ㅎ+|你好|大家好|晚安|早安|早上好|再见|谢谢|哈+"
)
_HANDLE = re.compile(rf"@?(?<!\w)(?:P\d+|BOT|{SOMEBODY})(?!\w)|<3")
# How channels name their emotes: a prefix of small letters and a word ("carolHype"), or capitals.
_EMOTE = re.compile(r"[a-z]+\d*[A-Z]\w*|[A-Z][a-z]+[A-Z]\w*|[A-Z]{3,}\w*")


def has_content(text: str) -> bool:
    """Return whether a line of chat has a word that is neither small talk nor an emote.

    `text` has handles for names, because a name alone is no content.
    """
    without_handles = _HANDLE.sub(" ", clean(text))
    line = _UNSPACED.sub(" ", without_handles)
    other_words = [word for word in words(line) if not _is_small_talk(word)]
    # "how are you all": words that say nothing by themselves, in the language of the line.
    stopwords = STOPWORDS | foreign_stopwords_in(other_words)
    if stopwords.issuperset(other_words):
        return False
    pieces = line.split()
    return not all(map(_is_emote_or_greeting, pieces))


def _is_small_talk(word: str) -> bool:
    """Return whether a word is one of a greeting or of laughter."""
    return _short(word) in _SMALL_TALK


def _is_emote_or_greeting(piece: str) -> bool:
    """Return whether a piece of a line between spaces is an emote, or small talk."""
    if _EMOTE.fullmatch(piece):
        return True
    return all(map(_is_small_talk, words(piece)))
