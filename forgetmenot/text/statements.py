"""What a line says about its speaker ("I play drums" becomes "plays drums"), and whether they mean it. Pure.

A line that quotes, supposes, wishes or jokes is no evidence of a fact and corrects nothing. Prefers "not meant" where a
word says so: what is true is said again. Only marks are read (quotation marks, "imagine", "Kappa"). Jokes with a
straight face and talk of the moment are told by a table, some of them (`lasting_claims`). Facts are turned by just
enough English.
"""

import re
from collections.abc import Iterator
from itertools import islice

from forgetmenot.text.classifier import classifier, pieces, share
from forgetmenot.text.sentences import sentences_of

_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|«[^»]*»|„[^“”]*[“”]|(?<!\w)'[^']{6,}'(?!\w)|(?<!\w)‘[^’]{6,}’(?!\w)")
_QUOTES = re.compile(
    r"\b(?:(?:the )?(?:song|lyrics?|line|quote|title|panel|sign|meme|ad|trailer|npc|poem|chorus) (?:\w+ ){0,2}?"
    r"(?:goes|says?|said|was|is|reads?|be like)|be(?:en)? like\b|was like\b"
    r"|(?:i|he|she|they)(?:['’]?m| (?:was|is|were)) like,"
    r"|\w+ (?:told me|always says?|says|said|keeps saying|wrote|typed|tweeted|claims)"
    r"\s*[:,]?\s+(?:that )?(?=i\b|i['’]|my\b)"
    r"|as \w+ (?:says|said|would say)|quote|in the voice of|quoting|impression of)",
    re.IGNORECASE,
)
_SUPPOSED = re.compile(
    r"\b(?:imagine|suppos(?:e|ing)|pretend|what if|even if|if (?:i|my|we|only)\b|maybe|perhaps|might|someday|some day"
    r"|one day|in (?:another|a parallel|my next) (?:life|universe|world)|hypothetically|theoretically|in theory|wish"
    r"|i['’]d|i would|we['’]d|we would|could be|should i|shall i|would be|wouldn['’]?t|thinking (?:of|about)"
    r"|considering|dream(?:t|ed)? (?:that|i)|in my dream|almost (?:bought|got|moved|switched|said)|tempted to"
    r"|(?:wenn|falls) ich|vielleicht|würde|stell dir vor|ojalá|quizás|tal vez|si (?:yo )?fuera|peut-être|si j['’]"
    r"|imagina|talvez|oxalá|se eu|если бы|может быть)(?!\w)",
    re.IGNORECASE,
)
_TURN = re.compile(r",?\s(?:so|but|because|although)\s", re.IGNORECASE)
_JOKED = re.compile(
    r"(?:\A|\s)(?:kappa\w*|keepo|jk|j/k|jkjk|/s|/j|/jk|kidding|4head|megalul\s*jk)(?=\W|\Z)|[♪♫🎵🎶]"
    r"|\b(?:just kidding|only kidding|kidding aside|joking|not really|trust me bro|source: trust me|april fools?"
    r"|yeah,? right|basically|practically|at this point)\b"
    r"|\boh,? (?:yes|yeah|sure|great|joy)\b.{0,30}\b(?:love|adore|enjoy)\b|\bjust (?-i:LOVE|ADORE)\b",
    re.IGNORECASE,
)


def meant_part(text: str) -> str:
    """What of a line its speaker may mean: nothing of a joke, and without what stands in quotes.

    Of a line that supposes, what comes before the "so" or "but" that leads to it ("I'm a nurse so I might be late").
    """
    if _JOKED.search(text) or _QUOTES.search(text):
        return ""
    if supposed := _SUPPOSED.search(text):
        text = text[: max((stop.start() for stop in _TURN.finditer(text, 0, supposed.start())), default=0)]
    return " ".join(_QUOTED.sub(" ", text).split())


