"""What a line means for the bot: a command, the same said in words, a denial, a correction, a fact. Pure.

A request is recognised by its form alone, before any model is called; everything else is talk, such as "remember that
boss?". What the commands are, and who may give them, is operations/commands.
"""

import re

from forgetmenot.text.clean import clean
from forgetmenot.text.phrases import (
    asks_to_be_forgotten,
    fact_to_remember,
    names_everything,
    topic_to_forget,
)
from forgetmenot.text.words import FOREIGN_STOPWORDS, STOPWORDS, WORD_END, words

_PLEASE = re.compile(
    r"\A(?:\W*(?:hey|hi|ok|okay|please|pls|plz|bitte|can you|could you|would you|kannst du|könntest du)[,\s]+)+"
    r"|(?<![,\s])[,\s]+(?:please|pls|plz|bitte|thanks|thx|danke)\s*[.!?]*\Z",
    re.IGNORECASE,
)
_REMEMBER = re.compile(
    r"remember\s*(?:that\s+|:\s*|,\s*)(.+)|remember\s+((?:i|i['’]\w+|my)\s.+)"
    r"|(?:merke?\s+dir|denke?(?:\s+bitte)?\s+(?:daran|dran)|vergiss\s+(?:bitte\s+)?nicht"
    r"|dir(?:\s+bitte)?\s+merken)(?:\s+(?:bitte|mal))*\s*(?::|,?\s*(?=dass\s)|,?\s*(?=(?:ich|meine?)\s))\s*(.+)",
    re.IGNORECASE,
)
_REMEMBER_TYPED = re.compile(
    r"[!！]remember\s+(?:that\s+)?(.+)",
    re.IGNORECASE,
)
_FORGET = re.compile(
    r"forget\s+(?:that\s+|about\s+|what\s+you\s+know\s+about\s+)?(.+)|(?:delete|erase)\s+((?:me|everything).*)"
    r"|vergiss\s*(?:,?\s*dass\s+)?(.+)|lösch(?:e|\b)\s+((?:mich|alles).*)",
    re.IGNORECASE,
)
# Names in front of a command, as people and Twitch's reply write them.
_ADDRESSED = re.compile(r"\A\s*(?:[@＠﹫]\w+[,:、，：]?\s*)+(?=[!！])")
_THAT_NOTE = r"(?:that|this)(?: (?:one|note|fact))?[.!]*"
_TAKE_BACK = re.compile(
    rf"(?:forget|remove|(?:stop|quit) saying) {_THAT_NOTE}|remove it[.!]*", re.IGNORECASE
)
_DELETE = re.compile(rf"(?:delete|erase) (?:it[.!]*|{_THAT_NOTE})", re.IGNORECASE)
_STOP_SAYING = re.compile(
    r"(?:stop|quit) (?:saying|mentioning|bringing up) (?:that )?(.+)", re.IGNORECASE
)
_CHANGE = re.compile(
    r"(?:(?:change|correct|fix|update|edit) (?:that|it|this|(?:that |the |my )?note)(?: #?(?P<id>\d+))?"
    r"(?:\s*[:,]\s*|\s+(?:to|into)\s+)"
    r"|(?:ändere?|korrigiere?|berichtige?) (?:das|es|die notiz)(?: #?(?P<nummer>\d+))?"
    r"(?:\s*[:,]\s*|\s+(?:zu|in|auf)\s+)"
    r"|(?P<words>correction|korrektur)\s*[:,]\s*(?!\w+ not\b|it))(?P<text>.+)",
    re.IGNORECASE,
)
_TYPED_FORGET = re.compile(r"!forget\s+(.+)", re.IGNORECASE)
_WHOLE = (  # a sentence, without its last punctuation, and its command
    (r"(?:help|commands|hilfe|befehle)", "!help"),
    (r"what do (?:you|u) (?:know|remember|have) (?:about|of|on) @?(\w{2,50})", "!memory {}"),
    (r"was wei(?:ß|ss)t du (?:alles )?über (?:@?(?!mich)(\w{2,50})|mich)", "!memory {}"),
    (
        r"(?:so )?what did i miss(?: (?:so far|today|here))?|was hab[e']? ?ich (?:heute |hier )?verpasst",
        "!missed",
    ),
    (r"opt (?:me )?(in|out)", "!opt{}"),
    (
        r"what do (?:you|u) (?:store|keep|save)(?: about me)?|was speicherst du(?: über mich)?",
        "!privacy",
    ),
    (r"why did you say that|warum hast du das gesagt", "!why"),
)
# "vergiss mein nicht", "forget me not", "vergiss nicht den Boss"
_NOT_TO_FORGET = re.compile(r"\A(?:not|nicht)\b|\b(?:not|nicht)\W*\Z", re.IGNORECASE)
# What joins a fact to "remember": "that", "dass", "que".
_THAT = re.compile(r"\A(?:that|dass|que)\s+|\Aqu['’]", re.IGNORECASE)
# A German clause behind "dass", whose verb comes last: its subject, what stands between, and the verb.
_GERMAN_CLAUSE = re.compile(
    r"dass\s+(ich|wir|(?:meine?|unsere?)\s+\w+)\s+(.+)\s+(\w+)", re.IGNORECASE
)
_TALK = re.compile(
    r"(?:time|times|one|day|night|moment|guy|girl|game|boss|clip|stream|when|it|this|that|him|her|them|es|das)\b.{0,3}\Z"
    r"|(?:time|one|day|night|moment)\b",
    re.IGNORECASE,
)


