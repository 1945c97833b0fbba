"""The one gate for what enters the memory: sentences of summaries and facts of notes. Pure.

`text_fault` names the rule that refuses a text, or None:

- "length": more than LONGEST characters
- "markup": tags, JSON, commands, labels of a prompt; "link": an address
- "instruction", "condition", "advert": orders to the bot or to everybody, now or for later; "question": any question
- "role", "authority": claims of what somebody is or may do here (badges say that)
- "insult", "accusation": of persons, not of a jump, a boss or a character

It reads look-alike letters, digits for letters and spaced-out words as what they look like. It knows word patterns,
not meaning, and refuses rather one harmless text too many: what it lets through is still only quoted as data. Facts
that are never stored about people are text/sensitive's.
"""

import re

from forgetmenot.text.clean import plain, skeleton, unleet
from forgetmenot.text.mentions import MENTION, has_link
from forgetmenot.text.words import words

LONGEST = 500
"""Characters of one sentence: a longer one is refused, and so no pattern works long."""

_ROLE = (
    r"(?:(?:head|lead|senior|super|honorary|secret|undercover|channel|chat|stream|twitch|bot|real|actual|true|new"
    r"|official) )*(?:co ?)?(?:mods?|moderators?|admins?|administrators?|vip|editor|supermod|operator"
    r"|staff(?: member)?(?! (?:sergeant|nurse|writer|engineer|officer|accountant|photographer|scientist)))"
)
_ELSEWHERE = (
    r"(?:another|other|different|his own|her own|their own|forum|wiki|subreddit|reddit|server|guild|discord|facebook"
    r"|group|minecraft|clan|local|small)"
)
_ABROAD = rf"(?! (?:of|in|on|for|at) (?:an? |the )?(?:\w+ )?{_ELSEWHERE}\b)"
_HERE = r"(?:channel|stream|bot|chat|show|streamer|community|broadcast|settings|database|memory)"
_POWER = (
    r"(?:admin\w*|mod\w*|root|full|owner|special|elevated|unlimited|unrestricted|editor|vip|broadcaster|streamer|bot"
    r"|super ?user|god|all|same)"
)
_RIGHTS = r"(?:rights?|powers?|access|permissions?|privileges?|status|authority|clearance|control)"
_BOT = r"(?:\w*bots?|assistant(?! coach)|ai|model|memory|forgetmenot|prompt|filter|system)"
_MUST = (
    r"(?:must|should|shall|has to|have to|needs? to|ought to|will (?:always|never)|is (?:supposed|allowed|required) to"
    r"|is to|may|always|never|shall|debe(?:ria)?|tiene que|doit|devrait|muss|soll(?:te)?|deve(?:ria)?|dovrebbe|musi|"
    r"powinien|moet)"
)
_PERSON = r"(?:<@\S+>|somebody|p\d+|(?!(?:it|this|that|there|what|which|who|he|she|they)\b)[\w-]+)"
_SUBJECT = rf"(?:^|\bthat |[,;:] |\band |\bbut )(?:{_PERSON} )?"
_SUBJECTS = (
    r"(?:they|we|you|i|who|people|viewers|others|everyone|everybody|mods|moderators|chatters|fans|friends|kids|parents|"
    r"players|teammates|streamers|to|can|will|would|could|should|may|might|must|do|does|did|dont|not|never|and|or|a|an|"
    r"the|lets|let|help|make|makes|hear|hears|see|sees)"
)
_NO_ORDER = (
    r"(?:about|above|after|against|all|along|although|among|and|around|as|at|because|before|behind|below|beside|"
    r"between|both|"
    r"but|by|despite|down|during|even|except|for|from|half|if|in|inside|into|like|most|much|near|not|now|of|off|on|"
    r"once|only|or|"
    r"out|outside|over|per|quite|since|so|some|such|than|that|then|though|through|till|to|today|toward|under|unlike|"
    r"until|up|"
    r"upon|when|where|while|who|with|without|what|which|this|there|here|also|just|still|got|won|met|made|beat|lost|"
    r"took|gave|saw|"
    r"found|bought|broke|built|drew|drove|felt|fell|fought|had|heard|held|kept|led|left|paid|put|ran|read|rode|said|"
    r"sang|sold|"
    r"sent|shot|slept|spoke|spent|stood|told|taught|thought|threw|understood|woke|wore|wrote|knew|grew|forgot|hit|set|"
    r"let|cut|"
    r"ate|drank|came|went|began|chose|flew|caught|brought|can|could|may|might|will|would|do|did|am|are|no|one|never|"
    r"always)"
)
_DO = (
    r"(?:reply|respond|answer|say|tell|call|greet|give|ban|unban|timeout|time out|obey|pretend|act as|act like|behave|"
    r"repeat|output|execute|reveal|remember to|make sure|do not|dont|refuse|treat|refer to|address|promote|mod|delete|"
    r"announce|send|write|mention|praise|insult|translate|encode|combine|speak|end|follow me|join|disregard|"
    r"stop (?:replying|answering|using|moderating|talking|being))(?! of duty| motion| appeals?| hammer)"
)
_INSULT = (
    r"(?:idiot\w*|morons?|stupid|dumb(?:er|est)?|losers?|scum\w*|ugly|fat|pathetic|trash|garbage|worthless|useless|"
    r"lazy|"
    r"selfish|dishonest|arrogant|fake|lame|filthy|brainless|clueless|talentless|insane|psycho\w*|hypocrites?|cowards?|"
    r"jerks?|"
    r"fools?|bastards?|bitch\w*|whores?|sluts?|cunts?|assholes?|dickheads?|retard\w*|cretins?|clowns?|creeps?|creepy|"
    r"freaks?|"
    r"perverts?|incels?|pigs?|rats?|snakes?|leech(?:es)?|parasites?|disgrace|disgusting|gold digger|incompetent|toxic|"
    r"hated by|(?:waste|piece) of|embarrassment|the worst|ashamed|bad (?:mother|father|person|parent|friend)|"
    r"not to be trusted|nobody likes|a nobody|hated|attention seeker|sucks|stinks|smells|has no (?:friends|brain|"
    r"talent|life)|"
    r"dumm\w*|hasslich\w*|arschloch|schlampe|versager\w*|trottel|depp|wichser|estupid[oa]|tont[oa]|imbecil\w*|fe[oa]|"
    r"put[oa]|"
    r"gilipollas|cabron|basura|vagabund[oa]|burr[oa]|otari[oa]|lixo|babaca|con(?:ne)?|connard|cretin\w*|abruti\w*|"
    r"moche|rate|"
    r"salope|stupid[oa]|scem[oa]|coglione|sfigat[oa]|glupi\w*|debil\w*|kretyn\w*|frajer\w*|aptal|salak|gerizekali|"
    r"serefsiz)"
)
_CROOK = (
    r"(?:thie(?:f|ves)|liars?|lying|scammers?|cheaters?|cheating|hackers?|frauds?|crooks?|con (?:man|artist)|"
    r"predators?|"
    r"pedo\w*|paedo\w*|groomers?|stalkers?|criminals?|abusers?|abusive|rapists?|murderers?|nazis?|racists?|sexists?|"
    r"homophob\w*|terrorists?|traitors?|addict\w*|alcoholics?|drunk|junkies?|drug \w+|wanted by|in (?:jail|prison)|"
    r"arrested|convicted|corrupt|viewbot\w*|lugner\w*|dieb(?:in)?|betruger\w*|verbrecher\w*|ladron\w*|estafador\w*|"
    r"mentiros[oa]|"
    r"trampos[oa]|violador|ladra[o]?|golpista|escroc|menteu[rs]e?|voleu[rs]e?|arnaqueu[rs]e?|tricheu[rs]e?|ladr[oai]|"
    r"truffat\w*|bugiard[oa]|imbroglion\w*|zlodziej\w*|oszust\w*|klamca|hirsiz|dolandirici|yalanci)"
)
_FOUL = (
    r"(?:st(?:eals?|ole) (?:\w+ ){0,3}(?:money|from|art|donations?|skins?|accounts?|clips?|content|wallet|cash|cards?|"
    r"ideas?|things)|scam\w*|cheat(?:s|ed)(?! death| day)|lie[sd] (?:to|about)|"
    r"(?:deal|sell)s? drugs|takes drugs|(?:view)?bot(?:s|ted) \w+ (?:views|followers|viewers)|buys \w+ (?:followers|"
    r"views|viewers)|"
    r"sle(?:eps|pt) with|harass\w*|stalk(?:s|ed)|abus(?:es|ed)|threaten(?:s|ed)|doxx?(?:es|ed)|evad(?:es|ed) \w+ bans?|"
    r"molest\w*|groom(?:s|ed) (?:kids|children|minors|viewers)|rap(?:es|ed)|blackmail\w*|brib(?:es|ed)|embezzl\w*|"
    r"fak(?:es|ed) \w+|"
    r"(?:uses|used) (?:\w+ )?(?:aimbot|wallhacks?|hacks?|bots?)|spies on|hacked|leaked|beat up|owes everyone|"
    r"(?:hits|beats|beat) (?:his|her|their) (?:wife|husband|girlfriend|boyfriend|partner|kids?|child(?:ren)?|dog|"
    r"mother)|"
    r"(?:cannot|cant) be trusted|(?:roba|robo|rouba|roubou|klaut|klaute|stiehlt|betrugt|betrog|estafa|estafo)|"
    r"(?:hat|ha|a|has) (?:\w+ ){0,3}(?:gestohlen|betrogen|belogen|robado|estafado|vole|arnaque|triche|rubato|truffato)|"
    r"ukradl\w*|oszukuje|caldi|dolandirdi)"
)
_IS = r"(?:is|was|are|were|am|looks|seems|remains|ist|war|es|est|e|jest|sao|sono|is such)"
_IGNORE = (
    r"ignor\w+|disregard\w*|\bforget\b|override|bypass|discard|vergiss|vergesst|missacht\w+|olvida\w*|oublie\w*|"
    r"esque[cç]a\w*|"
    r"dimentica\w*|trascura\w*|zignoruj\w*|zapomnij\w*|pomin\w*|unut|gormezden|yok say|забуд\w+|игнорир\w+|無視|"
    r"忘れ|忽略|"
    r"忽视|"
    r"무시|"
    r"잊어|αγνο\w+|abaikan|negeer\w*"
)
_RULES = (
    r"instru[ckç]\w+|istruzion\w+|anweisung\w*|vorgaben|\brules?\b|regeln|reglas|regras|regole|règles|regles|consignes|"
    r"ordenes|ordens|ordini|directives?|guidelines|\bprompts?|\b(?:what|that|all) (?:stands |is |was )?(?:above|"
    r"before)|previous|"
    r"prior|polece\w+|zasad\w*|talimat\w*|kural\w*|инструкц\w+|правил\w*|указани\w+|指示|命令|規則|ルール|"
    r"指令|지시|규칙|명령|οδηγ\w+|"
    r"instruksi"
)
_NOUNS_ABROAD = (
    r"(?:moderador\w*|moderatore|moderatrice|moderateur|administrador\w*|administrateur|amministratore|eigentumer\w*"
    r"|kanalbesitzer\w*|inhaber\w*|dueno|propietari[oa]|proprietari[oa]|proprietaire|wlasciciel\w*)"
)
_IS_ABROAD = r"(?:ist|bin|est|suis|jest|jestem|sono|ben) (?:\w+ ){0,2}(?:mod|modo|moderator\w*|admin\w*|streamer\w*)"