def stated_part(text: str) -> str:
    """What of a line its speaker states: as `meant_part`, and nothing of a question."""
    return "" if text.rstrip().endswith("?") else meant_part(text)


_MOPING = re.compile(
    r"(?:\w{2,}ing|pain|sadness|misery|regret|despair|chaos|nothing|everything|nerves|tears)", re.IGNORECASE
)
"""What nobody plays, drives or is called but in a joke about themselves."""


def is_moping(old: str, new: str) -> bool:
    """Whether a new value is a joke about oneself ("mains dying") where the old one was none."""
    before, after = ({word.casefold() for word in re.findall(r"\w+", text)} for text in (old, new))
    return any(map(_MOPING.fullmatch, after - before)) and not any(map(_MOPING.fullmatch, before - after))


_THIRD = {"am": "is", "have": "has", "do": "does", "go": "goes", "was": "was", "were": "was"}
_UNCHANGED_TEXT = """can cannot could will would shall should may might must used got bought won lost grew quit became
    began ran met made went came saw took gave told said thought felt kept left found wrote drove ate drank slept
    spent sold taught caught broke chose fell flew forgot had heard knew learnt paid rode sang swam built did stood
    understood wore threw brought fought held led sent woke"""
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


def plain_first_person(text: str) -> str:
    """The text with "I'm", "ive", "dont" written out."""
    for pattern, full in _CONTRACTIONS:
        text = pattern.sub(full, text)
    return text


def third(verb: str) -> str:
    """The verb after "she": play → plays, have → has; a past tense or a modal stays."""
    if verb in _THIRD:
        return _THIRD[verb]
    if verb in _UNCHANGED or (verb.endswith("ed") and verb not in {"need", "feed", "breed", "speed"}):
        return verb
    if re.search(r"[^aeiou]y\Z", verb):
        return f"{verb[:-1]}ies"
    return f"{verb}es" if re.search(r"(?:s|x|z|ch|sh)\Z", verb) else f"{verb}s"


def about_them(words: str) -> str:
    """What is theirs, seen from outside: "my band" is "their band"."""
    for pattern, other in _OBJECTS:
        words = pattern.sub(other, words)
    return words


# A first-person sentence as a fact: "I play drums" becomes "plays drums". English, and "I" and "my" of a few other
# languages; what cannot be turned is kept as it was said. None where the text is plainly not about its speaker.


_ADVERBS = frozenset(
    ["also", "always", "never", "often", "usually", "mostly", "really", "only", "still", "just", "actually", "now"]
)
_HELPERS = {"do not": "does not", "am not": "is not", "have not": "has not", "have never": "has never"}
_FIRST = re.compile(r"\b(?:I|me|my|mine|myself|we|our|us)\b", re.IGNORECASE)
_I = re.compile(r"\b(?:I|my|we|our)\b", re.IGNORECASE)
_ASKS = re.compile(
    r"(?:what|who|where|when|why|how|which|do|does|did|can|could|should|would|am)\b|.*\?\Z", re.IGNORECASE
)
_I_ABROAD = re.compile(  # no word that is an English one, or a name
    r"\b(?:ich|mir|mich|meine?[rnms]?|je|j['’]\w+|moi|mes|tengo|estoy|sono|miei|tenho|estou|meus?|minhas?|ik|mijn|jag|jeg|mitt"
    r"|me (?:gustan?|encantan?|llamo|chamo)"
    r"|jestem|mój|moje|benim|я|меня|мне|мой|моя|моё|мои|мене|мій|моє)\b|私|僕|俺|我|나는|저는|난 |제가|내 |제 ",
    re.IGNORECASE,
)
_TO_SOMEBODY = re.compile(r"\A@\w+[,:]?\s+")
_MINE = re.compile(r"\A(?:my|our)\s+", re.IGNORECASE)
_WE = re.compile(r"\A[Ww]e(?:['’]re)?\s+")
_THIRD_TOLD_FACTS = re.compile(
    r"\A(?:(?:also|always|never|often|usually|really|still|no longer|is|was|has|had|can|cannot|does|did|will|used|wants"
    r"|their|from) "
    r"|(?!this |his |its |whos |whats |thats |lets |yes |always |news )(?-i:[a-z]{2,}s) (?!are |is |were ))",
    re.IGNORECASE,
)
# Plural nouns look like verbs ("subs get …"): these words are verbs, and say without "I" what somebody does.
_SURE_VERBS_TEXT = """is was has had can does did used wants likes loves hates lives works plays owns speaks comes goes
    prefers collects studies teaches sings bakes reads watches draws paints knows feels drives uses writes codes enjoys
    dislikes cooks builds supports needs makes learns listens grew got"""
