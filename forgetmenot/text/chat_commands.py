"""What a line means for the bot: a command, also in words, a denial, a fact of its speaker. Pure.

A request is recognised by its form alone, before any model is called. Everything else is talk, such
as "remember that boss?". What the commands are, and who may give them, is operations/commands.
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
    r"\A(?:\W*(?:hey|hi|ok|okay|please|pls|plz|bitte|can you|could you|would you|kannst du"
    r"|könntest du)[,\s]+)+"
    r"|(?<![,\s])[,\s]+(?:please|pls|plz|bitte|thanks|thx|danke)\s*[.!?]*\Z",
    re.IGNORECASE,
)
_REMEMBER = re.compile(
    r"remember\s*(?:that\s+|:\s*|,\s*)(.+)|remember\s+((?:i|i['’]\w+|my)\s.+)"
    r"|(?:merke?\s+dir|denke?(?:\s+bitte)?\s+(?:daran|dran)|vergiss\s+(?:bitte\s+)?nicht"
    r"|dir(?:\s+bitte)?\s+merken)(?:\s+(?:bitte|mal))*"
    r"\s*(?::|,?\s*(?=dass\s)|,?\s*(?=(?:ich|meine?)\s))\s*(.+)",
    re.IGNORECASE,
)
_MARKS = r"\s,.;!–-"
# "my cat is called Mia, remember that"; "i'll remember that" has no mark before it. The fact ends before the first of
# several marks (?<!…): where it may end at each, a line of marks takes a hundred times as long.
_REMEMBER_BEHIND = re.compile(
    rf"((?:i|i['’]\w+|my)\s+\S+\s.+?)(?<![{_MARKS}])\s*[,.;!–-][{_MARKS}]*"
    r"(?:(?:so|and|please|pls|plz)\s+)*remember\s+(?:that|this|it)"
    rf"|((?:ich|meine?)\s+\S+\s.+?)(?<![{_MARKS}])[{_MARKS}]+"
    r"(?:(?:und|also|bitte)\s+)*merke?\s+dir\s+(?:das|es)(?:\s+bitte)?",
    re.IGNORECASE,
)
_TYPED_REMEMBER = re.compile(r"[!！]remember\s+(?:that\s+)?(.+)", re.IGNORECASE)
_FORGET = re.compile(
    r"forget\s+(?:that\s+|about\s+|what\s+you\s+know\s+about\s+)?(.+)"
    r"|(?:delete|erase)\s+((?:me|everything).*)"
    r"|vergiss\s*(?:,?\s*dass\s+)?(.+)|lösch(?:e|\b)\s+((?:mich|alles).*)",
    re.IGNORECASE,
)
# Names in front of a command, as people and Twitch's reply write them.
_ADDRESSED = re.compile(r"\A\s*(?:[@＠﹫]\w+[,:、，：]?\s*)+(?=[!！])")
_THAT_NOTE = r"(?:that|this)(?: (?:one|note|fact))?[.!]*"
_UNDO = re.compile(
    rf"(?:forget|remove|(?:stop|quit) saying) {_THAT_NOTE}|remove it[.!]*",
    re.IGNORECASE,
)
# "no, that was a joke, forget that"
_UNDO_BEHIND = re.compile(
    rf"(?:no|nope|nah|wrong|nein|nee|falsch)\b(?:.*[,.;!–-])?\s*(?:(?:so|and|please|pls|just|und|bitte)\s+)*"
    rf"(?:(?:forget|remove) {_THAT_NOTE}|vergiss das(?: wieder)?[.!]*)",
    re.IGNORECASE,
)
_DELETE = re.compile(rf"(?:delete|erase) (?:it[.!]*|{_THAT_NOTE})", re.IGNORECASE)
_STOP_SAYING = re.compile(
    r"(?:stop|quit) (?:saying|mentioning|bringing up) (?:that )?(.+)", re.IGNORECASE
)
_CHANGE = re.compile(
    r"(?:(?:change|correct|fix|update|edit)"
    r" (?:that|it|this|(?:that |the |my )?note)(?: #?(?P<id>\d+))?"
    r"(?:\s*[:,]\s*|\s+(?:to|into)\s+)"
    r"|(?:ändere?|korrigiere?|berichtige?) (?:das|es|die notiz)(?: #?(?P<german_id>\d+))?"
    r"(?:\s*[:,]\s*|\s+(?:zu|in|auf)\s+)"
    r"|(?P<bare>correction|korrektur)\s*[:,]\s*(?!\w+ not\b|it))(?P<text>.+)",
    re.IGNORECASE,
)
_RECEIPT = re.compile(r"[!！](?:receipt|beleg)\b", re.IGNORECASE)
_TYPED_FORGET = re.compile(r"!forget\s+(.+)", re.IGNORECASE)
# A sentence without its last mark, and the command that it means.
_WHOLE_SENTENCES = (
    (r"(?:help|commands|hilfe|befehle)", "!help"),
    (
        r"what do (?:you|u) (?:know|remember|have) (?:about|of|on) @?(\w{2,50})",
        "!memory {}",
    ),
    (
        r"was wei(?:ß|ss)t du (?:alles )?über (?:@?(?!mich)(\w{2,50})|mich)",
        "!memory {}",
    ),
    (r"(?:so )?what did i miss(?: (?:so far|today|here))?", "!missed"),
    (r"was hab[e']? ?ich (?:heute |hier )?verpasst", "!missed"),
    (r"opt (?:me )?(in|out)", "!opt{}"),
    (r"(?:delete|remove|forget) my (?:last )?quote", "!unquote"),
    (r"(?:lösche?|entferne|vergiss) mein (?:letztes )?zitat", "!unquote"),
    (r"what do (?:you|u) (?:store|keep|save)(?: about me)?", "!privacy"),
    (r"was speicherst du(?: über mich)?", "!privacy"),
    (r"why did you say that|warum hast du das gesagt", "!why"),
)
_SMALL_WORDS = STOPWORDS | FOREIGN_STOPWORDS
# "vergiss mein nicht", "forget me not", "vergiss nicht den Boss"
_NOT_TO_FORGET = re.compile(r"\A(?:not|nicht)\b|\b(?:not|nicht)\W*\Z", re.IGNORECASE)
# What joins a fact to "remember": "that", "dass", "que".
_THAT = re.compile(r"\A(?:that|dass|que)\s+|\Aqu['’]", re.IGNORECASE)
# A German clause behind "dass", whose verb comes last: its subject, what stands between, the verb.
_GERMAN_CLAUSE = re.compile(
    r"dass\s+(ich|wir|(?:meine?|unsere?)\s+\w+)\s+(.+)\s+(\w+)", re.IGNORECASE
)
_TALK = re.compile(
    r"(?:time|times|one|day|night|moment|guy|girl|game|boss|clip|stream|when|it|this|that|him|her"
    r"|them|es|das)\b.{0,3}\Z"
    r"|(?:time|one|day|night|moment)\b",
    re.IGNORECASE,
)


def spoken_text(text: str) -> str:
    """Return what a line says; of a command the fact that it asks to remember, or ""."""
    if not is_command(text):
        return text
    command = clean(without_names_in_front(text))
    remembered = _TYPED_REMEMBER.fullmatch(command)
    return remembered[1] if remembered else ""


def is_command(text: str) -> bool:
    """Return whether a line is a command to some bot ("!so alice", "@bot !help"), not "!!!"."""
    # asked of every line of chat, and most have no mark
    if "!" not in text and "！" not in text:
        return False
    line = without_names_in_front(text).lstrip()
    has_mark = line.startswith(("!", "！"))
    return has_mark and line[1:2].isalpha()


def without_names_in_front(text: str) -> str:
    """Return a command without the names in front of it."""
    return _ADDRESSED.sub("", text)


def asks_for_receipt(text: str) -> bool:
    """Return whether a line is the command that looks at a receipt."""
    # asked of every line of chat, and most have no mark of a command
    if "!" not in text and "！" not in text:
        return False
    command = without_names_in_front(text).lstrip()
    return _RECEIPT.match(command) is not None


def typed_command(text: str) -> str:
    """Return a typed command with a plain exclamation mark; "" if the line is none.

    "!forget everything about me" is "!forgetme".
    """
    line = clean(text)
    if not line.startswith(("!", "！")):
        return ""
    command = f"!{line[1:]}"
    forget = _TYPED_FORGET.fullmatch(command)
    if forget is not None and names_everything(forget[1]):
        return "!forgetme"
    return command


def without_please(line: str) -> str:
    """Return a line without "please" around it, and without its last full stop."""
    return _PLEASE.sub("", line).rstrip(" .!?")


def command_in_words(question: str) -> str:
    """Return the command that a sentence to the bot means, as it would be typed; "" for talk."""
    sentence = _PLEASE.sub("", clean(question))
    typed = typed_command(sentence)
    if typed:
        return typed
    if asks_to_be_forgotten(question):
        return "!forgetme"
    command = _command_of_sentence(sentence) or _command_in_other_language(question)
    if command:
        return command
    # "remember that boss?" is talk. The questions that are commands are read above.
    if sentence.endswith("?"):
        return ""
    return _correction(sentence) or _remember_or_forget(sentence)


def main_clause(fact: str) -> str:
    """Return a fact without "that": "dass ich in Wien wohne" is "ich wohne in Wien"."""
    german_clause = _GERMAN_CLAUSE.fullmatch(fact.strip(" .!"))
    if german_clause is None:
        return _THAT.sub("", fact)
    subject, between, verb = german_clause.groups()
    return f"{subject} {verb} {between}"


def _command_of_sentence(sentence: str) -> str:
    """Return the command that a whole English sentence means; "" if it means none."""
    bare_sentence = sentence.rstrip(" .!?")
    for pattern, command in _WHOLE_SENTENCES:
        match = re.fullmatch(pattern, bare_sentence, re.IGNORECASE)
        if match is not None:
            parameter = match[1] if match.re.groups else ""
            return command.format(parameter or "me")
    return ""


def _command_in_other_language(question: str) -> str:
    """Return the command in "recuerda que toco la guitarra"; "" for "oublie ça" and all else."""
    sentence = clean(question)
    fact = fact_to_remember(sentence)
    if fact and "?" not in question:
        return f"!remember {fact}"
    topic = topic_to_forget(sentence)
    names_something = not FOREIGN_STOPWORDS.issuperset(words(topic))
    return f"!forget {topic}" if topic and names_something else ""


def _remember_or_forget(sentence: str) -> str:
    """Return the command in "remember that I sing" or "forget my drums"; "" for talk."""
    remember = _REMEMBER.fullmatch(sentence)
    if remember is not None:
        fact = remember[remember.lastindex or 0]
        return "" if _TALK.match(fact) else f"!remember {main_clause(fact)}"
    behind = _REMEMBER_BEHIND.fullmatch(sentence.rstrip(" .!"))
    if behind is not None:
        return f"!remember {behind[1] or behind[2]}"
    forget = _FORGET.fullmatch(sentence)
    if forget is None:
        return ""
    topic = forget[forget.lastindex or 0]
    if _NOT_TO_FORGET.search(topic):
        return ""
    if _TALK.match(topic):
        return ""
    topic_words = words(topic)
    names_nothing = bool(topic_words) and _SMALL_WORDS.issuperset(topic_words)
    return "" if names_nothing else f"!forget {topic}"


def _correction(sentence: str) -> str:
    """Return the command that corrects what the bot just said; "" if the sentence does not."""
    if _DELETE.fullmatch(sentence):
        return "!forget that permanently"
    # "forget that" also means "never mind": what is undone can be restored, and the answer says
    # how to delete.
    if _UNDO.fullmatch(sentence) or _UNDO_BEHIND.fullmatch(sentence):
        return "!wrong"
    if denies(sentence):
        return "!wrong"
    change = _CHANGE.fullmatch(sentence)
    if change is not None:
        note = change["id"] or change["german_id"]
        if not note and not change["bare"]:
            note = "that"
        command_words = ("!edit", note, change["text"])
        return " ".join(word for word in command_words if word)
    stop = _STOP_SAYING.fullmatch(sentence)
    return f"!nevermention {stop[1]}" if stop else ""


# ── denials ─────────────────────────────────────────────────────────────────────────────────

# A closed list of small words: any other word makes it another line, for example one with a new
# value. English, and the plainest forms of five more languages.

_DENIED = re.compile(
    r"(?<!not )(?<!isnt )(?<!never )(?<!i was )(?<!im )(?<!i am )(?<!my )"
    r"\b(?:wrong|false|incorrect|untrue|inaccurate|outdated|nonsense|mistake|mistaken|out of date"
    r"|falsch|falso|faux|errado|mentira)\b(?! with)"
    r"|\b(?:not|never|isnt|wasnt) (?:\w+ )?(?:true|right(?! now)|correct|me|mine|any more)\b"
    r"|\b(?:never|didnt|did not) (?:\w+ )?(?:said|say|told|had|did|was|were|have|been)\b"
    r"|\bno longer\b|\b(?:used to|stopped|quit)\Z"
    r"|\b(?:not|dont|doesnt|isnt|arent|aint) (?:\w+ ){0,2}anymore\b"
    r"|\b(?:mixed|mixing) (?:\w+ )?up\b|\bconfus(?:ed|ing)\b"
    r"|\bstimmt nicht\b|\bnicht (?:wahr|mehr)\b"
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
# "you confused me with alice": whoever is meant may have any name.
_WITH_A_NAME = re.compile(
    r"\b(with|not me (?:thats|its|(?:that|it) (?:is|was)|but)) (?!me\b)\w+\Z"
)


def denies(text: str) -> bool:
    """Return whether a line only denies what was just said: "that's wrong", "not anymore".

    A "no" alone does not, because it may be an answer.
    """
    plain_line = " ".join(words(text))
    line = _WITH_A_NAME.sub(r"\1", plain_line)
    line_words = line.split()
    if not _NOT_ABOUT_IT.isdisjoint(line_words):
        return False
    if not _BESIDE_DENIALS.issuperset(line_words):
        return False
    return _DENIED.search(" ".join(line_words)) is not None


# ── facts in the first person ───────────────────────────────────────────────────────────────

# A sentence becomes a fact without its subject: "I play drums" is "plays drums", by just enough
# English. "I" and "my" of a few other languages are known; what cannot be turned stays as it was
# said.

_THIRD = {
    "am": "is",
    "have": "has",
    "do": "does",
    "go": "goes",
    "was": "was",
    "were": "was",
}
_UNCHANGED_VERBS = """
    can cannot could will would shall should may might must used got bought won lost grew quit
    became began ran met made went came saw took gave told said thought felt kept left found
    wrote drove ate drank slept spent sold taught caught broke chose fell flew forgot had heard
    knew learnt paid rode sang swam built did stood understood wore threw brought fought held
    led sent woke