def spoken_text(text: str) -> str:
    """What a line says: all of it; of a command nothing, but for the fact that it asks to be remembered."""
    if not is_command(text):
        return text
    found = _REMEMBER_TYPED.fullmatch(clean(_ADDRESSED.sub("", text)))
    return found[1] if found else ""


def is_command(text: str) -> bool:
    """Whether a line is a command to some bot ("!so alice", "@bot !help"). A "!!!" or "! wow" is talk."""
    line = _ADDRESSED.sub("", text).lstrip()
    return line[:1] in {"!", "！"} and line[1:2].isalpha()


def typed_command(text: str) -> str:
    """A typed command with a plain exclamation mark, "!forget everything about me" as "!forgetme"; else nothing."""
    line = clean(text)
    if not line.startswith(("!", "！")):
        return ""
    line = f"!{line[1:]}"
    forget = _TYPED_FORGET.fullmatch(line)
    if forget is not None and names_everything(forget[1]):
        return "!forgetme"
    return line


def without_please(line: str) -> str:
    """A line without "please" around it, and without its last full stop."""
    return _PLEASE.sub("", line).rstrip(" .!?")


def command_in_words(question: str) -> str:
    """The command that a sentence to the bot means, as it would be typed; nothing for talk."""
    sentence = _PLEASE.sub("", clean(question))
    if typed := typed_command(sentence):
        return typed
    if asks_to_be_forgotten(question):
        return "!forgetme"
    for pattern, command in _WHOLE:
        if found := re.fullmatch(pattern, sentence.rstrip(" .!?"), re.IGNORECASE):
            return command.format(found[1] or "me" if found.re.groups else "")
    if in_own_language := _asked_in_another_language(question):
        return in_own_language
    # "remember that boss?" asks; only the questions above are commands
    return "" if sentence.endswith("?") else _correction(sentence) or _kept_or_forgotten(sentence)


def main_clause(fact: str) -> str:
    """Return a fact without the "that" before it: "dass ich in Wien wohne" is "ich wohne in Wien"."""
    german = _GERMAN_CLAUSE.fullmatch(fact.strip(" .!"))
    if german is not None:
        subject, between, verb = german.groups()
        return f"{subject} {verb} {between}"
    return _THAT.sub("", fact)


def _asked_in_another_language(question: str) -> str:
    """The command in "recuerda que toco la guitarra" or "oublie mon lapin"; empty for "oublie ça" and all else."""
    fact = fact_to_remember(clean(question))
    if fact and "?" not in question:
        return f"!remember {fact}"
    what = topic_to_forget(clean(question))
    names_something = not FOREIGN_STOPWORDS.issuperset(words(what))
    return f"!forget {what}" if what and names_something else ""


