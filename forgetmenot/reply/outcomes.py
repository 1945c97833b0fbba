"""How chat took a reply, read from the few lines after it. Pure.

    corrected  somebody says that it is wrong
    liked      a laugh, thanks or praise for it
    went_on    the talk goes on from it
    ignored    nobody reacts to it

Guarantees: the same lines give the same outcome; a line to somebody else counts for nothing; of two the first in the
list above wins. Nothing of the lines is kept. What a person says outright (deleted, thumbs, `!good`, `!bad`) is
recorded elsewhere and outranks what is read here.
"""

import re
from collections.abc import Collection, Sequence
from enum import StrEnum
from typing import NamedTuple

from forgetmenot.memory.facts.correction_features import kind_of
from forgetmenot.text.words import telling_stems, words

LINES_READ = 4
"""So many lines after a reply may be about it; after that chat has gone on."""
SHORT = 5


class ReplyOutcome(StrEnum):
    """What became of a reply in chat; the code that its row keeps."""

    CORRECTED = "corrected"
    LIKED = "liked"
    WENT_ON = "went_on"
    IGNORED = "ignored"
    DELETED = "deleted"  # by a moderator
    GOOD = "good"  # thumbs in the dock, `!good`
    BAD = "bad"


class LineAfter(NamedTuple):
    """A line of chat after a reply: who said it (a name), and what."""

    who: str
    text: str


