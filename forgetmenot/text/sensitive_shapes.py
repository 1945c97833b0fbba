"""E-mail and street addresses, account names and words of payment, none of which is stored: patterns.

Data without behaviour, over text in lower case and Latin letters. The numbers of cards, bank accounts and telephones
are found by text/sensitive itself. Street addresses are written as in several countries: a house number has to stand
where its country puts it; where the words mean other things as well ("via", "park"), the clause has to end with it.
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
    # Lindenweg 7; Petőfi utca 6
    rf"\b(?!{_NO_STREET})\w{{3,30}}{_STREET_GLUED}{_HOUSE}",
    rf"{_NAME} {_STREET_AFTER}{_HOUSE}",
    # rue de la Paix 24; via Roma 8; Cra 7 # 45-10
    rf"(?<!\w){_STREET_BEFORE}\.?{_WORD}{{0,4}}? {_NAME}{_HOUSE}",
    rf"(?<!\w){_STREET_PERHAPS}\.?{_WORD}{{0,4}}? {_NAME}{_HOUSE}{_CLAUSE_ENDS}",
    r"\b(?:carrera|calle|cra|cl)\.? \d{1,3}\w? ?(?:#|no?\.?) ?\d",
    # wohnt Unter den Linden 77
    rf"(?<!\w)(?:{_LIVES}|lives? (?:on|at)):?(?: (?!{_WITH}\b)[\w'.-]{{1,30}}){{0,5}}? {_NAME}{_HOUSE}{_CLAUSE_ENDS}",
    # Lindenhof 3, 12345 Dorf; Springfield, IL 62704
    r"[^\W\d]{3,30} (?!(?:19|20)\d\d\b)\d{1,4}[a-z]?, (?!\d{2,3}00\b|(?:19|20)\d\d\b)\d{4,5} [^\W\d]{3}",
    rf", ?{_STATE} \d{{5}}\b",
    # Ermou 25, Athina
    rf"{_NAME} \d{{1,4}}[a-d]?, ?(?:\d{{4,6}} )?{_CITY}\b",
    # 24 bis rue de la Paix
    r"\b\d{1,4}(?: ?(?:bis|ter|[a-d]))?,? (?:rue|avenue|av\.|bd\.?|boulevard|chemin|allee|impasse|quai|faubourg) [a-z]",
    r"\b\d{1,4}(?: ?(?:bis|ter|[a-d]))?,? (?:place|route|cours|passage|square) (?:d(?:e|es|u)\b|d'|saint)",
    # at 17 Rosewood Gardens; Birch Road 7; The Old Mill, Church Lane, Ambridge
    rf"(?:^|[:,] ?|\b(?:at|to|on|in|is|from|by|near|of) )\d{{1,5}}[a-z]?(?: [nsew]\.?)?{_PART}{{1,3}}{_OTHER_STREETS}",
    rf"{_STREET_NAME}{_HOUSE}{_CLAUSE_ENDS}",
    rf", [\w'.-]{{2,30}} {_STREET}, \w",
    r"\bcorner of (?!(?:the|my|a|your|every|each|this)\b)[\w'.-]{1,30}(?: [\w'.-]{1,30}){0,4} and \w",
    r"\b\d{1,5} (?:broad|kings|queens|high)way\b(?! (?:shows?|musicals?|plays?|tickets?)\b)",
    r"\b(?:apo|fpo|dpo),? a[aep]\b|\d ?丁目|\d ?番地",
    r"[路街道巷弄段] ?[\d一二三四五六七八九十百]{1,5} ?[号號]|[가-힣](?:로|길) ?\d",
    r"[区市町村][^\s\d]{1,8}\d{1,4}-\d",
)

_PHRASES = {
    "contact": (
        r"[\w.+-]@[\w-]+\.[a-z]{2,}|\w,? ?[\[({]?(?:at|@|arobase|arroba|chiocciola)[\])}]? ?\w{1,64} "
        r"?[\[({]?\b(?:dot|point|punkt|punto|ponto)\b[\])}]? ?(?:com|org|net|de|fr|es|it|nl|pl|br|uk|io|gg|me|edu|co|"
        r"eu|ch|at|ca|au|us|jp|kr|ru|tr|mx|ar|cl|se|dk|fi|be|pt|cz|hu|ro|gr|ie|nz|za|info)\b"
        r"|\w @ ?[\w-]+ ?\. ?(?:com|net|org|de|fr|es|it|nl|pl|br|uk|eu|ch)\b"
        r"|[\w.+-]{2,40} ?(?:@|[(\[{]at[)\]}]|\bat\b) ?(?:g(?:oogle)?mail|hotmail|outlook|yahoo|icloud|proton(?:mail)?"
        r"|gmx|aol|yandex|laposte|naver|daum)\b"
        r"|\b(?!192\.168\.|10\.|127\.)(?:\d{1,3}\.){3}\d{1,3}\b(?<!\.0\.0)"
        r"|\b(?:[0-9a-f]{1,4}:){3,7}:?[0-9a-f]{1,4}|\b[0-9a-f]{1,4}(?::[0-9a-f]{1,4}){1,6}::|\b\w{2,32}#\d{4}\b"
        r"|\b(?:insta|instagram|snap|snapchat|telegram|skype|whatsapp|signal|kik|wechat|facebook|fb|discord)"
        r"(?: (?:name|handle|id|tag|account|user|username))?(?: is|:) (?:@?\w*[\d_.@:]\w*|@\w+)"
        r"|\b(?:facebook|instagram|twitter|tiktok|steamcommunity|linkedin)\.com/\w"
        r"|\b(?:reach|contact|dms?|message|find|add|pm|email)\b.{0,30}@\w+"
    ),
    "address": (
        rf"\b(?:\d{{1,5}}[a-z]?,?|{_NUMBER_WORD}) (?:(?!and\b|(?:jump|grove) street\b|way\b|lanes?\b|runs?\b|of\b|"
        r"in\b|on\b|new\b|bosses\b|wins?\b|times\b|laps\b|levels?\b|down\b|up\b)[\w'.]{1,30} ){1,3}(?:street(?! "
        r"fighter)|st|road|rd|avenue|ave|lane|ln|drive|boulevard|blvd|crescent|terrace|close|court)\b(?! (?:of|to|"
        r"with)\b)|\b(?:lives?|living|home is|house is|resides) (?:at|on) (?:number |no )?\d+"
        r"|\b(?:home|street|postal|mailing|shipping|billing|house|full|current|his|her|their|my) address\b"
        r"|\baddress (?:is|:)|\b(?:zip|postal|post) ?codes?\b(?: is|:| \d)|\bzip is \d"
        r"|\b[a-z]{1,2}\d[a-z\d]? \d[a-z]{2}\b|\b(?!flat \d+ (?:bucks|dollars|euros?|percent|k)\b)(?:flat|apartment|"
        r"apt|unit|suite)\.? (?:no\.? |number |#)?\d+\w?\b|\bp\.? ?o\.? box\b|-?\b\d{1,3}\.\d{3,}, ?-?\d{1,3}\.\d{3,}"
        rf"|{'|'.join(_STREET_ADDRESSES)}"
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
}
PATTERNS = {category: re.compile(phrases) for category, phrases in _PHRASES.items()}
"""The pattern of each category."""