def _kept_or_forgotten(sentence: str) -> str:
    if found := _REMEMBER.fullmatch(sentence):
        fact = found[found.lastindex or 0]
        return "" if _TALK.match(fact) else f"!remember {main_clause(fact)}"
    if found := _FORGET.fullmatch(sentence):
        what = found[found.lastindex or 0]
        said = words(what)
        names_nothing = bool(said) and (STOPWORDS | FOREIGN_STOPWORDS).issuperset(said)
        if names_nothing or _NOT_TO_FORGET.search(what) or _TALK.match(what):
            return ""
        return f"!forget {what}"
    return ""


def _correction(sentence: str) -> str:
    """The command that corrects what the bot just said."""
    if _DELETE.fullmatch(sentence):
        return "!forget that permanently"
    # "forget that" is also said for "never mind": what is taken back can be restored, and the answer says how to delete
    if _TAKE_BACK.fullmatch(sentence) or denies(sentence):
        return "!wrong"
    if found := _CHANGE.fullmatch(sentence):
        note = found["id"] or found["nummer"] or ("" if found["words"] else "that")
        return " ".join(filter(None, ("!edit", note, found["text"])))
    found = _STOP_SAYING.fullmatch(sentence)
    return f"!nevermention {found[1]}" if found else ""


# Denials. A closed list of small words: any other word makes it another line, for example one with a new value.
# English, and the plainest forms of five more languages.


_DENIED = re.compile(
    r"(?<!not )(?<!isnt )(?<!never )(?<!i was )(?<!im )(?<!i am )(?<!my )\b(?:wrong|false|incorrect|untrue|inaccurate"
    r"|outdated|nonsense|mistake|mistaken|out of date|falsch|falso|faux|errado|mentira)\b(?! with)"
    r"|\b(?:not|never|isnt|wasnt) (?:\w+ )?(?:true|right(?! now)|correct|me|mine|any more)\b"
    r"|\b(?:never|didnt|did not) (?:\w+ )?(?:said|say|told|had|did|was|were|have|been)\b|\bno longer\b"
    r"|\b(?:used to|stopped|quit)\Z"
    r"|\b(?:not|dont|doesnt|isnt|arent|aint) (?:\w+ ){0,2}anymore\b"
    r"|\b(?:mixed|mixing) (?:\w+ )?up\b|\bconfus(?:ed|ing)\b|\bstimmt nicht\b|\bnicht (?:wahr|mehr)\b"
    r"|\b(?:no es|nao e|pas|ce nest pas) (?:cierto|verdad|verdade|vrai)\b|\b(?:ya no|ja nao)\b"
)
_WORDS_BESIDE = """
    aint anymore bad bot bro c cierto confused confusing correct das date dude e errado es eso
    est ever fact falsch false falso faux haha inaccurate incorrect info information ist ja lmao
    longer man mehr mentira mine mistake mistaken mixed mixing nah nao never nicht no nonsense
    nope note notes old outdated pas person quit right said sorry still stimmt stopped told
    totally true u um untrue used verdad verdade vrai wahr wrong ya yo
"""
_BESIDE_DENIALS = STOPWORDS | frozenset(_WORDS_BESIDE.split())
_NOT_ABOUT_IT = frozenset(["what", "whats", "why", "how"])
_SOMEBODY_MEANT = re.compile(
    r"\b(with|not me (?:thats|its|(?:that|it) (?:is|was)|but)) (?!me\b)\w+\Z"
)


def denies(text: str) -> bool:
    """Whether a line only says that what was just said does not hold: "that's wrong", "not anymore".

    A "no" alone is none, because it may be an answer.
    """
    said = _SOMEBODY_MEANT.sub(r"\1", " ".join(words(text))).split()
    if not _NOT_ABOUT_IT.isdisjoint(said) or not _BESIDE_DENIALS.issuperset(said):
        return False
    return _DENIED.search(" ".join(said)) is not None


# A first-person sentence as a fact without its subject: "I play drums" becomes "plays drums", by just enough English.
# "I" and "my" of a few other languages are known; what cannot be turned is kept as it was said.