_NO = (
    r"nope|nah|naw|nein|non|não|neither|wrong|false|faux|falsch|falso|errado|mentira|incorrect|negative|cap|lies"
    r"|liar|нет|неа"
    r"|неправда|неверно|yanlış|nie|nee|sbagliato"
)
_WRONG = re.compile(
    rf"(?:\A\W*|^(?:\w+ ){{1,2}})(?:{_NO})\b"
    r"|(?:\A\W*(?:\w+ )?|[?!.,] )no(?=\W*\Z|[,.!?]|\s+(?:it|that|he|she|they|i|you|we|its|this|his|her|my|thats|not"
    r"|the)\b)"
    r"|\b(?:that['’]?s|thats|it['’]?s|its|you['’]?re|ur|u are|was|is|got (?:it|that|this|me)) "
    r"(?:so |all |totally |just |also |still )?(?:wrong|not (?:right|true|correct|it|what|how|me|my|mine)|incorrect"
    r"|a lie|cap|outdated|old|off)\b"
    r"|\b(?:i|we|he|she|they|it|that|you|there|mine|\w+) (?:never|didn['’]?t|don['’]?t|doesn['’]?t|do not|did not"
    r"|does not"
    r"|haven['’]?t|hasn['’]?t|wasn['’]?t|weren['’]?t|isn['’]?t|ain['’]?t|aren['’]?t|am not|is not|was not"
    r"|have never|no longer)\b"
    r"|\bi['’](?:m|ve) (?:not|never)\b|\bi do actually\b|\bi (?:said|meant|wish)\b|\bnever (?:said|happened|heard)\b"
    r"|\bsince when\b|\bmixed (?:\w+ )?up\b|\bmix(?:ing)? (?:\w+ )?up\b|\bconfus(?:ed|ing)\b|\bmade (?:that"
    r"|it) up\b|\bmaking (?:things|stuff) up\b"
    r"|\bhallucinat\w+|\bwrong \w+\b|\b(?:bad|broken|drunk|stupid|dumb) bot\b|\bbot (?:is )?(?:broken|drunk|wrong"
    r"|lying|tripping|lost it)\b"
    r"|\btry again\b|\bcheck again\b|\byou mean\b|\bmore like\b|\bget it right\b|\b(?:but|so) close\b|\balmost\W*\Z"
    r"|\bclose\W*\Z"
    r"|\banymore\b|\bnot any ?more\b|\bused to\b|\bsold it\b|\bcancel+ed\b|\bquit (?:that|it|last|in)\b"
    r"|\bthe opposite\b"
    r"|\bcorrection\b|\bsmh\b|\bfyi\b|\brude\b|\bhuh\?|\bwdym\b|\bwhat are you (?:on|talking)|\bwho told you\b"
    r"|\bsays who\b"
    r"|\bdon['’]?t rob me\b|\binstead\b"
    r"|\bnot (?!again|yet|sure|bad|really|now|today|much|long|far)(?:the |a |an |my )?[\w%]+\W*\Z|\?\?(?!\w)"
    r"|\bthough\Z|\w\*+\Z|\bdifferent \w+\b"
    r"|\A\W*(?:er|uh|um|hm+|ehm?|well|actually|akshually)\W+(?:it|that|i|he|she|its|he['’]s|she['’]s|i['’]m)\b"
    r"|\bactually\b"
    r"|\bstimmt (?:so )?nicht\b|\bnicht\b|\bgar kein|\bdoch\W*\Z|\bque no\b|\beso no\b|\bno es\b|\bjamais\b"
    r"|\bne \w+ pas\b|\bpas (?:vrai|du tout)\b"
    r"|\bc['’]est pas\b|\bnon è\b|\bnão (?:é|foi|sou)\b|\bне\b|\bникогда\b|違う|ちがう|じゃない|아니|不是|错",
    re.IGNORECASE,
)
_LAUGH = re.compile(
    r"\b(?:lo+l+|lul+|lulw|lmf?ao+|ro+fl|omegalul|omg|kekw?|kek|xd+|icant|pf{2,}|(?:ha){2,}h?|(?:he){2,}|(?:ah){2,}"
    r"|(?:hi){3,}"
    r"|a?(?:ja){2,}j?|(?:je){2,}|k{4,}|rs(?:rs)+|а?(?:ха){2,}х?|а(?:ха)+х*|mdr+|ptdr|wheezing|dead|crying|dying"
    r"|good one|got me"
    r"|funny|hilarious|called out|exposed|savage|brutal|roasted|ouch|burn|rekt|destroyed|comedy|im done|i can['’]?t)\b"
    r"|[😂🤣💀😭😆😹😅☠]|(?<!\w)w{3,}\b|草|笑|ㅋㅋ|55{2,}",
    re.IGNORECASE,
)
_THANKS = re.compile(
    r"\b(?:t(?:h)?a?nks?|thank (?:you|u)|thx+|(?:ty)+y*|tysm|tyvm|cheers|appreciate\w*|merci|danke|gracias"
    r"|obrigad[oa]|valeu|спасибо|спс"
    r"|grazie|tack|arigato|teşekkür\w*|dzięki|(?:good|best|smart|great|nice|cute|sweet|clever) (?:bot|one|memory"
    r"|job|call|catch|tip)"
    r"|bless|big brain|life ?saver|the best|u rock|you rock|love (?:it|this|that|you|u)|legend|king|queen|wow"
    r"|impressive|well played"
    r"|it remembers|it remembered|remembered|pog(?:gers|champ|gies)?|genius|goat(?:ed)?|based|clutch|(?:that"
    r"|it) worked|helpful|perfect"
    r"|aw+|adorable|wholesome|so sweet)\b|<3|❤|🙏|👍|🫶|💜|ありがと|감사|谢谢",
    re.IGNORECASE,
)
_AGREES = re.compile(
    r"\A\W*(?:yes|yeah|yea|yep|yup|ya|ok|okay|sure|right|true|same|exactly|indeed|oh|ah|hm+|why|how|what|which|who"
    r"|when|where|really"
    r"|maybe|not yet|nobody|noone|still|already|i['’]?ll|will do|on it|sí|si|oui|ja|да|sim|also|and|but|or|too"
    r"|for how|is it|does it"
    r"|did|it|he|she|they|that|there['’]?s|il|elle|él)\b",
    re.IGNORECASE,
)
_OFF_TOPIC = re.compile(
    r"\b(?:brb|gm|gn|bathroom|doorbell|dono|follower|subs?\b|gifted|dinner|trailer|my mic|mic is|anyway|o7|afk|dm)\b"
    r"|\b(?:hi+|hello|hey) (?:all|chat|everyone)\b",
    re.IGNORECASE,
)
_SOMEBODY_ELSE = re.compile(r"\bthat(?:['’]?s| was) (?:not )?(\w+)", re.IGNORECASE)
_ASKS_ALL = re.compile(r"\b(?:anyone|anybody|everyone|everybody|chat|guys|y['’]?all)\b", re.IGNORECASE)


