"""What a line of chat asks, as far as its form shows it. Pure.

It reads question words of English, German, Spanish, Portuguese, French, Italian and Japanese, and
knows no meaning: a question without one of them is taken for no question.
"""

import re

from forgetmenot.text.words import words

_GREETING = re.compile(
    r"\A\W*(?:(?:good (?:morning|afternoon|evening|night|day)|guten (?:morgen|abend|tag)|gute nacht"
    r"|buen(?:os|as) (?:d[ií]as|tardes|noches)|bom dia|boa (?:tarde|noite)|bonjour|bonsoir|salut"
    r"|coucou|hallo|moin|servus|hola|ol[áa]|oi|ciao)\b|(?:こんにちは|こんばんは|おはよう)(?:ございます)?)[\s,.!]*",
    re.IGNORECASE,
)

_WHO = frozenset(
    words(
        "who whos whose whom whod wer wem wen wessen quién quiénes quem chi kto kogo komu"
    )
)
# Words for anybody, and those for "who" that mean something else in the middle of a statement.
_ANYBODY = frozenset(
    words(
        "anyone anybody everyone everybody jemand jemanden jemandem irgendwer irgendjemand"
        " alguien alguno alguém qui quelquun"
    )
)
# Where a question begins, in the languages besides English.
_QUESTION_WORDS = frozenset(
    words(
        "wer wie was wann wo warum wieso weshalb welche welcher welches welchen welchem wen wem"
        " wessen wohin woher womit wovor wovon worüber wozu wieviel wieviele"
        " qué quién quiénes cuál cuáles cuándo cuánto cuánta cuántos cuántas cómo dónde adónde"
        " que quem qual quais quando quanto quanta quantos quantas onde como cadê porque"
        " qui quoi quand quel quelle quels quelles combien où comment pourquoi lequel laquelle"
        " che chi quale quali dove come cosa perché"
    )
)
# Where a question begins in English.
_ENGLISH_QUESTION_WORDS = frozenset(
    words(
        "what whats who whos whose whom where wheres when why how hows which do does did is are am"
        " was were can could will would should has have"
    )
)
_CALLS_SOMEBODY = re.compile(r"\A\s*(?:[@＠]\w+[\s,:]*)+")
# What may stand before the question word: "mit wem", "en qué", "o que", "c'est quand".
_BEFORE_QUESTION_WORD = frozenset(
    words(
        "in im an am auf mit von aus zu für bei seit um bis ab und en de del a al con por para"
        " desde em do da no na pra pro com o e dans à avec pour depuis sur chez cest est ce et di"
        " per"
    )
)
# Question words that stand in the middle of a question as well: "il habite où ?". As they are
# written, with accents: "ou" is "or". Those that join clauses, too ("que", "quem"), are left out.
_QUESTION_WORD_INSIDE = re.compile(
    r"\b(?:quoi|quel(?:le)?s?|combien|pourquoi|comment|où|quê|qué|dónde|cuándo|cuál(?:es)?"
    r"|cuánt[oa]s?|onde|qual|quais)\b[^?？]*[?？]\W*\Z",
    re.IGNORECASE,
)
# "猫の名前は？", "走ってるの？", "教えて": what is left out, or the ending, asks.
_ASKS_UNSPACED = re.compile(r"(?:は|の|か|かな|っけ)[?？]\W*\Z|教えて\W*\Z")
_QUESTION_UNSPACED = re.compile(
    "何|なに|なんで|なんの|どこ|誰|だれ|どなた|いつ|どの|どんな|どれ|どっち|なぜ|どう|いくつ|いくら"
)
_REQUEST_UNSPACED = re.compile(
    "ください|下さい|お願い|おねがい|くれ|もらえ|ちょうだい|タイムアウト|追放|削除|(?<!教え)[てで][！!。.？?]*$"
)
_SELF = frozenset(
    words(
        "i im ive id my me mine myself ich mich mir mein meine meinen meinem meiner"
        " yo mi mis me mío mía soy eu meu minha meus minhas je mon ma mes moi"
    )
)
_SELF_UNSPACED = (
    "私",
    "わたし",
    "僕",
    "ぼく",
    "俺",
    "自分",
    "나는",
    "내가",
    "제가",
    "我",
)
_WHO_UNSPACED = ("誰", "だれ", "どなた", "谁", "누가", "누구")