_THIRD = {"am": "is", "have": "has", "do": "does", "go": "goes", "was": "was", "were": "was"}
_UNCHANGED_TEXT = """
    can cannot could will would shall should may might must used got bought won lost grew quit
    became began ran met made went came saw took gave told said thought felt kept left found
    wrote drove ate drank slept spent sold taught caught broke chose fell flew forgot had heard
    knew learnt paid rode sang swam built did stood understood wore threw brought fought held
    led sent woke
"""
_UNCHANGED = frozenset(_UNCHANGED_TEXT.split())
_CONTRACTIONS = (
    (re.compile(r"\b[Ii]['’]?[Mm]\b"), "I am"),
    (re.compile(r"\b[Ii]['’]?[Vv][Ee]\b"), "I have"),
    (re.compile(r"\bI have got\b"), "I have"),
    (re.compile(r"\b[Ii] (?:don['’]?t|do not)\b"), "I do not"),
    (re.compile(r"\b[Ii] (?:didn['’]?t|did not)\b"), "I did not"),
    (re.compile(r"\b[Ii] (?:can['’]?t|cannot)\b"), "I cannot"),
    (re.compile(r"\b[Ii]['’]ll\b"), "I will"),
    (re.compile(r"\b[Ii]['’]d\b"), "I would"),
    (re.compile(r"\b([Mm]y [\w ]{1,30}?)['’]s\b(?= (?:called|named|a|an|the|from)\b)"), r"\1 is"),
    (re.compile(r"\bi\b"), "I"),
)
_OBJECTS = (
    (re.compile(r"\b(?:my|our)\b", re.IGNORECASE), "their"),
    (re.compile(r"\b(?:me|us)\b", re.IGNORECASE), "them"),
    (re.compile(r"\bmyself\b", re.IGNORECASE), "themselves"),
    (re.compile(r"\bmine\b", re.IGNORECASE), "theirs"),
    (re.compile(r"\bI\b"), "they"),
)


def expand_contractions(text: str) -> str:
    """The text with "I'm", "ive", "dont" written out."""
    for pattern, full in _CONTRACTIONS:
        text = pattern.sub(full, text)
    return text


def third_person(verb: str) -> str:
    """The verb after "she": play → plays, have → has; a past tense or a modal stays."""
    if verb in _THIRD:
        return _THIRD[verb]
    if verb in _UNCHANGED or (
        verb.endswith("ed") and verb not in {"need", "feed", "breed", "speed"}
    ):
        return verb
    if re.search(r"[^aeiou]y\Z", verb):
        return f"{verb[:-1]}ies"
    return f"{verb}es" if re.search(r"(?:s|x|z|ch|sh)\Z", verb) else f"{verb}s"


def in_third_person(words: str) -> str:
    """What is theirs, seen from outside: "my band" is "their band"."""
    for pattern, other in _OBJECTS:
        words = pattern.sub(other, words)
    return words


_ADVERB = re.compile(
    r"(also|always|never|often|usually|mostly|really|only|still|just|actually|now|no longer)\s+(.+)",
    re.IGNORECASE,
)
_HELPERS = {
    "do not": "does not",
    "am not": "is not",
    "have not": "has not",
    "have never": "has never",
}
_FIRST = re.compile(r"\b(?:I|me|my|mine|myself|we|our|us)\b", re.IGNORECASE)
_I = re.compile(r"\b(?:I|my|we|our)\b", re.IGNORECASE)
_I_ABROAD = re.compile(  # no word that is an English one, or a name
    r"\b(?:ich|mir|mich|meine?[rnms]?|je|j['’]\w+|moi|mes|tengo|estoy|sono|miei|tenho|estou|meus?|minhas?|ik|mijn|jag|jeg|mitt"
    r"|me (?:gustan?|encantan?|llamo|chamo)"
    r"|jestem|mój|moje|benim|я|меня|мне|мой|моя|моё|мои|мене|мій|моє)\b|私|僕|俺|我|나는|저는|난 |제가|내 |제 ",
    re.IGNORECASE,
)
_MINE = re.compile(r"\A(?:my|our)\s+", re.IGNORECASE)
_WE = re.compile(r"\A[Ww]e(?:['’]re)?\s+")
_THIRD_TOLD_FACTS = re.compile(
    r"\A(?:(?:also|always|never|often|usually|really|still|no longer|is|was|has|had|can|cannot|does|did|will|used|wants"
    r"|their|from) "
    r"|(?!this |his |its |whos |whats |thats |lets |yes |always |news )(?-i:[a-z]{2,}s) (?!are |is |were ))",
    re.IGNORECASE,
)
# Plural nouns look like verbs ("subs get …"): these words are verbs, and say without "I" what somebody does.
_SURE_VERBS_TEXT = """
    is was has had can does did used wants likes loves hates lives works plays owns speaks comes
    goes prefers collects studies teaches sings bakes reads watches draws paints knows feels
    drives uses writes codes enjoys dislikes cooks builds supports needs makes learns listens
    grew got
"""
_SURELY_A_PERSON = re.compile(
    rf"\A(?:(?:also|always|never|often|usually|really|still|no longer) [a-z]+s|their|from"
    rf"|{'|'.join(_SURE_VERBS_TEXT.split())}) ",
    re.IGNORECASE,
)
_OUR = re.compile(r"\A(?:our|we)\b", re.IGNORECASE)
_END = re.compile(r"[\s.!,;]+\Z")