_SURELY_A_PERSON = re.compile(
    rf"\A(?:(?:also|always|never|often|usually|really|still|no longer) [a-z]+s|their|from"
    rf"|{'|'.join(_SURE_VERBS_TEXT.split())}) ",
    re.IGNORECASE,
)
_OUR = re.compile(r"\A(?:our|we)\b", re.IGNORECASE)
_END = re.compile(r"[\s.!,;]+\Z")


def first_word(text: str) -> tuple[str, str]:
    """The first word of a text, and the rest: "@bob's cat" gives "bob" and "'s cat"."""
    stripped = text.strip().removeprefix("@")
    name = re.match(r"\w*", stripped)
    end = name.end() if name else 0
    return stripped[:end], stripped[end:]


def own_fact(text: str, *, for_channel: bool = False) -> str | None:
    """What a text says about its speaker; None if it does not speak of them.

    `for_channel`: the speaker may also mean the channel. "We" is the channel then, and a text without "I" is the
    speaker's only where it begins with a verb that is no plural noun.
    """
    # contractions first: the patterns below read "I am", never "im"
    sentence = _END.sub("", plain_first_person(text.strip()))
    if for_channel and (
        _OUR.match(sentence) or not (_FIRST.search(sentence) or _SURELY_A_PERSON.match(f"{sentence} "))
    ):
        return sentence if _I_ABROAD.search(sentence) else None
    if sentence.startswith("I "):
        return _predicate(sentence[2:].strip())
    if _MINE.match(sentence):
        return re.sub(r"\Atheir (?=fav)", "", about_them(sentence[:1].lower() + sentence[1:]))
    if _THIRD_TOLD_FACTS.match(f"{sentence} "):
        return about_them(sentence)
    if _I_ABROAD.search(sentence) and not _I.search(sentence):
        return sentence
    return about_them(sentence) if _FIRST.search(sentence) and not _WE.match(sentence) else None


def said_of_oneself(line: str) -> str | None:
    """The fact in a line of chat that was meant for nobody's memory: in the first person, and no question."""
    sentence = _TO_SOMEBODY.sub("", line.strip())
    return None if _ASKS.match(sentence) or not _I.search(plain_first_person(sentence)) else own_fact(sentence)


def _predicate(rest: str) -> str | None:
    """What follows "I", after "she"."""
    for helper, other in _HELPERS.items():
        if rest.lower().startswith(f"{helper} "):
            return f"{other} {about_them(rest[len(helper) + 1 :])}"
    verb, _, more = rest.partition(" ")
    if verb.lower() in _ADVERBS:
        inner = _predicate(more.strip())
        return f"{verb.lower()} {inner}" if inner else None
    if rest.lower().startswith("no longer "):
        inner = _predicate(rest[len("no longer ") :])
        return f"no longer {inner}" if inner else None
    return f"{third(verb.lower())} {about_them(more)}".strip() if verb else None


def others_fact(rest: str) -> str:
    """What follows somebody's name: "'s cat is Miso" becomes "their cat is Miso"; the rest stays."""
    words = _END.sub("", rest.strip().lstrip(":,–—-").strip())
    owned = re.match(r"['’]s\s+", words)
    return f"their {words[owned.end() :]}" if owned else words


