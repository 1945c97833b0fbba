"""Tables of English for reading facts: data without behaviour, so that `reading` and `slots` stay short.

Words are in lower case, without apostrophes. Phrases are matched as whole words, the longest first.
"""

from forgetmenot.text.words import stem

NOT, NEVER, ENDED, ANYMORE, LIKE, DISLIKE = "¬", "¬never", "¬ended", "¬anymore", "+like", "-like"
ALSO, AIM = "&also", "&aim"
"""Markers that a phrase is rewritten to; no word looks like them."""


def as_set(text: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(text.split())


_PHRASES = {
    ("eager",): "cant wait, cannot wait, can not wait",
    (LIKE,): """cant get enough of, cant stop, cannot stop, cant live without, never gets tired of, a fan of, fan of,
        big fan of, a big fan of, a huge fan of, into, fond of, obsessed with, crazy about, in love with, a sucker
        for, keen on, addicted to, passionate about, has a soft spot for, really into""",
    ("attend",): "never misses, never missed, hasnt missed, does not miss, doesnt miss, was at, was there for",
    ("nohit",): "no hit, no death, no damage",
    (): """not only, no matter, no doubt, no problem, no cap, why not, whether or not, one day, someday, at some
        point, a parent of, father of, mother of, dad of, mom of, dream is to be, dream is to become, dreams of
        becoming, dreams of being, wants to become, a member of, member of""",
    (DISLIKE,): """cant stand, cannot stand, can not stand, cant bear, not a fan of, isnt a fan of, no fan of, isnt
        into, not into, sick of, tired of, fed up with, not keen on, isnt keen on, could do without""",
    (ENDED,): """used to, use to, no longer, no more, gave up on, gave up, given up on, given up, giving up, moved
        away from, moved out of, moved on from, dropped out of, broke up with, moved out from, dropped out, graduated
        from, once was, was once, got rid of, rage quit, is done with, done with, is over, grew out of, got over, was
        a, was an, is an ex, is a former, is a retired, retired from, split up with, swore off, ragequit, quit, quits,
        quitting, stopped, stops, dropped, abandoned, uninstalled, former, formerly, previously, ex, retired, sold,
        cancelled, canceled, discontinued, lost interest in, unfollowed""",
    (NOT,): """does not, do not, did not, is not, are not, was not, has not, have not, will not, would not, could not,
        can not""",
    (ANYMORE,): "not anymore, any more, anymore, any longer",
    ("most",): "no more than",
    (AIM,): """looking for, saving up for, saving up to buy, saving for, saving to buy, waiting for, hunting for,
        wants to buy, wants to get, plans to buy, plans to get, hopes to buy, hopes to get, in search of, planning to
        buy, planning to get, hoping to buy, hoping to get, going to buy, going to get""",
    ("aspire",): "want to be, wants to be, hopes to become, aspires to be",
    (ALSO,): "as well, also, too, another, additionally, a second, both, on top of that, besides",
    ("league",): "league of legends",
    ("compsci",): "computer science, comp sci",
    ("study", "compsci"): "cs student, cs major",
    ("game",): "video games, video game, videogame, videogames",
    ("gamedev",): "game developer, game dev, game development",
    ("vegetarian",): "does not eat meat, doesnt eat meat, dont eat meat, eats no meat, never eats meat",
    (NOT, "vegetarian"): "eats meat, eat meat",
    ("ps",): "play station, playstation",
    ("wow",): "world of warcraft",
    ("cs",): "counter strike, counterstrike",
    ("usa",): "united states, united states of america, the states, america",
    ("uk",): "united kingdom, great britain, britain",
    ("pb",): "personal best, best time, personal record",
    ("parttime",): "part time",
    ("fulltime",): "full time",
    ("nightowl",): "night owl, late riser, late sleeper",
    ("earlybird",): "early bird, early riser",
    ("best", "friend"): "best friends, bff, bestie",
    ("run",): "is in charge of, runs",
}
PHRASES: dict[tuple[str, ...], tuple[str, ...]] = {
    tuple(phrase.split()): marks for marks, phrases in _PHRASES.items() for phrase in phrases.split(",")
}
"""What phrases are rewritten to: likings and their opposite, ends, wishes, several names of one thing."""

NEGATIONS = as_set(
    """not no without cant cannot dont doesnt didnt isnt arent aint wasnt werent wont wouldnt couldnt shouldnt
    hasnt havent hadnt neither nor none nothing nobody nowhere hardly rarely seldom barely refuses refused
    failed fails avoids avoid lacks unable"""
)
LIKES = as_set(
    """like likes liked liking love loves loved loving enjoy enjoys enjoyed enjoying adore adores adored fancies digs
    appreciates fan"""
)
DISLIKES = as_set(
    """dislike dislikes disliked hate hates hated hating despises despise detests detest loathes loathe
    abhors dreads dread dreaded"""
)
FILLER = as_set(
    """a an the is are am was were be been being has have had having do does did done will would can could should
    may might must of to in on at for with from by as and or but so that this these those it its they them
    their theirs he him his she her hers who which what when where there here just really very quite
    pretty super totally actually literally definitely absolutely probably maybe still yet now currently
    nowadays lately recently already always often usually sometimes every each all some any own owns owned
    owning got get gets getting gotten s t re ve ll m d into onto up out about over since ago than then
    even ever more most much many lot lots bit kind sort thing things years year today tonight soon huge
    big biggest massive once new newly finally apparently currently days while if because how himself
    herself themselves myself self u ur im ive id youre one's generally mostly mainly basically also again
    regularly constantly frequently typically sure quickly"""
)
LIGHT_VERBS = as_set(
    """+like play watch work make go want try take use find see think say know plan start come keep need call
    name hope look become stream attend live do feel talk give tell seem own date time"""
)
"""Stems that say little alone: half the weight of a noun."""
TELLING = as_set("+like want hope plan live date")
"""Those of them that make another fact of it all the same: to want a dog, to like dogs, to have a dog."""

EVENTS = as_set(
    """gift donat cheer raid tip gave give bought buy sent send visit attend saw watch went beat clip host
    post request redeem met"""
)
"""Stems and forms of things that happen more than once: another number or place is another time, not a correction."""

_NUMBER_WORDS = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
sixteen seventeen eighteen nineteen twenty"""
_TENS = "thirty forty fifty sixty seventy eighty ninety"
_ORDINALS = "first second third fourth fifth sixth"
NUMBERS: dict[str, str] = {
    **{word: str(value) for value, word in enumerate(_NUMBER_WORDS.split())},
    **{word: str(10 * value) for value, word in enumerate(_TENS.split(), 3)},
    **{word: str(value) for value, word in enumerate(_ORDINALS.split(), 1)},
    "hundred": "100",
    "thousand": "1000",
    "million": "1000000",
    "dozen": "12",
    "couple": "2",
    "single": "1",
    "twice": "2",
    "pair": "2",
    "ii": "2",
    "iii": "3",
    "iv": "4",
    "vi": "6",
    "vii": "7",
    "viii": "8",
    "ix": "9",
}

_SAME = """play: player players; height: tall; lol: league; day: daily; week: weekly; night: nightly; kid: children
    child kids son daughter; beat: finished finish finishes completed complete completes beaten cleared defeated
    beats; get: adopted bought purchased acquired received picked; movie: films film movies cinema; break: broke
    broken breaks fractured; win: won wins winning victory; lose: lost loses losing; begin: start started starts
    began; make: made makes making creates created builds built building assembled build create; speedrun: speedrunner
    speedruns speedrunning; drum: drummer drummers drumming; guitar: guitarist; bass: bassist; piano: pianist; paint:
    painter paints painting; program: programmer programming coder coding codes developer dev; write: wrote writer
    writes writing author; run: ran runner running; teach: taught teacher teaches teaching; uni: university college;
    tv: television; bike: bicycle cycling cyclist biking bikes; allergy: allergic allergies; sub: subbed subscribed
    subscriber subs; drink: drank drinks drinking; eat: ate eats eating; sing: sang sings singing singer; swim: swam
    swims swimming swimmer; dog: puppy dogs; cat: kitten kittens cats; mom: mother mum; dad: father; pc: computer;
    photo: photography photographer photos; mod: moderator mods moderators; plan: plans planning planned; study:
    studies studying studied student; live: lives living lived resides residing based; favourite: favorite fav fave
    favorites; bday: birthday; colour: color; job: profession occupation; boyfriend: bf; girlfriend: gf; afraid:
    scared fear fears terrified; go: went goes going gone travelled traveled travels travelling traveling travel;
    call: called named calls; terrible: awful horrible; great: awesome amazing excellent fantastic; speak: spoke
    speaks speaking; football: soccer; switch: switched swapped; month: months; hour: hours hrs hr; minute: minutes
    mins min; meet: met meets; know: knew known; see: saw seen sees; give: gave given gives; sell: sold sells
    selling"""
SAME: dict[str, str] = {}
for _group in _SAME.split(";"):
    _canonical, _aliases = _group.split(":")
    SAME |= dict.fromkeys((*_aliases.split(), _canonical.strip()), _canonical.strip())
"""Words that say the same in a short fact, inflections that the stemmer does not know included."""

_OPPOSITES = """morning night|morning evening|day night|cat dog|left right|early late|earlybird nightowl
oldest youngest|introvert extrovert|introverted extroverted|win lose|good bad|good terrible|great bad
great terrible|best worst|easy hard|easy difficult|hot cold|first last|big small|tall short|long short
fast slow|old young|older younger|rich poor|open closed|online offline|public private|employed unemployed
parttime fulltime|single married|single taken|married divorced|happy unhappy|light dark|indoor outdoor
indoors outdoors|north south|east west|summer winter|coffee tea|pc console|pc mobile|pc xbox|ps xbox
mouse controller|keyboard controller|male female|buy sell|solo team|casual competitive|ranked unranked
tank healer|tank dps|tank support|healer dps|top mid|top jungle|mid jungle|weekdays weekends
remote office|windows linux|windows mac|linux mac|iphone android|sweet salty|vegan carnivore
optimist pessimist|sober drunk|alive dead|rent own|loud quiet|messy tidy|clean dirty|horde alliance
inverted normal|on off|always never|everything nothing|glasses contacts|red blue|pass fail|agree disagree
accept reject|arrive leave|join leave|trust distrust|for against|strong weak|cheap expensive
safe dangerous|spicy mild|healthy unhealthy|beginner expert|amateur professional|support oppose
boring exciting|boring fun|brave afraid|calm nervous|confident shy|honest dishonest|overrated underrated
start end|inside outside|high low|better worse|junior senior"""
OPPOSITES: dict[str, set[str]] = {}
"""What each stem excludes, as stems."""
for _pair in _OPPOSITES.replace("\n", "|").split("|"):
    _one, _other = _pair.split()
    _stems = stem(SAME.get(_one, _one)), stem(SAME.get(_other, _other))
    OPPOSITES.setdefault(_stems[0], set()).add(_stems[1])
    OPPOSITES.setdefault(_stems[1], set()).add(_stems[0])

_PURSUITS = """learn study practise practice train attend join build write read drink eat smoke vape date collect
    speedrun teach coach drive sing dance paint grow"""
PURSUITS = frozenset(stem(SAME.get(word, word)) for word in as_set(_PURSUITS))
"""Stems of what somebody does for a while, and then no more."""
CHILDREN = frozenset(map(stem, ("baby", "kid")))
"""Stems of those whom one has had and has: "had a baby"."""
REACHED = as_set("has owns got bought found received adopted")
"""Words that say that somebody has what they were after."""

GROUPS = as_set("band team guild clan group army navy company club choir orchestra crew course job church party")
"""What one leaves for good: "left the volleyball team"."""
ABSENCES = as_set("holiday holidays vacation break hiatus leave trip")
"""What one comes back from."""
COURSES = as_set(
    """school degree apprenticeship course courses thesis university college training studies internship building
    writing making reading painting knitting sewing learning studying watching playing"""
)
"""What is over when it is finished: "finished the course", "finished building it"."""

_KEY_WORDS = """favourite favorite timezone birthday works lives lived moved married engaged divorced named called
works worked working studies studying hometown pronouns doesnt didnt hasnt never stopped
anymore allergic vegetarian collects speedruns dislikes prefers supports quitting"""
KEY_WORDS: dict[str, tuple[str, ...]] = {}
"""By first letter: words that decide what a fact says, and are read also where a finger slipped."""
for _word in dict.fromkeys(_KEY_WORDS.split()):
    KEY_WORDS[_word[0]] = (*KEY_WORDS.get(_word[0], ()), _word)
KNOWN = frozenset(SAME) | FILLER | LIKES | DISLIKES | NEGATIONS | frozenset(NUMBERS)
"""Words that are no slip of another."""
