"""The phrases behind `sensitive`: one table of patterns per category, over text in lower case and Latin letters.

Data without behaviour. `BANTER` is taken out of a text first: talk of games and jokes that only sound sensitive. Street
addresses are written as in several countries: a house number has to stand where its country puts it; where the words
mean other things as well ("via", "park"), the clause has to end with it.
"""

import re

from forgetmenot.text.clean import skeleton


def _any(words: str) -> str:
    """One of these words, as `skeleton` makes them."""
    return f"(?:{'|'.join(re.escape(skeleton(word)) for word in words.split())})"


# No. 5, nº 5, house 5, д. 5, # 5
_NO = rf"(?:{_any('no nr n num number numero numer house haus casa dom d дом д')}\b[.:]? ?|[#n][°o]? ?)?"
_TIMES = _any("times fois mal veces vezes volte keer razy раз gånger ganger kertaa kez")
_HOUSE = rf",? ?{_NO}(?!(?:19|20)\d\d\b|24/7)\d{{1,5}} ?(?:[a-d]|bis|ter)?\b(?:[/-]\w{{1,4}}\b)?(?! ?{_TIMES}\b)"
_CLAUSE_ENDS = (
    r"(?= ?$| ?[.,;:)!?·\"]| (?:in|a|i|en|w|v|e|y|et|und|and|near|is|ist|est|apt|suite|flat|room|piso|int|st|street|"
    r"above|below|behind|opposite|under|across|next|where|lol|today|tonight|tomorrow|now|if|when|after|before|until|since|"
    r"please|apto|ap|bloco|bl|sala|andar|lote|quadra|esc|escalera|puerta|interno|scala|etage|wohnung|whg|kat|daire|"
    r"\d{4,6})\b| ?m\. ?\d)"
)
_NO_NAME = _any(
    "a al and at aux avec bei by c con com da dal dans de del der des desde depuis di do du e em en er et for för "
    "from fun gegen gli has her his ich il in is its je just la las le lo los más mas med met mais mein meu mi "
    "mit mon mot my na ne no not od of om on only or os ou over para per plus por pour pro que sa seit sin since "
    "sinds som su than that the their this til to und unter up van von was we when who with y you z za zum zur "
    "die das dem den eine einer floor level stage season episode part chapter kapitel round rank place top day "
    "week number page boss world map act wave"
)
_NAME = (
    rf"(?<![\w'.-])(?!{_NO_NAME}\b)(?=[\d'.-]{{0,9}}[^\W\d])[\w'.-]{{1,30}}"  # may stand right before a house number
)
# Lindenweg 7; Storgatan 12; Mannerheimintie 30
_STREET_GLUED = _any(
    "strasse str str. gasse weg allee platz ufer chaussee brücke straat laan gracht kade singel gatan vägen vegen "
    "veien gade vej stræde katu intie kuja vegur braut damm graben stieg twiete gränd gaten torget torg platsen "
    "stigen backen bakken vænget steeg dreef polku kaari zeile"
)
_NO_STREET = _any(
    "brigade renegade blockade unterweg umweg rückweg heimweg ausweg parkplatz arbeitsplatz startplatz sitzplatz"
)
# Petőfi utca 6; Atatürk Caddesi No: 12
_STREET_AFTER = _any(
    "strasse straße str. gasse allee straat laan plein utca út tér körút krt. náměstí улица проспект переулок "
    "бульвар шоссе набережная площадь u. útja rkp. caddesi cad. sokak sok. bulvarı mahallesi tee puiestee vej "
    "gade gränd väg"
)
# rue de la Paix 24; ul. Polnej 8
_STREET_BEFORE = _any(
    "rambla lungotevere lungarno v.le p.zza p.za os. osiedle calea bulevardul jalan jl. jr. вул. вулиця бульвар "
    "площадь пл. λεωφ. rue avenue av. avda. avenida viale piazza piazzale vicolo travessa rua ulica ulicy ul. "
    "aleja alei ulici ulice chemin allée impasse quai calle c/ paseo praça улица улице улицу ул. проспект "
    "проспекте пр-т пр. переулок пер. шоссе набережная λεωφόρος οδός str."
)
# via Roma 8, but: via discord 3 times
_STREET_PERHAPS = _any(
    "via corso strada largo camino route cours passage plaza plac pl. ronda bd bd. boulevard strasse al. av r. "
    "montée ruelle đường phố alameda carrer estrada urbanización carretera contrada borgo fondamenta salita "
    "sentier hameau lotissement شارع רחוב ถนน"
)
_WITH = _any("mit avec con com met med z seit depuis desde sinds od с")
_LIVES = _any(
    "wohnt wohne wohnen wohnhaft habite habitent habitons demeure vive vivo vivimos viven reside moro mora moram "
    "abito abita abitano woon woont wonen mieszkam mieszka mieszkają живу живёт живет проживаю проживает bor "
    "bydlím bydlí asun asuu lakom lakik lakcímem wohn zieht gezogen przeprowadził przeprowadziła przeprowadzam się "
    "переехал переехала taşındı taşındım mudei mudou emménagé traslocato mudó verhuisd adresse adres adresa adress "
    "dirección indirizzo endereço морада "
    "адрес anschrift osoite oturuyorum"
)
_STATE = _any(
    "al ak az ar ca co ct de fl ga hi id il in ia ks ky la me md ma mi mn ms mo mt ne nv nh nj nm ny nc nd oh ok "
    "or pa ri sc sd tn tx ut vt va wa wv wi wy dc"
)
_CITY = _any(  # in its own language and in English
    "london manchester birmingham leeds glasgow edinburgh dublin paris lyon marseille toulouse nice bordeaux lille "
    "berlin hamburg münchen munich köln cologne frankfurt stuttgart düsseldorf leipzig dresden wien vienna graz "
    "zürich genève basel bern amsterdam rotterdam utrecht bruxelles brussel antwerpen madrid barcelona valencia "
    "sevilla lisboa porto roma milano napoli torino firenze bologna athina athens thessaloniki istanbul ankara izmir "
    "warszawa kraków wrocław gdańsk poznań praha prague brno budapest bucurești bucharest sofia beograd zagreb kyiv "
    "kiev lviv moskva moscow москва санкт-петербург stockholm göteborg malmö oslo bergen københavn copenhagen "
    "helsinki toronto montreal vancouver sydney melbourne chicago boston seattle são rio bogotá lima santiago méxico "
    "tokyo osaka seoul busan mumbai delhi jakarta"
)
_DIGIT = "(?:one|two|three|four|five|six|seven|eight|nine|oh)"
_NUMBER_WORD = (
    f"(?:ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen|(?:{_DIGIT}[ -]){{1,3}}{_DIGIT}|(?:twen|thir|"
    f"for|fif|six|seven|eigh|nine)ty(?:[ -]{_DIGIT})?)"
)
_STREET = r"(?:street|road|rd|lane|avenue|ave|drive|close|crescent|terrace|boulevard|blvd)\b"
# After a number, and only where the clause ends: they mean other things as often.
_OTHER_STREETS = (
    " (?:gardens?|grove|way|walk|view|hill|park|square|sq|place|pl|row|mews|circle|cir|trail|loop|parade|quay|wharf|"
    "rise|gate|green|heights|point|ridge|meadows?|parkway|pkwy|highway|hwy|dr|ct|plaza|crossing|esplanade|vale|"
    r"villas|cottages|buildings|wynd|brae|circus|expressway|turnpike|yard)\b" + _CLAUSE_ENDS
)
_PART = rf"(?: (?!(?:way|more|out|times|people|points|{_NO_NAME})\b)[\w'.]{{2,30}})"
_STREET_NAME = rf"(?!(?:sesame|wall|jump|elm|fear|memory) )\b[a-z][\w'-]{{1,30}} {_STREET}"
_WORD = r"(?: [\w'.-]{1,30})"
_STREET_ADDRESSES = (
    # Lindenweg 7; Petőfi utca 6; Kongens gate 8
    rf"\b(?!{_NO_STREET})\w{{3,30}}{_STREET_GLUED}{_HOUSE}",
    rf"{_NAME} {_STREET_AFTER}{_HOUSE}",
    rf"(?<!\w)(?!baldur'?s |steins ){_NAME} gate{_HOUSE}{_CLAUSE_ENDS}",
    # rue de la Paix 24; via Roma 8; Cra 7 # 45-10
    rf"(?<!\w){_STREET_BEFORE}\.?{_WORD}{{0,4}}? {_NAME}{_HOUSE}",
    rf"(?<!\w){_STREET_PERHAPS}\.?{_WORD}{{0,4}}? {_NAME}{_HOUSE}{_CLAUSE_ENDS}",
    r"\b(?:carrera|calle|cra|cl)\.? \d{1,3}\w? ?(?:#|no?\.?) ?\d",
    # wohnt Unter den Linden 77; Lindenhof 3, 12345 Dorf
    rf"(?<!\w)(?:{_LIVES}|lives? (?:on|at)):?(?: (?!{_WITH}\b)[\w'.-]{{1,30}}){{0,5}}? {_NAME}{_HOUSE}{_CLAUSE_ENDS}",
    r"[^\W\d]{3,30} (?!(?:19|20)\d\d\b)\d{1,4}[a-z]?, (?!\d{2,3}00\b|(?:19|20)\d\d\b)\d{4,5} [^\W\d]{3}",
    # Ermou 25, Athina
    rf"{_NAME} \d{{1,4}}[a-d]?, ?(?:\d{{4,6}} )?{_CITY}\b",
    # 24 bis rue de la Paix
    r"\b\d{1,4}(?: ?(?:bis|ter|[a-d]))?,? (?:rue|avenue|av\.|bd\.?|boulevard|chemin|allee|impasse|quai|faubourg) [a-z]",
    r"\b\d{1,4}(?: ?(?:bis|ter|[a-d]))?,? (?:place|route|cours|passage|square) (?:d(?:e|es|u)\b|d'|saint)",
    r"\b\d{1,4} (?:duong|pho|jalan) [a-z]",
    # at 17 Rosewood Gardens; W 34th Street; Birch Road 7; The Old Mill, Church Lane, Ambridge
    rf"(?:^|[:,] ?|\b(?:at|to|on|in|is|from|by|near|of) )\d{{1,5}}[a-z]?(?: [nsew]\.?)?{_PART}{{1,3}}{_OTHER_STREETS}",
    r"\b(?:[nsew]\.?|north|south|east|west) \d{1,3}(?:st|nd|rd|th) (?:street|st|avenue|ave)\b",
    r"\b\d{1,3}(?:st|nd|rd|th) (?:street|st|avenue|ave),? (?:no\.? ?|number |#)?\d",
    rf"{_STREET_NAME},? (?:house|number|no\.?|nr\.?|door|#) ?#?\d",
    rf"{_STREET_NAME}{_HOUSE}{_CLAUSE_ENDS}",
    rf", [\w'.-]{{2,30}} {_STREET}, \w",
    rf"\b(?:number|no\.?) \d{{1,4}}[a-z]?,? the(?: {_STREET}|{_OTHER_STREETS})",
    r"\bcorner of (?!(?:the|my|a|your|every|each|this)\b)[\w'.-]{1,30}(?: [\w'.-]{1,30}){0,4} and \w",
    r"\b\d{1,5} (?:broad|kings|queens|high)way\b(?! (?:shows?|musicals?|plays?|tickets?)\b)",
    r"\b(?:plot|door) (?:no\.?|number|#) ?\d|\b\d{1,3}(?:st|nd|rd|th) (?:cross|main)\b",
    r"\bhouse (?:no\.?|#) ?\d|\bblk \d{1,4} \w",
    rf", ?{_STATE} \d{{5}}\b|\b(?:apo|fpo|dpo),? a[aep]\b|\bpsc \d+,? box \d",
    r"\d ?丁目|\d ?番地|\d条[東西]?\d|동 ?\d{1,4}(?:-\d{1,4})? ?번지",
    r"[路街道巷弄段] ?[\d一二三四五六七八九十百]{1,5} ?[号號]|[가-힣](?:로|길) ?\d",
    r"[区市町村][^\s\d]{1,8}\d{1,4}-\d",
)