# What a line claims of its speaker, lastingly. Deliberately narrow: what is not clearly so gives nothing. Never more
# than seven words of a line in a row: a summary does not quote.


MOST_CLAIM_WORDS, MOST_CLAIMS_READ = 7, 8
LASTS = 0.4
"""So sure it must be that a claim lasts: tests/text/test_statements.py has the rates."""
PETS = "cat|dog|parrot|bird|rabbit|hamster|horse|fish|snake|turtle|kitten|puppy|pet"
_LASTING_WORDS = """
    live work play moved own like love hate enjoy prefer study studied speak collect started quit stopped finished
    graduated bought adopted married teach bake cook draw paint write sing stream drive main grew used run swim climb
    ski hike knit sew brew garden dance mod speedrun practice practise train build lived worked played learned learnt
    joined left became travel commute race keep volunteer make repair restore fix raise breed ride sail surf skate cycle
    jog fish hunt crochet weld carve design compose perform film foster rent manage coach translate smoke drink eat
    watch read follow dislike"""
LASTING = frozenset(_LASTING_WORDS.split())
_NO_OBJECT = ("it", "that", "this", "how", "when", "him", "her", "them", "sure")
_SENTENCE = re.compile(r"(?P<mark>[.!?;:]+)(?:\s+|\Z)|\s[-–—]+\s|[()\"“”]")
_START = re.compile(r"(?:(?<=\s)|(?<=,)|\A)(?=(?:I|my|My)\s)")
_STOP = re.compile(
    r",|\s(?:so|but|because|since(?! \d)|if|when|while|which|though|btw|by the way|lol|haha|xd|unless|until)\b"
    r"|\sand\s(?=(?:I|my|our|he|she|it|we|you|they|the|that|there|this|can|could|will|would|am|have|now|no\w+|every\w+)\b)"
    r"|\s(?:you|your|ur|u)\b|(?<! do)(?<! am)(?<! did)(?<! have)(?<! is)(?<! are)\snot\b",
    re.IGNORECASE,
)
_NOT_CLAIMED = re.compile(
    r"\b(?:if|when|wish|thinks?|says?|said|whether|imagine|how|why|then|may|can|do|did|should|could|would|must|have|was"
    r"|were|after|before|once)\s+\Z",
    re.IGNORECASE,
)
_LEADS = re.compile(r"(?:do not|no longer|still|always|never|only)\s+")
_ADVERB = re.compile(
    r"\A(?:just|really|actually|also|mostly|currently|recently|finally|do(?=\s(?!not\b)\w+\s\w))\s+", re.IGNORECASE
)
_EMOTES = re.compile(r"(?:\s+(?:[a-z]{2,}[A-Z]\w*|[A-Z]{4,}\w*|LUL\w*|Pog\w*|Kappa\w*|Sadge|:\w*|<3|[^\w\s]+))+\Z")
_TRAILING = re.compile(
    r"(?:\s+(?:(?:right )?now|too|(?:over )?here"
    r"|an?|the|and|or|of|to|in|on|at|with|for|from|by|their|is|called|named))+\Z"
)
_SPECIAL = {
    "am": re.compile(
        r"(?:an?\s(?!bit|little|lot|mess|fan of)|from\s|(?:learn|study|train|writ)ing\s|working\s(?:as|on|at|in)\s"
        r"|allergic\s|afraid\sof\s|vegan\b|vegetarian\b|left[- ]handed|married|engaged|not a fan\s)"
    ),
    "have": re.compile(
        r"(?:an?|one|two|three|four|\d+|(?:\w+\s)?practice on)\s(?!bit|few|lot|question|idea|plan)"
        r"|been (?:an?|\w+ing)\s.*\b(?:for .*(?:years|months)|since \d)"
        rf"|(?:\w+ )?(?:kids|children|twins|daughters|sons|brothers|sisters|{PETS.replace('|', 's|')}s)\b"
    ),
    "cannot": re.compile("stand "),
    "moved": re.compile(r"(?!on\b|past\b)"),
    "was": re.compile("born "),
    "come": re.compile("from "),
    "used": re.compile("to "),
}
_MY_OWN = re.compile(
    rf"\A[Mm]y\s(?P<what>fav(?:ou?rite)?\s[\w' -]{{2,25}}?|(?:\w+\s)?(?:{PETS}|wife|husband|partner|brother|sister"
    r"|mum|mom|dad|son|daughter|car|bike|van|job|main|band|birthday|hometown))\s(?P<verb>is|are|plays|works|lives)\s"
    r"(?P<rest>(?!so\b|very\b|too\b|not\b|here\b|(?<!job is )\w+ing\b).+)\Z"
)
_NAMED = re.compile(
    rf"\bI (?:[\w ]{{2,40}}? an? (?P<known>{PETS}|band)"
    r"|(?:\w+ )?(?:have|own|got|adopted|bought) [\w ,]{0,30}?\ban? (?P<any>\w+))"
    r" (?:called|named) (?P<name>[A-Z][\w'’-]*(?: [A-Z][\w'’-]*){0,3})"
).finditer
_NO_SUBJECT = re.compile(
    r"\A(?:(?:just|finally|recently|honestly|also|oh|ok|lol|hey|well|tbh|yeah),? )*"
    r"(?=(?P<been>been )|(?P<am>allergic to |vegan\b|vegetarian\b)"
    r"|moved to (?!the )|quit my |can['’]?t stand |hate (?!on )|prefer |grew up |(?:learned|started) \w+ing )",
    re.IGNORECASE,
)
_LINKS = frozenset(
    ["and", "or", "of", "to", "in", "on", "at", "with", "for", "from", "by", "near", "about", "since", "that", "as"]
)
_MONTH = r"(?:jan|febr)uary|march|april|may|june|july|august|(?:sept|nov|dec)ember|october"
_WHEN = (
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?|every|each|daily|weekly|monthly|\d{1,2}(?::\d\d)?(?: ?[ap]m)"
    rf"|(?:{_MONTH}) \d{{1,2}}(?:st|nd|rd|th)?|\d{{1,2}}(?:st|nd|rd|th)?(?: of)? (?:{_MONTH})"
)
_ANNOUNCED = re.compile(
    r"\A(?P<fact>(?:the )?(?!(?:i|we|my|you|it|this|that|there|he|she|they|what|next|who)\b)(?:"
    rf"[a-z][a-z' -]{{2,30}}? (?:is|are|happens|starts?) (?:on|at|every|each)\b[\w:' ]*?\b(?:{_WHEN})\b[\w:' ]*?"
    r"|(?:subs|subscribers|vips|members|followers|raiders|gifters) (?:get (?:an?|the|their|free|\d+)|can|may)"
    r" [\w' ]{4,60}?"
    r"|(?:sub|follower|bits?|donation|channel) goal is [\w' ]{2,60}?|schedule is [\w', ]{4,80}?"
    r"))(?: from (?:now|today|tomorrow|next \w+) on)?(?:,(?! \w+days)[^,]*)?"
    r"(?: (?:btw|by the way|guys|chat|everyone))*[.! ]*\Z",
    re.IGNORECASE,
)
_ROLE = re.compile(r"\b(?:mod|moderator|admin|owner|streamer|broadcaster|vip|your)\b|[\[{<]", re.IGNORECASE)