# Where no space parts words, the letters of the other scripts.
_FIRST_WORD = re.compile(rf"\w+?{WORD_END}")


_CALL_ME = re.compile(
    r"(?:please |just |bitte )?(?:you (?:can|may) )?(?:call me|nenn(?:t|e)? mich|i go by)"
    r" (?P<name>(?!when |if |back |later |crazy |a |an )[^\W\d_][\w'’-]{1,24})(?: please| bitte)?",
    re.IGNORECASE,
)


def first_word(text: str) -> tuple[str, str]:
    """The first word of a text, and the rest: "@bob's cat" gives "bob" and "'s cat", "bobは" "bob" and "は"."""
    stripped = text.strip().removeprefix("@")
    name = _FIRST_WORD.match(stripped)
    end = name.end() if name else 0
    return stripped[:end], stripped[end:]


def own_fact(text: str, *, for_channel: bool = False) -> str | None:
    """What a text says about its speaker; None if it does not speak of them.

    `for_channel`: the speaker may also mean the channel. "We" is the channel then, and a text without "I" is the
    speaker's only where it begins with a verb that is no plural noun.
    """
    # contractions first: the patterns below read "I am", never "im"
    sentence = _END.sub("", expand_contractions(text.strip()))
    nickname = _CALL_ME.fullmatch(sentence)
    if nickname is not None:
        return f"goes by {nickname['name']}"
    if for_channel and (
        _OUR.match(sentence)
        or not (_FIRST.search(sentence) or _SURELY_A_PERSON.match(f"{sentence} "))
    ):
        return sentence if _I_ABROAD.search(sentence) else None
    if sentence.startswith("I "):
        return _predicate(sentence[2:].strip())
    if _MINE.match(sentence):
        return re.sub(r"\Atheir (?=fav)", "", in_third_person(sentence[:1].lower() + sentence[1:]))
    if _THIRD_TOLD_FACTS.match(f"{sentence} "):
        return in_third_person(sentence)
    if _I_ABROAD.search(sentence) and not _I.search(sentence):
        return sentence
    return (
        in_third_person(sentence) if _FIRST.search(sentence) and not _WE.match(sentence) else None
    )


def _predicate(rest: str) -> str | None:
    """What follows "I", after "she"."""
    for helper, other in _HELPERS.items():
        if rest.lower().startswith(f"{helper} "):
            return f"{other} {in_third_person(rest[len(helper) + 1 :])}"
    if found := _ADVERB.fullmatch(rest):
        inner = _predicate(found[2])
        return f"{found[1].lower()} {inner}" if inner else None
    verb, _, more = rest.partition(" ")
    return f"{third_person(verb.lower())} {in_third_person(more)}".strip() if verb else None


def fact_about_other(rest: str) -> str:
    """What follows somebody's name: "'s cat is Miso" becomes "their cat is Miso"; the rest stays."""
    words = _END.sub("", rest.strip().lstrip(":,–—-").strip())
    owned = re.match(r"['’]s\s+", words)
    return f"their {words[owned.end() :]}" if owned else words