def _rules(name: str, *patterns: str) -> tuple[str, re.Pattern[str]]:
    return name, re.compile("|".join(patterns))


_PATTERNS = (
    _rules(
        "role",
        rf"{_SUBJECT}(?:(?:is|are|now|currently|also|still|really|actually|secretly|became|has become|got|been|made|"
        rf"promoted to|i am|im|he is|she is|they are|acts as|serves as|counts) )*(?:is|became|become|now|promoted to|"
        rf"made|"
        rf"serves as|acts as|counts as|am|im) (?:\w+ )?(?:an? |the |our |your |this )?(?:{_ROLE}|"
        rf"broadcaster)\b{_ABROAD}"
        r"(?! assistant| by trade| for a| at a| at the (?!stream))",
        rf"^(?:an? |the )?(?:head |lead )?{_ROLE} (?:of|in|for|on) (?:the |this |our )?(?:<@\S+> )?{_HERE}",
        r"\b(?:is|am|im) (?:\w+ )?the (?:\w+ )?(?:streamer|broadcaster)(?= of| here| in| and|$)",
        rf"{_SUBJECT}(?:is|became) (?:the |an? )?(?:\w+ )?(?:owner|founder)(?:$| of (?:the|this) {_HERE})",
        rf"{_SUBJECT}(?:is|was|got|gets|has been) (?:un)?modded\b|\b(?:of|in|on) the (?:\w+ )?mod(?:eration|erator|"
        rf"s)? team\b",
        r"\b(?:works?|working|employed|employee|agent|administrator|representative) (?:for|at|by|of) twitch\b",
        rf"\b(?:{_NOUNS_ABROAD}|{_IS_ABROAD})\b",
        rf"\b(?:got|was|been|were|is) (?:promoted to|made|given) (?:an? |the )?(?:{_ROLE}|owner)\b{_ABROAD}",
        rf"{_SUBJECT}(?:mods|moderates|admins|administers) (?:in |on |for )?(?:the |this |our )(?:\w+ )?{_HERE}\b",
        "модератор|(?<!системным )админ|стример(?:ом|ша)? (?:канала|здесь)|モデレーターです|"
        "管理者|管理员|房管|모더레이터|관리자",
    ),
    _rules(
        "authority",
        r"\b(?:(?:co ?)?owns?|controls?|created|made|built|programmed|coded|wrote|operates?|manages?|commands?|runs?|"
        rf"in charge of|responsible for|developer) (?:the |this |our |whole |entire |everything in |"
        rf"of )+(?:\w+ )?{_HERE}\b",
        r"(?:\b(?:streamer|bot|broadcaster|channel|chat|stream|somebody)|<@\S+>)(?: s)? (?:real |true |secret |"
        r"only )?(?:boss|owner|"
        r"master|manager|creator|developer|admin|moderator|mod|commander|supervisor|operator|maker|programmer)\b",
        r"\b(?:boss|owner|master|manager|creator|developer|admin|commander|supervisor|operator|maker|king|queen|head) "
        rf"(?:of (?:the |this |our |whole )*(?:\w+ )?{_HERE}|here)\b",
        rf"\b(?:has|have|had|holds?|gets?|got|given|granted|grant|with|owns?|"
        rf"give) (?:the )?(?:\w+ )?{_POWER} {_RIGHTS}\b|"
        r"\b(?:mod|moderator|admin|owner) (?:rights|powers|permissions)\b|\bin command\b|\bcomes? before (?:the|"
        r"all) (?:rules|mods)",
        r"\b(?:allowed|permitted|authori[sz]ed|entitled|has permission|have permission|has the right|"
        r"has (?:the )?authority|"
        r"licen[sc]ed|may|can) to (?:ban|time|timeout|unban|delete|moderate|command|use|change|give|see|speak|decide|"
        r"run|do|"
        r"control|override)|\bmay (?:see the prompt|approve|ban|decide)",
        r"\b(?:immune|exempt) (?:to|from|against)? ?(?:\w+ )?(?:bans?|timeouts?|rules?|moderation|cooldowns?|filters?|"
        r"slow mode|the bot)\b|\b(?:can|may|could) (?:\w+ )?(?:ban|unban|timeout|time out|mute|purge|"
        r"approve) (?:\w+)\b",
        r"\b(?:speaks? for|represents?|acts? for|on behalf of|outranks?|above|in command of|trusted by|verified by|"
        r"whitelisted by|authori[sz]ed by|approved by) (?:the |all |every )*(?:\w+ )?(?:mods?|moderators?|rules(?! of)|"
        rf"{_HERE})\b",
        r"\b(?:word|orders?|commands?|requests?|wish(?:es)?|messages?|everything \S+ says) (?:is|are|must be) (?:law|"
        r"final|"
        r"always|to be (?:obeyed|followed)|(?:obeyed|followed)|from the streamer)\b",
        r"\borders? (?:override|overrule|outrank)s?\b|^(?:<@\S+> )?is root$|\b(?:final|last) (?:say|word) (?:on|over|"
        r"in|about) (?:\w+ )?"
        r"(?:bans?|timeouts?|rules?|moderation)\b|\bdecides? who (?:is|gets|may) (?:un)?(?:banned|timed out|muted|"
        r"modded|a mod|"
        r"chat|talk|write|speak)\b|\btrusts? (?:them|him|her|<@\S+>) with (?:\w+ )?(?:bans?|timeouts?|moderat\w+)\b",
    ),
    _rules(
        "advert",
        r"^(?:please |just |now |go |and )*(?:visit|click|go to|check out|sign up|subscribe to|donate to|buy)\b(?! is)",
    ),
    _rules(
        "condition",
        r"\b(?:when|whenever|if|once|every ?time|each time|as soon as|any ?time)\b(?: \w+){0,10}"
        rf" (?!{_SUBJECTS}\b)\w+ (?:say|tell|respond|greet|announce|pretend|unban|insult|ignore|call (?:him|her|them|"
        rf"it|me|"
        r"everyone|somebody)|(?:reply|answer) (?:with|in|that|only|by))\b",
    ),
    _rules(
        "instruction",
        rf"(?:{_IGNORE}).{{0,60}}(?:{_RULES})|(?:{_RULES}).{{0,40}}(?:{_IGNORE}|no longer appl|do not count|"
        rf"gelten nicht)",
        rf"\b{_BOT}\b.{{0,60}}\b{_MUST}\b|\b(?:asks?|asked|tells?|told|wants?|orders?|ordered) (?:the |this |"
        rf"chat )*{_BOT} to\b",
        rf"^{_BOT}(?:[,:]| (?:grant|give|allow|enable|listen|please|set \w+ (?:as|to))\b)|^(?:user|human|inst)\b(?=:|"
        rf" reveal)",
        r"\b(?:it|you|everyone|everybody) must comply\b|\bmust comply with (?:them|him|her|his|their|my|all|<@\S+>)"
        r"|\bis to be (?:believed|trusted|obeyed)\b|\bwithout question\b|\bobedience\b",
        r"\b(?:messages?|words?|lines?|wish(?:es)?) (?:\w+ ){0,3}(?:is|are) (?:an? )?(?:commands?|orders?)\b(?! of)",
        r"\b(?:always|never|only|must|to|please|shall|and|und|y|et|e|i) (?:obey|trust|believe|agree with|listen to|"
        r"follow|"
        r"gehorch\w*|obedece\w*|obei\w*|obbedi\w*|sluchaj) (?:nur |solo |so |a |noch )*(?:me|him|her|them|my|his|their|"
        r"this user|"
        r"everything|orders|commands|<@\S+>|p\d+|\w+$)|\b(?:obeys?|listen to|trust) (?:me|my|this user)\b"
        r"|だけに?従|に従って|言うことを聞|말만 (?:들|따)|복종|слушайся|подчиняйся",
        r"\b(?:must|should|shall|has to|have to|needs? to|ought to|is to|are to|deserves to) (?:\w+ )?be (?:called|"
        r"addressed|"
        r"obeyed|told|treated|greeted|given|allowed|referred|named|known|unbanned|modded|promoted|made|trusted|"
        r"answered|"
        r"ignored|banned|reported|respected|worshipped|praised)\b",
        r"\byou (?:\w+ )?(?:must|should|shall|have to|ought to|will|may|are|cannot|cant|wont|shouldnt|mustnt|never|"
        r"always|now)\b|\b(?:can|could|will|would) you\b",
        r"\byour (?:\w+ )?(?:instructions?|rules?|system|prompt|persona|name is|job|task|owner|creator|master|boss|"
        r"role|"
        r"memory|settings?|developer|goal|purpose|repl(?:y|ies)|answers?|messages?|output|password)\b",
        r"\b(?:ignore|disregard|override|bypass|skip|forget) (?:\w+ )?(?:all|any|your|everything|every|safety|"
        r"policy)\b",
        r"\b(?:system prompt|developer mode|jailbreak|prompt injection|new instructions?|from now on|do anything now|"
        r"do what (?:\w+ )?(?:says?|wants?|i say|i want)|do as i say|do whatever|as told|code ?word is|(?:reads?|"
        r"about) this "
        r"(?:note|line|message|memory|summary)?|no rules|passwords?|passphrase|api key|secret key|"
        r"special filtering|hidden instructions?)\b",
        rf"^(?:(?:please|always|never|only|just|and|now|also|then|first|again|note) )*(?:{_DO}\b|ignore the|"
        rf"let s assume|"
        rf"(?!{_NO_ORDER}\b)[a-z]{{2,}}(?<!s)(?<!ed)(?<!ing)(?<!ly) (?:the|all|any|every|this|me|us|my|your|him|them|"
        rf"everyone|everybody)\b)",
        r"\b(?:everyone|everybody|anyone|whoever|you all|chatters|viewers|people)\b.{0,30}\b(?:should|shall|must|"
        r"has to|have to|"
        r"needs? to|ought to|owes?) (?:visit|go|click|join|follow|subscribe|buy|send|give|donate|say|call|ban|report|"
        r"ignore|obey|"
        r"trust|time|stay|\w+ an?)\b|\bremember to (?:send|tell|ban|say)\b",
        r"\b(?:respond|reply|answer|reacts?) (?:only )?(?:with|in|as|to me|to everything)\b|^note to\b",
        r"(?:\bbot|ボット).{0,20}(?:必ず|なければ|べき)|봇.{0,20}해야|бот.{0,20}(?:должен|обязан)|\b(?:zbanuj|забань|banla|banee)\w*|"
        r"밴(?:해|시켜)",
    ),
    _rules(
        "insult",
        rf"{_SUBJECT}{_IS} (?:\w+ ){{0,3}}?{_INSULT}(?:$| )(?!person|people skin|food)",
        r"バカ|馬鹿|アホ|クズ|ブス|キモい|死ね|바보|멍청|병신|쓰레기|찌질|\b(?:дурак|дура|идиот\w*|туп(?:ой|ая)|урод\w*|дебил\w*|лох|"
        r"тварь|мразь|сука)\b",
    ),
    _rules(
        "accusation",
        rf"{_SUBJECT}{_IS} (?:\w+ ){{0,3}}?{_CROOK}(?:$| )",
        rf"(?:^|\bthat |[,;:] |\band )(?:<@\S+>|somebody|p\d+|\w+) (?:\w+ly |always |often |never stops? )?{_FOUL}\b|"
        rf"^{_FOUL}\b",
        r"(?:\b(?:to|keeps?|by|caught|accused of|admit\w*|for) (?:\w+ly )?(?:steal(?:ing)?|cheat(?:ing)?|lying|"
        r"scam(?:ming)?|harass(?:ing)?|"
        r"stalk(?:ing)?|abus(?:e|ing)|threaten(?:ing)?|dox(?:x?ing)?|blackmail(?:ing)?|groom(?:ing)?|hack(?:ing)?)\b)|"
        r"(?:everybody|everyone|people) should (?:stay away|avoid)|\b(?:вор|воровка|мошенни\w+|лжец|обманщи\w+|"
        r"украл\w*|ворует|обману\w+)\b|泥棒|詐欺師|"
        r"嘘つき|盗んだ|騙した|사기꾼|도둑(?!잡기)|거짓말쟁이|훔쳤|속였",
    ),
)
_MARKUP = re.compile(
    r"</?[a-z][^<>]{0,60}>|\[/?[A-Z]{3,}|\{\s*[\"']|```|^\s*[\[/!]\s*\w|^\s*(?:SYSTEM|ASSISTANT|USER)\s*:|^\s*@\w|&lt;"
)
_LINK = re.compile(r"\b\w+ ?\. ?(?:ly|com|net|gg|tv|me|link|example)(?: ?/|\b)|discord ?\. ?gg", re.IGNORECASE)
_PART = re.compile(r"(?<=[.!?…])\s+|[;:]\s")
_QUESTION = re.compile(r"[?？؟]\s*[\"'”’)]*\s*$")
_SPACED_OUT = (re.compile(r"\b(?:(?:[ai] )?)((?:\w ){2,}\w)\b"), re.compile(r"\b((?:\w ){2,}\w)\b"))
"""Words of single letters, once with the "a" or "i" before them as a word of its own, once as their first letter."""