def claims(text: str) -> list[str]:
    """What the speaker says about themselves, without subject: "lives in Oslo", "'s cat is called Miso"."""
    meant = _NO_SUBJECT.sub(lambda it: "I have " if it["been"] else "I am " if it["am"] else "I ", meant_part(text))
    meant = plain_first_person(meant)
    found = [
        *(_claim(clause) for clause in _clauses(meant)),
        *(f"'s {it['known'] or it['any']} is called {it['name']}" for it in _NAMED(meant)),
    ]
    return list(dict.fromkeys(claim for claim in found if claim and not _ROLE.search(claim)))


def lasting_claims(text: str) -> list[str]:
    """Those claims of a line that are worth knowing on another day: no jokes, nothing of the moment.

    A table tells them apart, where it can: scripts/train_classifiers.py, trained on scripts/classifiers/lasting.tsv.
    """
    table = classifier("lasting")
    return [one for one in claims(text) if share(table.sum_of("lasting", pieces(fact_of(one)))) >= LASTS]


def announcements(text: str) -> list[str]:
    """What a line says of the channel: when something happens, what subscribers get, what the goal is."""
    found = (_ANNOUNCED.match(sentence) for sentence in sentences_of(meant_part(text)))
    return [one["fact"].strip() for one in found if one]