_YOUNG = "(?:[5-9]|1[0-7]|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen)"
_THINGS = (
    "(?:laptop|pc|computer|cat|dog|car|van|truck|bike|games?|save|account|bug|meme|console|mouse|keyboard|phone|"
    "monitor|whisky|whiskey|wine|record|vod|clip|video|channel|hoodie|joke|tv|guitar|piano|headset|graphics|gpu|cpu|"
    "engine|house|sourdough|plant|tree|horse|parrot|turtle|hamster|rabbit|build|map|franchise|series|song|film|"
    "movie)"
)
_END = (
    r"(?=$|[.,;!?)]| ·| and (?!\d)| but| so | btw| lol| now| today| yesterday| tomorrow| this| last| next| soon| "
    "from| in (?:january|february|march|april|may|june|july|august|september|october|november|december|a )| on )"
)
_COUNTS = (
    "rank level lvl season streak tier score place count record number pb ratio team "
    "group wave stage ping chapter episode part act week attempt map seed size total goal price cost limit max "
    "min cap answer answers"
)
_NOT_A_COUNT = "".join(rf"(?<!\b{word} )" for word in _COUNTS.split())


BANTER = re.compile(
    r"\bg(?:a|i)v(?:e|es|ing|en) (?:me|us|chat|them|everyone|everybody|him|her) (?:a |an |the )?(?:\w+ )?(?:cancer|"
    r"anxiety|ptsd|heart attack|stroke|has aids|depression|headaches?|aneurysm|seizure|migraine|trauma)\b|\ballergic "
    "to (?:winning|losing|fun|work|mornings?|skill|objectives?|teamwork|pinging|success|money|good|healing|damage|"
    r"aiming|sleep|effort|spoilers|responsibility|the objective)\b|\bsick (?:of|clips?|plays?|burn|beats?|moves?|"
    r"jump|combo|aim|run|skins?|drop|setup|art|save)\b|\b(?:was|is|looks?|so|that's|are) (?:\w+ )?sick(?= (?:ngl|tbh|"
    r"bro|dude|though))|\b(?:clip|play|combo|edit|art|setup|skin|song|beat|emote|drawing) (?:is|was|looks?) (?:\w+ "
    r")?sick\b|\bhealth (?:potions?|bars?|packs?|pool|build|regen\w*|points?|kits?|orbs?|pickups?)\b"
    r"|\b(?:low|full|max|extra|no|one|boss|player|half|\d+) (?:hp|health)\b|\bdepression (?:quest|era)\b"
    r"|\bgreat depression\b|\b(?:zodiac |star )?sign is (?:a )?cancer\b|\bcancer (?:zodiac|season|sun|moon|rising)\b"
    r"|\bretail therapy\b|\btherapy (?:game|cat|dog)\b|\bchristian bale\b|\bjudas priest\b|\bpope hat\b"
    r"|\b(?:bad|losing my) religion\b|\bblack sabbath\b|\breligiously\b|\b(?:binding of isaac|faith: the unholy "
    r"trinity|cult of the lamb)\b|\bblind (?:playthroughs?|runs?|picks?|play|dates?|box(?:es)?|speedruns?|race|lets "
    r"play|to)\b|\bpick(?:s|ed)? (?:\w+ ){1,3}blind\b|\b(?:played|playing|plays|going in|goes in|went in|ran) (?:\w+ "
    r")?blind\b|\bschool of (?:fish|rock)\b|\bteach(?:es|ing|er)? (?:\w+ ){0,2}?(?:(?:at|in|of) )?(?:an? |the "
    r")?(?:(?:middle|high|elementary|primary|secondary) school|\d+(?:st|nd|rd|th) grade)\b|\b(?:works?|working|nurse|"
    r"doctor|job|volunteers?|intern|internship) (?:\w+ )?(?:at|in) (?:an? |the )?(?:\w+ )?(?:hospital|clinic|er|icu|"
    r"hospice|rehab)\b|\b(?:two point|theme) hospital\b|\bunion jack\b|\bgreen party hat\b|\blabour of love\b"
    r"|\btrump cards?\b|\b(?:nazi|cod) zombies\b|\bred alert\b|\b(?:left|right)[- ]wing (?:of|doors?|side|in|"
    r"position|player|gun)\b|\b(?:vote|voted|votes|voting) for the (?:next|worst|best|red|green|left|right) \w+\b"
    r"|\bgay frogs\b|\bstraight (?:to|up|into|outta|through|from|down|line|away|ahead)\b"
    r"|\bstroke of (?:luck|genius)\b|\bbroke(?:n)? the (?:record|game|bank|seal)\b|\b(?:cat|dog|hamster|rabbit|"
    "parrot|horse|turtle|snake|pet|pup|puppy|kitten|laptop|pc|car|account|channel|game|console|keyboard|phone|"
    rf"stream) (?:is|turned|turns|just turned) {_YOUNG}(?: (?:years?|yrs?) old)?\b|\b(?:email|phone|card|diary|"
    r"doctor) (?:minigame|side ?quest)\b|\baddress the\b|\b(?:mid|top|bot|bottom|safe|off|fast) ?lanes?\b"
    r"|\b(?:hard|flash|usb|thumb|external|test) drives?\b|\b(?:feels?|feeling) (?:good|bad) man\b"
)