"""
_UNCHANGED = frozenset(_UNCHANGED_VERBS.split())
# Verbs that end like a past tense and are none.
_PRESENT_IN_ED = frozenset({"need", "feed", "breed", "speed"})
_CONTRACTIONS = (
    (re.compile(r"\b[Ii]['’]?[Mm]\b"), "I am"),
    (re.compile(r"\b[Ii]['’]?[Vv][Ee]\b"), "I have"),
    (re.compile(r"\bI have got\b"), "I have"),
    (re.compile(r"\b[Ii] (?:don['’]?t|do not)\b"), "I do not"),
    (re.compile(r"\b[Ii] (?:didn['’]?t|did not)\b"), "I did not"),
    (re.compile(r"\b[Ii] (?:can['’]?t|cannot)\b"), "I cannot"),
    (re.compile(r"\b[Ii]['’]ll\b"), "I will"),
    (re.compile(r"\b[Ii]['’]d\b"), "I would"),
    (
        re.compile(
            r"\b([Mm]y [\w ]{1,30}?)['’]s\b(?= (?:called|named|a|an|the|from)\b)"
        ),
        r"\1 is",
    ),
    (re.compile(r"\bi\b"), "I"),
)
_ADVERBS = (
    "(?:also|always|never|often|usually|mostly|really|only|still|just|actually|now"
    "|no longer)"
)
_OBJECTS = (
    (re.compile(r"\b(?:my|our)\b", re.IGNORECASE), "their"),
    (re.compile(r"\b(?:me|us)\b", re.IGNORECASE), "them"),
    (re.compile(r"\bmyself\b", re.IGNORECASE), "themselves"),
    (re.compile(r"\bmine\b", re.IGNORECASE), "theirs"),
    # "they" has the verb of a plural, of which only "am" and "was" differ from that of "I".
    (re.compile(rf"\bI( {_ADVERBS})? am\b"), r"they\1 are"),
    (re.compile(rf"\bI( {_ADVERBS})? was(n['’]?t)?\b"), r"they\1 were\2"),
    (re.compile(r"\bam I\b"), "are they"),
    (re.compile(r"\bwas I\b"), "were they"),
    (re.compile(r"\bI\b"), "they"),
)


def expand_contractions(text: str) -> str:
    """Return a text with "I'm", "ive", "dont" written out."""
    for pattern, full_form in _CONTRACTIONS:
        text = pattern.sub(full_form, text)
    return text


def third_person(verb: str) -> str:
    """Return a verb as it stands behind "she": plays, has; a past tense or a modal stays."""
    if verb in _THIRD:
        return _THIRD[verb]
    is_past = verb.endswith("ed") and verb not in _PRESENT_IN_ED
    if is_past or verb in _UNCHANGED:
        return verb
    if re.search(r"[^aeiou]y\Z", verb):
        return f"{verb[:-1]}ies"
    if re.search(r"(?:s|x|z|ch|sh)\Z", verb):
        return f"{verb}es"
    return f"{verb}s"


def in_third_person(text: str) -> str:
    """Return a text with "their" for "my", and so on: "my band" is "their band"."""
    for pattern, pronoun in _OBJECTS:
        text = pattern.sub(pronoun, text)
    return text


_ADVERB = re.compile(rf"({_ADVERBS})\s+(.+)", re.IGNORECASE)
_HELPERS = {
    "do not": "does not",
    "am not": "is not",
    "have not": "has not",
    "have never": "has never",
}
_FIRST_PERSON = re.compile(r"\b(?:I|me|my|mine|myself|we|our|us)\b", re.IGNORECASE)
_I = re.compile(r"\b(?:I|my|we|our)\b", re.IGNORECASE)
# None of them is an English word, or a name.
_I_IN_OTHER_LANGUAGES = re.compile(
    r"\b(?:ich|mir|mich|meine?[rnms]?|je|j['’]\w+|moi|mes|tengo|estoy|sono|miei|tenho|estou"
    r"|meus?|minhas?|ik|mijn|jag|jeg|mitt|me (?:gustan?|encantan?|llamo|chamo)"
    r"|jestem|mój|moje|benim|я|меня|мне|мой|моя|моё|мои|мене|мій|моє)\b"
    r"|私|僕|俺|我|나는|저는|난 |제가|내 |제 ",
    re.IGNORECASE,
)
_MINE = re.compile(r"\A(?:my|our)\s+", re.IGNORECASE)
_WE = re.compile(r"\A[Ww]e(?:['’]re)?\s+")
# "plays drums": a fact without its subject, as it was typed.
_WITHOUT_SUBJECT = re.compile(
    r"\A(?:(?:also|always|never|often|usually|really|still|no longer|is|was|has|had|can|cannot"
    r"|does|did|will|used|wants|their|from) "
    r"|(?!this |his |its |whos |whats |thats |lets |yes |always |news )(?-i:[a-z]{2,}s) "
    r"(?!are |is |were ))",
    re.IGNORECASE,
)
# Plural nouns look like verbs ("subs get …"). These are verbs, and say what somebody does.
_CLEAR_VERBS = """
    is was has had can does did used wants likes loves hates lives works plays owns speaks comes
    goes prefers collects studies teaches sings bakes reads watches draws paints knows feels
    drives uses writes codes enjoys dislikes cooks builds supports needs makes learns listens
    grew got