def _clauses(text: str) -> Iterator[str]:
    """From each "I" or "my" to where the claim ends; questions and suppositions give none."""
    at = 0
    for stop in [*_SENTENCE.finditer(text), None]:
        sentence = text[at : stop.start() if stop else len(text)]
        at = stop.end() if stop else at
        if stop and "?" in (stop["mark"] or ""):
            continue
        for start in islice(_START.finditer(sentence), MOST_CLAIMS_READ):
            if not _NOT_CLAIMED.search(sentence[max(0, start.start() - 20) : start.start()]):
                yield _STOP.split(sentence[start.start() :], maxsplit=1)[0]


def _claim(clause: str) -> str | None:
    if mine := _MY_OWN.match(clause):
        what = re.sub(r"\Afav\b|\Afavorite\b", "favourite", about_them(mine["what"]))
        return _short(f"'s {what} {mine['verb']}", mine["rest"])
    if not clause.startswith("I "):
        return None
    rest = _ADVERB.sub("", clause[2:].strip())
    denied = _LEADS.match(rest)
    lead = denied[0].replace("do not", "does not") if denied else ""
    rest = rest[denied.end() :] if denied else rest
    verb, _, rest = rest.partition(" ")
    verb, rest = verb.lower(), rest.strip()
    lasting = verb in LASTING and rest and not rest.lower().startswith(_NO_OBJECT)
    if _SPECIAL[verb].match(rest + " ") if verb in _SPECIAL else lasting:
        return _short(lead + (verb if lead == "does not " else third(verb)), rest)
    return None


def _short(verb: str, rest: str) -> str | None:
    """The claim cut to a few words, at a phrase where there is one."""
    room = MOST_CLAIM_WORDS - len(verb.removeprefix("'s ").split())
    # an emote at the end is no part of what is claimed, and neither is a word that waits for the next one
    words = _EMOTES.sub("", f" {about_them(rest)}").split()
    if len(words) > room and words[room].lower() not in _LINKS:  # in the middle of a phrase: none of it
        room = max((at for at in range(1, room) if words[at].lower() in _LINKS), default=room)
    kept = " ".join(words[:room])
    kept = _TRAILING.sub("", f" {kept}").strip(" ,'-*~")
    return f"{verb} {kept}" if kept else None


_OWN_FORMS = (
    (re.compile(r"((?:\w+ )?\w+) is (?:called|named) (.+)\Z"), r"has a \1 called \2"),
    (re.compile(r"main is (.+)\Z"), r"mains \1"),
    (re.compile(r"(?:car|van|bike) is (an? .+)\Z"), r"drives \1"),
    (re.compile(r"job is (an? .+)\Z"), r"works as \1"),
)


def fact_of(claim: str) -> str:
    """A claim as a note says it: "'s cat is called Miso" is "has a cat called Miso"."""
    if not claim.startswith("'s "):
        return claim
    what = claim.removeprefix("'s ")
    form = next((one for one in _OWN_FORMS if one[0].match(what)), None)
    return form[0].sub(form[1], what) if form else what if what.startswith("favo") else f"their {what}"