# What asks when something was, or whether it is still known, in each of these languages.
_WHEN = re.compile(
    r"\b(?:remember (?:when|how|that|the time|our|my)|when (?:was|were|did|had|have|has)"
    r"|(?:which|what) (?:day|date|evening|stream)\b|how long ago"
    r"|wei(?:ß|ss)t (?:du|ihr) noch|erinner(?:st|t|e|n)? ?(?:du|ihr|sie)? ?(?:dich|euch|sich)"
    r"|(?:seit )?wann (?:war|hat|haben|habe|ist|sind|wurde|kam)"
    r"|(?:an|in) welche[mnr] (?:tag|abend|stream)|wie lange ist es her"
    r"|(?:te acuerdas|recuerdas)|cu[áa]ndo (?:fue|fueron|hizo|dijo)"
    r"|(?:tu te souviens|te rappelles)|c['’]est quand|quand (?:est-ce que|a|ont|était)"
    r"|(?:lembra(?:s|m)?|te lembras)|quando (?:foi|foram|é que|ha|è|sono)"
    r"|(?:ti ricordi|vi ricordate))\b"
    r"|覚えて(?:る|い)|いつ(?:だった|でした|の)",
    re.IGNORECASE,
)


def asks_when(text: str) -> bool:
    """Return whether a line asks when something was, or whether it is remembered."""
    return _WHEN.search(text) is not None


def without_when(text: str) -> str:
    """Return what a question asks for that asks when it was."""
    return _WHEN.sub(" ", text)


def without_greeting(text: str) -> str:
    """Return a line without the greeting at its beginning, which says nothing of what follows."""
    return _GREETING.sub("", text)


def asks_for_person(text: str) -> bool:
    """Return whether a line asks who somebody is ("who plays chess?", "kennt jemand ein Brot?")."""
    if any(word in text for word in _WHO_UNSPACED):
        return True
    line_words = words(text)
    if "?" in text or "？" in text:
        return not (_WHO | _ANYBODY).isdisjoint(line_words)
    # Many leave the mark out: "tell me who plays chess", "has anyone a cat".
    if not _WHO.isdisjoint(line_words[:4]):
        return True
    return not _ANYBODY.isdisjoint(line_words[:2])


def opens_as_question(text: str) -> bool:
    """Return whether a line in another language than English asks by its question word.

    One that asks for a deed ("何か歌ってください") is none.
    """
    if _QUESTION_UNSPACED.search(text) or _ASKS_UNSPACED.search(text):
        return _REQUEST_UNSPACED.search(text.strip()) is None
    for word in words(text):
        if word in _QUESTION_WORDS:
            return True
        if word not in _BEFORE_QUESTION_WORD:
            break
    return _QUESTION_WORD_INSIDE.search(text) is not None


def without_called_names(text: str) -> str:
    """Return a line without the @names that it begins with, to whom it is said."""
    return _CALLS_SOMEBODY.sub("", text).strip()


def is_question(text: str) -> bool:
    """Return whether a line asks something: by its mark, or by its words behind a called name."""
    line = without_called_names(text)
    bare_line = line.rstrip("!")
    if bare_line.endswith(("?", "？")):
        return True
    first_words = words(line)[:1]
    if not _ENGLISH_QUESTION_WORDS.isdisjoint(first_words):
        return True
    return opens_as_question(line)


def asks_for_person_in_sentence(text: str) -> bool:
    """Return whether a line asks for a person, and not to all in chat ("anyone gay here?")."""
    first_word = words(text)[:1]
    return asks_for_person(text) and _ANYBODY.isdisjoint(first_word)


def speaks_of_self(text: str) -> bool:
    """Return whether a line speaks of its author by "I" or "my"; verb endings are not read."""
    if any(word in text for word in _SELF_UNSPACED):
        return True
    return not _SELF.isdisjoint(words(text))