_PHRASES = {
    "contact": (
        r"[\w.+-]@[\w-]+\.[a-z]{2,}|\w,? ?[\[({]?(?:at|@|arobase|arroba|chiocciola)[\])}]? ?\w{1,64} "
        r"?[\[({]?\b(?:dot|point|punkt|punto|ponto)\b[\])}]? ?(?:com|org|net|de|fr|es|it|nl|pl|br|uk|io|gg|me|edu|co|"
        r"eu|ch|at|ca|au|us|jp|kr|ru|tr|mx|ar|cl|se|dk|fi|be|pt|cz|hu|ro|gr|ie|nz|za|info)\b"
        r"|\w @ ?[\w-]+ ?\. ?(?:com|net|org|de|fr|es|it|nl|pl|br|uk|eu|ch)\b|\b(?!192\.168\.|10\.|"
        r"127\.)(?:\d{1,3}\.){3}\d{1,3}\b(?<!\.0\.0)|\bip (?:address )?is\b|[\w.+-]{2,40} ?(?:@|[(\[{]at[)\]}]|"
        r"\bat\b) ?(?:g(?:oogle)?mail|hotmail|outlook|yahoo|icloud|proton(?:mail)?|gmx|aol|yandex|laposte|naver|"
        r"daum)\b|\b(?:gmail|hotmail|icloud|protonmail|gmx)(?: is|:|=) ?[\w.+-]{4,}|"
        r"\b(?:[0-9a-f]{1,4}:){3,7}:?[0-9a-f]{1,4}|\b[0-9a-f]{1,4}(?::[0-9a-f]{1,4}){1,6}::|\b\w{2,32}#\d{4}\b|"
        r"\b(?:insta|instagram|snap|snapchat|telegram|skype|whatsapp|signal|kik|wechat|facebook|fb|discord)(?: "
        r"(?:name|handle|id|tag|account|user|username))?(?: is|:) (?:@?\w*[\d_.@:]\w*|@\w+)|\bon (?:insta|instagram|"
        "snap|snapchat|telegram|skype|whatsapp|kik|facebook|twitter|tiktok|bluesky|steam|psn|xbox live) (?:as|"
        r"under) (?!(?:an?|of|often|soon|usual|well|the|linux|windows|proton)\b)\w|\b(?:facebook|instagram|twitter|"
        r"tiktok|steamcommunity|linkedin)\.com/\w|\b(?:add|find|message|hit|dm|text) \w+ (?:up )?on (?:insta|"
        r"instagram|snap|snapchat|telegram|skype|whatsapp|kik|facebook)\b|\b(?:twitter|tiktok|bluesky|mastodon|steam|"
        r"psn|xbox live)(?: (?:name|handle|id|tag))? (?:is|:) @\w+|\b(?:reach|contact|dms?|message|find|add|pm|"
        r"email)\b.{0,30}@\w+|\b(?:telegram|snap|snapchat|skype|kik|whatsapp|instagram) (?:name|handle|id|tag|"
        r"account|username)\b|\b(?:phone|cell|mobile|telephone) (?:number|no)\b|\be?-?mail (?:address )?is\b"
    ),
    "address": (
        rf"\b(?:\d{{1,5}}[a-z]?,?|{_NUMBER_WORD}) (?:(?!and\b|(?:jump|grove) street\b|way\b|lanes?\b|runs?\b|of\b|"
        r"in\b|on\b|new\b|bosses\b|wins?\b|times\b|laps\b|levels?\b|down\b|up\b)[\w'.]{1,30} ){1,3}(?:street(?! "
        r"fighter)|st|road|rd|avenue|ave|lane|ln|drive|boulevard|blvd|crescent|terrace|close|court)\b(?! (?:of|to|"
        r"with)\b)|\b(?:lives?|living|house|home|apartment|flat|staying|stays|door)\b.{0,40}\b(?:on|at|in|near|off|"
        r"of) (?:\w+ ){1,3}(?:street|road|avenue|ave|lane|drive|boulevard|blvd|crescent|terrace|court|close)\b"
        r"|\b(?:lives?|living|home is|house is|resides) (?:at|on) (?:number |no )?\d+|\b(?:home|street|postal|"
        r"mailing|shipping|billing|house|full|current|his|her|their|my) address\b|\baddress (?:is|:)"
        r"|(?:^|: )address\b(?! the)|\b(?:zip|postal|post) ?codes?\b(?: is|:| \d)|\bzip is \d"
        r"|\b[a-z]{1,2}\d[a-z\d]? \d[a-z]{2}\b|\b(?!flat \d+ (?:bucks|dollars|euros?|percent|k)\b)(?:flat|apartment|"
        r"apt|unit|suite)\.? (?:no\.? |number |#)?\d+\w?\b|\bp\.? ?o\.? box\b|-?\b\d{1,3}\.\d{3,}, ?-?\d{1,3}\.\d{3,}"
        rf"|\b(?:house|door|street) number\b|{'|'.join(_STREET_ADDRESSES)}"
    ),
    "payment": (
        r"\b(?:credit |debit |bank )?card(?:'s)? (?:number|pin|details)\b|\bcards? (?:ends?|ending) (?:with|in|on) "
        r"\d{4}\b|\b(?:paypal\.me|venmo\.com|cash\.app)/\w|\bcvv\b|\bcvc\b|\biban\b|\bbank account\b"
        r"|\baccount number\b|\bsort code\b|\brouting number\b|\bssn\b|\bsocial security\b"
        r"|\bnational insurance number\b|\b\d{3}-\d{2}-\d{4}\b|\bpassport (?:number|no|id)\b"
        r"|\b(?:licen[cs]e|id card|identity card|tax|national id) (?:number|no|id)\b|\bpaypal (?:is|:|address|"
        r"account|email)|\b0x[0-9a-f]{40}\b|\bbc1[a-z0-9]{25,}\b|\b(?:password|passcode|pin code|pin) is\b"
        r"|\bsalary is\b|\bearns? [$€£]?\d"
    ),
    "real_name": (
        r"\b(?:real|full|legal|actual|true|irl|government|birth|maiden) (?:\w+ )?names?\b(?! of the (?:game|boss|"
        r"song))|\b(?:first|last|given|middle|family|second) ?name(?: is\b| was\b|:|'s|$)"
        r"|\bname (?:irl|in real life)\b|\bsurname\b|\b(?:called|named|known as|goes by|name is|name's) "
        r".{1,30}\b(?:irl|in real life|offline|at work)\b|\b(?:really|actually) (?:named|called)\b|^(?:(?:his|her|"
        r"their|my|whose) )?name is (?!the\b|not\b|a\b|an\b|on\b|in\b|all\b|known\b|still\b|everywhere\b|cursed\b|"
        r"too\b|hard\b|just\b|from\b)\w+|\bmy name(?:'s| is) \w+|\b(?:is|real) named? (?:mr|mrs|ms|dr)\b|\b(?:irl|in "
        r"real life|offline) (?!mode\b|play\b|games?\b)(?:\w+ ){0,2}(?:called|named|goes by|is known as)\b"
        r"|\bknown (?:irl|in real life|offline) as\b|\bnam(?:e|ed [\w' ]{2,40}) (?:on|in) (?:\w+ )?(?:passport|id|"
        r"licen[cs]e|papers|birth certificate)\b|\b(?:son|daughter|wife|husband|sister|brother|mother|father|mom|dad|"
        r"kid|girlfriend|boyfriend)(?:'s name is| is (?:named|called)| named| called) \w+"
    ),
    "health": (
        r"\bdiagnos\w+|\b(?:diabet\w+|insulin|asthma\w*|epilep\w+|seizures?|migraines?|arthritis|c(?:o)?eliac|"
        r"crohn\w*|cancer|tumou?r|leukemia|chemo\w*|hiv|has aids|lupus|fibromyalgia|multiple sclerosis|parkinson\w*|"
        r"alzheimer\w*|dementia|anemia|an(?:a)?emic|eczema|psoriasis|hepatitis|tuberculosis|pneumonia|bronchitis|"
        r"tinnitus|scoliosis|endometriosis|pcos|tourette\w*|dyslexi\w+|cystic fibrosis|cerebral palsy|sickle cell|"
        r"gout|hernia|ulcers?|appendicitis|stds?|herpes|chlamydia)\b|\b(?:covid|corona ?virus|the flu|influenza|"
        r"strep)\b|\b(?:has|have|had|got|caught|with|is having|catching|have|getting) (?:\w+ )?(?:cold(?! brew| war| "
        "drink| one| pizza| beer| open| start| steel| take)|fever(?! dream)|infection|concussion|injury|illness|"
        "disease|disorder|condition|syndrome|disability|surgery|operation|transplant|miscarriage|abortion|allergy|"
        r"allergies|seizure|stroke(?! of)|heart attack|pacemaker|bad back|bad knee|headaches?|hangover|std)\b(?! of)"
        r"|\bsurgery\b|\bsurgeries\b|\b(?:chronic|terminal|terminally|disabled|disability|handicap\w*|paraly[sz]ed|"
        r"wheelchair|amput\w+|prosthe\w+|in a coma|hospital bed|oxygen tank)\b|\bhospitali[sz]\w+"
        r"|\b(?:in|to|into|from) (?:the |a )?(?:hospital|er|icu|emergency room|rehab|hospice|a clinic)\b"
        r"|\b(?:pregnan\w+|ivf|miscarr\w+|menopaus\w+|on (?:her|their) period|expecting a baby)\b|\b(?:broke|broken|"
        r"sprain\w+|fractured?|tore|torn|dislocat\w+|injured|twisted|pulled) (?:(?:a|an|the|their|his|her|my|both|"
        "two|three|some|left|right|in) )*(?:arms?|legs?|wrist|ankles?|knees?|fingers?|hands?|foot|toes?|ribs?|nose|"
        r"collarbone|hip|shoulder|elbow|neck|back|jaw|bones?|acl|muscle|hamstring|tendon|ligament|meniscus)\b(?! in "
        r"(?:the )?(?:game|gta|minecraft|run))|\ballerg(?:ic|y|ies)\b|\bintoleran(?:t|ce)\b"
        r"|\b(?:legally|partially|half|going|color|colour|born|completely) ?-?blind\b|\bis blind$|\bis blind in\b"
        r"|\b(?:is|went|going|born|half|partially) deaf\b|\bdeaf in\b|\bhard of hearing\b|\bhearing aids?\b|"
        r"\b(?:medication|medicated|meds|prescri\w+|painkillers|antibiotics|blood pressure|cholesterol|blood sugar|"
        r"dialysis)\b|\b(?:alcoholic|alcoholism|addiction|addict|rehab|overdos\w+|relapsed|withdrawal)\b"
        r"|\bsober (?:for|since)\b|\b(?:is|been|got|stays?) (?:\w+ )?sober\b|\b(?:insomnia|sleep apn\w+|"
        r"narcolep\w+)\b|\beating disorder|anorexi\w+|bulimi\w+|\b(?:is|was|been|feels?|feeling|got|calling|out|home|"
        r"off) (?:\w+ )?(?:sick|ill|unwell)\b(?! (?:at|with (?:skill|aim)|of|clip|play|beat|burn|nasty))"
        r"|\b(?:in|has|with|have) (?:\w+ ){0,3}pain\b|\b(?:sees|seeing|saw|visits?|visiting) (?:a |the |their "
        r")?(?:doctor|specialist|physio\w*|oncologist|cardiologist|neurologist)\b|\b(?:food|blood|alcohol) "
        r"poisoning\b|\b(?:mri|ct scan|biops\w+|x-?rays?|kidney stones?|thyroid|epipen|inhaler|remission|blood "
        r"clots?|wisdom teeth|root canal|ibs|carpal tunnel|vaccin\w+|quarantin\w+|anaphyla\w+|stitches|vomit\w*|"
        r"nause\w+|sore throat|physio\w*|tendon\w+|tonsil\w+|sciatica|rheuma\w+|osteo\w+|leukaemia|obes\w+|malaria|"
        r"kidney (?:disease|failure|transplant)|organ donor|blood type|life support|crutches)\b"
        r"|\b(?:is|was|got|been|are) (?:\w+ )?(?:injured|hurt|wounded)\b(?! by the (?:boss|nerf))|\b(?:threw out|"
        "hurt|hurts|injured|sore|bad|weak|messed up|operated on|stiff) (?:(?:a|the|his|her|their|my) )?(?:back|"
        r"knees?|eyesight|vision|hearing|hip|shoulder|neck|wrists?|ankle|lungs?|kidneys?|liver|teeth|heart)\b|"
        r"\b(?:back|knee|hip|shoulder|neck|wrist|ankle|lung|kidney|liver|stomach|skin|sleep|vision|hearing|dental) "
        r"(?:problems?|issues?|injury|surgery|pain|condition|trouble|is injured|hurts)\b"
        r"|\bheart (?:condition|problems?|disease|surgery|failure)\b|\b(?:has|have|had|with) (?:a |an )?(?:\w+ "
        r")?(?:stutter|stammer|speech impediment)\b|\b(?:an?|his|her|their|my) (?:\w+ )?lisp(?=$|[.,;!]| and| but| "
        r"since| when| that| so| from)|\bhad a stroke(?! of)|\b(?:lost|losing|loses) (?:(?:his|her|their|my|the) "
        r")?(?:hearing|eyesight|sight in)\b|\b\w{2,20}(?:oxetine|traline|azepam|azolam|cillin|formin|sartan|"
        r"vastatin)\b|\b(?:lost|losing|gained|weighs) (?:\w+ )?\d+ ?(?:kg|pounds|lbs|kilos)(?=$|[.,;!]| since| in | "
        "this| last| on a| with| after)"
    ),
    "mood": (
        r"\b(?:depressed|depressive|antidepressants?|adhd|autis\w+|asperger\w*|bipolar|ocd|ptsd|cptsd|schizo\w+|"
        r"psychosis|psychotic|suicid\w+|self[- ]?harm\w*|dissociat\w+|agoraphobi\w*|ssris?|xanax|prozac|zoloft|"
        r"ritalin|adderall|neurodiver\w+|sociopath\w*|psychopath\w*)\b|\bdepression\b(?! quest|[ -]era)|\b(?:has|"
        "have|had|with|suffers?|suffering|from|social|bad|severe|struggles?|struggling|anti|her|his|their|my) "
        r"(?:\w+ )?anxiety\b|\b(?:panic|anxiety) attacks?\b|\bmental(?:ly)? (?:health|ill\w*|breakdown|disorder|"
        r"problems?|issues?)\b|\b(?:nervous|mental) breakdown\b|\bon the spectrum\b|\b(?:a|the|their|his|her|my) "
        r"(?:therapist|psychiatrist|psychologist|counsell?or|shrink)\b(?<!is a therapist)(?<!as a therapist)(?<!is a "
        r"psychologist)(?<!as a psychologist)(?<!as a counselor)|\bin therapy\b|\btherapy (?:session|appointment)s?\b"
        r"|\b(?:goes|going|went|started) (?:to )?therapy\b|\bemotionally (?:\w+ )?(?:unstable|exhausted|drained|"
        r"broken)\b|\b(?:has|have|with) borderline(?=$|[.,;!]| and)|\bnarcissis\w+|\bcr(?:ying|ied) (?:all|every) "
        r"(?:day|night|week)\b|\bburn(?:t|ed) out\b|\bburnout\b|\bpersonality disorder\b|\bborderline personality\b|"
        r"\b(?:seem(?:s|ed)?|feel(?:s|ing)?|felt|sound(?:s|ed)|look(?:s|ed)|is|was|been) (?:\w+ )?(?:sad|lonely|"
        "hopeless|miserable|worthless|anxious|heartbroken|stressed|unhappy|upset|empty inside|numb|grieving)(?=$|"
        "[.,;!]| and| lately| today| about (?:life|everything)| because| after| these days| recently| all| inside)"
        r"|\b(?:kill|hurt|harm|cut)(?:s|ing)? (?:themsel\w+|himself|herself|myself)\b|\bwants? to die\b"
        r"|\bend (?:their|his|her|my) life\b|\b(?:in a|is in) (?:bad|dark|low|terrible) (?:mood|place)\b"
        r"|\b(?:feel(?:s|ing)?|felt|seem(?:s|ed)?) (?:\w+ )?down\b|\b(?:is|was|been) (?:really |very |so )?down "
        r"(?:lately|these days|about (?:life|everything)|since)\b|\bmanic\b|\bmood swings\b|\bmentally\b(?! prepar)"
        r"|\btrauma(?!tic boss)\w*|\bgrie(?:f|ving)\b(?! stat)|\bself[- ]esteem\b|\bcries? (?:a lot|every night|at "
        r"night|to sleep)\b|\bpsychiatr\w+|\bpsych ward\b|\bin crisis\b"
    ),
    "faith": (
        r"\b(?:muslim|islam\w*|jewish|judaism|buddhis\w+|hindu\w*|sikh\w*|catholic\w*|protestant|mormon\w*|lutheran|"
        r"baptist|methodist|presbyterian|evangelical|orthodox christian|jehovah\w*|pagan|wiccan|satanist|"
        r"scientolog\w+|atheis\w+|agnostic|quaker|amish|rastafari\w*|anglican|baha'?i|zoroastrian|shinto|taoist|"
        r"christianity)\b|\b(?:is|was|raised|born|became|becoming|a|devout|practi[cs]ing|as|an?|ex|not|no longer|"
        r"being|they're|i'm) christian\b(?! bale| name)|^christian$|\bchristians\b|\b(?:goes|going|went|go|attends?|"
        r"attending|back|returned|drives|walks) (?:to )?(?:\w+ )?(?:church|mosque|synagogue|temple|mass|sunday "
        r"school|bible study|confession|friday prayers?)\b(?! level| boss| map| area| fair)|\b(?:ramadan|hajj|umrah|"
        "hanukkah|chanukah|yom kippur|passover|shabbat|sabbath|diwali|lent|eid|kosher|halal|bar mitzvah|bat mitzvah|"
        r"communion|baptis(?:ed|m)|baptized|holy communion|rosary)\b|\bpray(?:s|ed|ing)? (?:\w+ )?(?:times|daily|"
        "every|to (?:god|allah|jesus)|before|at night|a lot|regularly|for (?:his|her|their|my) (?:family|soul|"
        r"mother|mom|dad))\b|\b(?:believ\w+|faith|trust\w*) in (?:a |any |no )?(?:gods?|jesus|allah|christ|the lord|"
        r"higher power|afterlife|heaven)\b|\b(?:religio\w+|theolog\w+|faithful to (?:god|christ))\b"
        r"|\b(?:reads?|reading|studies|studying) (?:the |his |her |their )?(?:bible|quran|koran|torah|scriptures?)\b"
        r"|\b(?:is|was|became|as) an? (?:\w+ )?(?:pastor|rabbi|imam|nun|deacon|missionary|reverend|vicar)\b"
        r"|\b(?:found|accepted|loves|follows|serves|worships) (?:god|jesus|christ|allah|the lord)\b"
        r"|\bconverted to (?:\w+ism|islam|christ\w*)\b|\b(?:church|parish|bible|gospel) (?:choir|group|community|"
        r"camp|band|service|youth|study|trip|volunteer)\b|\b(?:hijab|niqab|kippah|yarmulke|altar (?:boy|girl|server)|"
        r"seminary|sunday school|convent|clergy|congregation|sermons?)\b|\bat (?:church|mosque|synagogue)\b"
        r"|\b(?:left|joined|quit) (?:the|a|his|her|their) (?:\w+ )?church\b|\bborn[- ]again\b"
    ),
    "politics": (
        r"\b(?:republican|democrats?|tory|tories|ukip|marxis\w+|leninis\w+|fascis\w+|nazis?|neo-?nazi|libertarian|"
        r"anarchis\w+|socialis\w+|antifa|maga|qanon|alt[- ]right|monarchist|nationalist|white supremac\w+|zionis\w+|"
        r"brexit\w*|gop|afd|blm|black lives matter)\b(?! base| army| map| faction| skin| commando)|\b(?:trump|biden|"
        r"obama|kamala|desantis|putin|zelensk\w+|netanyahu|macron|starmer|merkel|bernie sanders|boris johnson|"
        r"erdogan|modi|orban|le pen|farage)\b|\b(?:is|was|became|a|being|an?) (?:\w+ )?(?:communist|conservative|"
        r"progressive|centrist|leftist|liberal|feminist)\b(?=$|[.,;!]| and| who| voter| activist| party)|\b(?:is|are|"
        r"very|politically|being|leans?|leaning) (?:\w+ )?(?:far[- ]|politically )?(?:left|right)[- "
        r"]?(?:wing(?:er)?)(?=$|[.,;!]| and| politic| voter| activist| extremist)|\bfar[- ](?:right|left)(?=$|[.,;!]|"
        r" and| politic| party| voter| extremist| activist| group)|\bvot(?:es?|ed|ing) (?:for |against )?(?:the "
        ")?(?:labour|green(?:s| party)|liberals?|conservatives?|leave|remain|republicans?|democrats?|socialists?|"
        r"communists?|third party)\b(?! team| map| side| door| path| wing)|\b(?:supports?|supporter of|member of|"
        r"campaign\w* for|joined|donates? to|hates|campaigned for) (?:the )?(?:labour|liberal democrats|green party|"
        "greens|conservatives?|liberals?|left|(?:communist|democratic|republican|labour|labor|conservative|"
        "socialist|pirate|liberal|workers) party)(?=$|[.,;!]| and| in| since| party| politic)"
        r"|\b(?:in|at|for) the (?:\w+ )?(?:election|referendum|primaries)\b|\bgeneral election\b|\bmidterms\b|"
        r"\b(?:votes|will vote|always vote|usually votes|voting) (?:green|red|left|right)(?=$|[.,;!]| in the "
        r"election)|\b(?:canvass\w*|lobby(?:ing|ist) for)\b|\b(?:in|joined|leads) (?:a|the|their|his|her) (?:\w+ "
        r")?(?:trade|labor|labour|workers'?|teachers'?) union\b|\b(?:against|opposes?|supports?|in favou?r of|hates) "
        r"(?:legal )?(?:abortions?|gun control|immigra\w+|the death penalty|(?:gay|same-sex) marriage)\b"
        r"|\bpro-?(?:life|choice|gun|palestine|israel|abortion|russia|ukraine)\b|\banti-?(?:abortion|vax\w*|"
        r"government|immigra\w+|gun|fascis\w+|war)\b|\b(?:protest(?:s|ed)? (?:against|march)|political (?:views?|"
        r"party|beliefs?|opinions?|rally|activist)|politically|activist for)\b|\bpolitics\b"
        r"|\b(?:trade |labor |labour )?union (?:member|rep|organi[sz]er|steward)\b|\bmember of (?:a|the) (?:trade |"
        r"labor )?union\b|\bunioni[sz]\w+|\b(?:prime minister|president) (?:should|must|impeach\w*|resign\w*|is an?|"
        r"sucks)\b|\bimpeach\w*|\b(?:immigration|abortion|gun control|gun rights|climate policy) (?:views?|opinions?|"
        r"stance)\b"
    ),
    "sexuality": (
        r"\b(?:lesbian|bisexual\w*|homosexual\w*|heterosexual\w*|asexual\w*|aromantic|pansexual\w*|demisexual\w*|"
        r"transgender\w*|transsexual|non-?binary|non binary|enby|genderfluid|gender ?fluid|genderqueer|agender|"
        r"intersex|lgbt\w*|polyamor\w+|polycule|cisgender|ftm|mtf|gender dysphoria|gender transition)\b|\b(?:is|was|"
        "are|am|i'm|being|openly|came out as|comes out as|identifies as|they're|he's|she's|not|as|a|and|also) "
        "(?:openly |actually |probably |proudly |totally |very |also |not |a ){0,3}(?:gay|queer|bi|pan|ace|cis)(?=$|"
        r"[.,;!]| and| but| man| woman| guy| girl| person| couple| or| too)|\bgay (?:man|men|guy|person|couple|"
        r"husband|son|brother|dad)\b|\bqueer\b(?! eye)|\bopenly gay\b|\b(?:is|am|i'm|was|identifies as|not) (?:\w+ "
        r")?straight(?=$|[.,;!]| and (?:single|married|cis)| man| woman| guy)|\btrans(?:$|[.,;!]| (?:man|woman|girl|"
        "boy|guy|person|male|female|femme|masc|kid|teen|folks?|and ))|^(?:somebody )?(?:has |just |finally |"
        r"recently |only )*came out(?=$| (?:last|this|to|at|when|two|as|in) )|\b(?:came|comes|coming|come) out to "
        r"(?:the |his |her |their |my )(?:family|parents?|mom|mum|dad|friends?|wife|husband|chat|school|class)\b|"
        r"\b(?:hrt|hormone therapy|hormones|estrogen|testosterone (?:shots|therapy)|top surgery|bottom surgery|"
        r"deadnam\w+|sex change)\b|\b(?:into|attracted to|dates|sleeps with|likes|prefers|loves|crush on) (?:both |"
        r"only |other )?(?:men|women|girls|boys|guys|dudes|males|females)\b(?!')|\bsleep(?:s|ing)? around(?=$|[.,;!]|"
        r" a lot| with| and| but| on)|\bin the closet\b|\bcloseted\b|\b(?:is|still|am|was) (?:still )?a virgin\b"
        r"|\bvirginity\b|\b(?:sex life|sexual\w*|fetish\w*|kinks?|kinky|onlyfans|porn\w*|nudes|bdsm|hook(?:s|ed)? up "
        r"with|one night stand)\b"
    ),
    "minor_age": (
        rf"{_NOT_A_COUNT}\b(?:is|am|are|i'm|im|she's|he's|they're|turned|turning|turns|turn|aged|age|be|being|age:) "
        f"(?:only |just |now |almost |nearly |about |barely |still |turning ){{0,3}}{_YOUNG}(?: ?(?:years?|yrs?)[- "
        rf"]old| ?y/?o)?{_END}|\b{_YOUNG}[- ]?(?:(?:years?|yrs?)[- ]?)old\b(?! (?:[\w-]+ )?{_THINGS})"
        rf"|\b{_YOUNG} ?y/?o\b(?! (?:[\w-]+ )?{_THINGS})|\b{_YOUNG} years of age\b|\b(?:in|for|of|into|starts?|"
        "starting|finished|repeating) (?:the )?(?:[1-9]|1[0-2]|first|second|third|fourth|fifth|sixth|seventh|eighth|"
        r"ninth|tenth|eleventh|twelfth)(?:st|nd|rd|th)? grade\b|\b(?:in|goes to|going to|attends|starts|starting|"
        "started|still at|go to) (?:an? |the )?(?:middle|elementary|primary|junior high|secondary|high|grade|"
        r"grammar)[ -]?school\b|\b(?:middle|elementary|high|primary)[ -]?school(?:er|ers| freshman| sophomore| "
        r"student| kid| pupil)\b|\b(?:freshman|sophomore|junior|senior|student) (?:in|at) (?:an? )?(?:\w+ )?(?:high|"
        r"middle) school\b|\bin year (?:[1-9]|1[0-3])\b(?! of (?:the )?(?:stream|channel|game))|\b(?:is|am|i'm|"
        "they're|she's|he's|still|are) (?:still |only |just ){0,3}(?:a )?(?:minor|child|kid|schoolkid|schoolboy|"
        r"schoolgirl|underage|preteen|tween|teen|teenager)(?=$|[.,;!]| and| so| but| who)|\b(?:not|isn't|under|until|"
        "before|below|almost|nearly|be|won't be|turns?|yet) (?:yet |even )?(?:18|eighteen)(?=$|[.,;!]| yet| until| "
        r"in | so| and| next| this)|\b(?:[5-9]|1[0-7])th birthday\b(?! of the (?:stream|channel|game))"
        r"|\b(?:was |is |were )?born in (?:2009|201\d|202\d)\b|\b(?:grade|homeroom) (?:[1-9]|1[0-2]) (?:student|"
        r"pupil)\b|\b(?:baby|toddler|newborn) (?:is|turned) \w+ (?:months?|years?)\b"
    ),
}
PATTERNS = {category: re.compile(phrases) for category, phrases in _PHRASES.items()}
"""The pattern of each category."""