def text_fault(text: str, *, links: bool = False) -> str | None:
    """The rule that refuses a sentence or a fact, or None. `links`: it may name an address."""
    if len(text) > LONGEST:
        return "length"
    found = (_sentence_fault(part, links=links) for part in (text, *_PART.split(text)) if part)
    return next((fault for fault in found if fault), None)


def _sentence_fault(text: str, *, links: bool) -> str | None:
    bare = MENTION.sub("somebody", text)
    if _MARKUP.search(bare):
        return "markup"
    if not links and (has_link(bare) or _LINK.search(bare)):
        return "link"
    if _QUESTION.search(bare):
        return "question"
    readings = dict.fromkeys((bare, MENTION.sub(" ", text).strip()))
    return next((fault for fault in map(claim_fault, readings) if fault), None)


def claim_fault(text: str) -> str | None:
    """The rule about what words say that refuses a text, or None; tags, links and questions are not looked at."""
    looks = skeleton(text)
    readings = (looks, unleet(looks), unleet(looks.replace("1", "i")))
    spaced = (_joined(reading, spaced_out) for reading in readings for spaced_out in _SPACED_OUT)
    for reading in dict.fromkeys((looks.strip(), plain(text), *spaced)):
        for name, pattern in _PATTERNS:
            if pattern.search(reading):
                return name
    return None


def _joined(text: str, spaced_out: re.Pattern[str]) -> str:
    """The words alone, with words that were spaced out ("m o d") put together again."""
    return spaced_out.sub(lambda found: found[0].replace(found[1], found[1].replace(" ", "")), " ".join(words(text)))