def outcome_of(
    reply: str, lines: Sequence[LineAfter], *, people: Collection[str] = (), bot: Collection[str] = ()
) -> ReplyOutcome:
    """How chat took a reply. `people`: the names of those in chat; `bot`: the bot's own."""
    names = {name.casefold() for name in (*people, *(line.who for line in lines))}
    names |= {name.casefold() for line in lines for name in re.findall(r"@(\w+)", line.text)}
    own = {"bot", *(name.casefold() for name in bot)}
    read = lines[:LINES_READ]
    first = read[0].who if read else ""
    found = {
        _of_line(reply, line, names - own, own, first=place == 0, near=line.who == first)
        for place, line in enumerate(read)
    }
    ranked = (ReplyOutcome.CORRECTED, ReplyOutcome.LIKED, ReplyOutcome.WENT_ON)
    return next((outcome for outcome in ranked if outcome in found), ReplyOutcome.IGNORED)


def _of_line(
    reply: str, line: LineAfter, names: Collection[str], own: Collection[str], *, first: bool, near: bool
) -> ReplyOutcome:
    spoken, replied = ({word.casefold() for word in re.findall(r"\w+", text)} for text in (line.text, reply))
    to_bot = not spoken.isdisjoint(own)
    # whom the line names and the reply did not: it may be said to them, and not to the bot
    others = (spoken & set(names)) - replied - {line.who.casefold()}
    related = to_bot or bool(telling_stems(reply, 3) & telling_stems(line.text, 3))
    meant = _SOMEBODY_ELSE.search(line.text)
    # "that's bob" to "alice has a cat" corrects the reply, although it is somebody else's name
    if near and meant is not None and meant[1].casefold() in others:
        return ReplyOutcome.CORRECTED
    if others and not related:
        return ReplyOutcome.IGNORED
    # whoever spoke first after the reply goes on about it; of others a word of it is needed
    if (near or related) and _is_correction(reply, line.text):
        return ReplyOutcome.CORRECTED
    if others and not to_bot:
        return ReplyOutcome.WENT_ON if first else ReplyOutcome.IGNORED
    if _OFF_TOPIC.search(line.text) and not related:
        return ReplyOutcome.IGNORED
    if (near or related) and (_LAUGH.search(line.text) or _THANKS.search(line.text)):
        return ReplyOutcome.LIKED
    # a question to everybody is no answer to the bot
    asks = line.text.rstrip().endswith("?") and not _ASKS_ALL.search(line.text)
    answers = first and (asks or bool(_AGREES.search(line.text)) or reply.rstrip().endswith("?"))
    return ReplyOutcome.WENT_ON if related or answers else ReplyOutcome.IGNORED


def _is_correction(reply: str, text: str) -> bool:
    if reply.rstrip().endswith("?"):
        return False  # "no" is then an answer
    if _WRONG.search(text):
        return True
    values = ([word for word in words(side) if word != "one"] for side in (text, reply))  # "good one" is no number
    spoken, replied = ({(kind_of(word), word) for word in side if kind_of(word)} for side in values)
    # a short line with another value of the same kind: "tuesday" after "it is on monday"
    other = {kind for kind, _ in spoken} & {kind for kind, _ in replied}  # another weekday, month or number
    return len(text.split()) <= SHORT and bool(other) and spoken.isdisjoint(replied)