"""
_SURELY_A_PERSON = re.compile(
    rf"\A(?:(?:also|always|never|often|usually|really|still|no longer) [a-z]+s|their|from"
    rf"|{'|'.join(_CLEAR_VERBS.split())}) ",
    re.IGNORECASE,
)
_OUR = re.compile(r"\A(?:our|we)\b", re.IGNORECASE)
_END = re.compile(r"[\s.!,;]+\Z")


_FIRST_WORD = re.compile(rf"\w+?{WORD_END}")


_CALL_ME = re.compile(
    r"(?:please |just |bitte )?(?:you (?:can|may) )?(?:call me|nenn(?:t|e)? mich|i go by)"
    r" (?P<name>(?!when |if |back |later |crazy |a |an )[^\W\d_][\w'’-]{1,24})(?: please| bitte)?",
    re.IGNORECASE,
)


def first_word(text: str) -> tuple[str, str]:
    """Return the first word of a text and the rest: "@bob's cat" gives "bob" and "'s cat".

    It also ends before a letter of a script without spaces: "bobは" gives "bob" and "は".
    """
    stripped = text.strip().removeprefix("@")
    name = _FIRST_WORD.match(stripped)
    end = name.end() if name else 0
    return stripped[:end], stripped[end:]


def own_fact(text: str, *, for_channel: bool = False) -> str | None:
    """Return what a text says about its speaker; None if it does not speak of them.

    `for_channel`: the speaker may also mean the channel. "We" is the channel then, and a text
    without "I" is the speaker's only if it begins with a verb that is no plural noun.
    """
    # Contractions first: the patterns below read "I am", never "im".
    expanded_text = expand_contractions(text.strip())
    sentence = _END.sub("", expanded_text)
    nickname = _CALL_ME.fullmatch(sentence)
    if nickname is not None:
        return f"goes by {nickname['name']}"
    is_in_other_language = _I_IN_OTHER_LANGUAGES.search(sentence) is not None
    if for_channel and _may_mean_channel(sentence):
        return sentence if is_in_other_language else None
    if sentence.startswith("I "):
        return _predicate(sentence[2:].strip())
    if _MINE.match(sentence):
        uncapitalized = sentence[:1].lower() + sentence[1:]
        fact = in_third_person(uncapitalized)
        # "my favourite game is Celeste" is "favourite game is Celeste".
        return re.sub(r"\Atheir (?=fav)", "", fact)
    if _WITHOUT_SUBJECT.match(f"{sentence} "):
        return in_third_person(sentence)
    # A sentence of another language stays as it was said: there is no grammar here for it.
    if is_in_other_language and not _I.search(sentence):
        return sentence
    if _FIRST_PERSON.search(sentence) and not _WE.match(sentence):
        return in_third_person(sentence)
    return None


def _may_mean_channel(sentence: str) -> bool:
    """Return whether a sentence may be about the channel: by "we", or as it has no "I" and no clear verb."""
    if _OUR.match(sentence):
        return True
    if _FIRST_PERSON.search(sentence):
        return False
    return _SURELY_A_PERSON.match(f"{sentence} ") is None


def _predicate(rest: str) -> str | None:
    """Return what follows "I" as it follows "she"; None if nothing does."""
    for helper, third_person_helper in _HELPERS.items():
        if rest.lower().startswith(f"{helper} "):
            behind_helper = rest[len(helper) + 1 :]
            return f"{third_person_helper} {in_third_person(behind_helper)}"
    adverb = _ADVERB.fullmatch(rest)
    if adverb is not None:
        predicate = _predicate(adverb[2])
        return f"{adverb[1].lower()} {predicate}" if predicate else None
    verb, _, behind_verb = rest.partition(" ")
    if not verb:
        return None
    return f"{third_person(verb.lower())} {in_third_person(behind_verb)}".strip()


def fact_about_other(rest: str) -> str:
    """Return what follows somebody's name as a fact: "'s cat is Miso" is "their cat is Miso"."""
    behind_marks = rest.strip().lstrip(":,–—-")
    fact = _END.sub("", behind_marks.strip())
    possessive = re.match(r"['’]s\s+", fact)
    return f"their {fact[possessive.end() :]}" if possessive else fact
