"""The one gate for what enters the memory: sentences of summaries and facts of notes. Pure.

What belongs there is a statement in the third person about the people, the channel or a game. `text_fault` names the
rule that refuses a text, or None:

- "length": more than LONGEST characters
- "markup": tags, JSON, commands, labels of a prompt; "link": an address; "question": any question
- "instruction": whatever begins with an order, speaks to "you", or speaks of the bot, its prompt, rules or answers
  together with a word of control (must, obey, ignore, from now on, whatever …); "condition", "advert": orders for later
- "role", "authority": claims of what somebody is or may do here (badges say that)
- "insult", "accusation": of persons, not of a jump, a boss or a character

It reads look-alike letters, digits for letters and spaced-out words as what they look like. In languages other than
English it knows fewer forms and refuses more: there nothing is said of the bot at all. It knows word patterns, not
meaning: what it lets through is still only quoted as data. Facts that are never stored about people are
text/sensitive's.
"""

import re
from collections.abc import Iterator

from forgetmenot.text.clean import plain, skeleton, unleet
from forgetmenot.text.mentions import MENTION, has_link
from forgetmenot.text.sentences import sentences_of
from forgetmenot.text.words import words

LONGEST = 500
"""Characters of one sentence: a longer one is refused, and so no pattern works long."""

_PARTS = r"""
role
    (?:(?:head|lead|senior|super|honorary|secret|undercover|channel|chat|stream|twitch|bot|real|actual|true|new|
    official) )*(?:co ?)?(?:mods?|moderators?|admins?|administrators?|vip|editor|supermod|operator|
    head of (?:the )?moderation|staff(?: member)?(?! (?:sergeant|nurse|writer|engineer|officer|accountant|
    photographer|scientist)))
elsewhere
    (?! (?:of|in|on|for|at) (?:an? |the )?(?:\w+ )?(?:another|other|different|his own|her own|their own|forum|wiki|
    subreddit|reddit|server|guild|discord|facebook|group|minecraft|clan|local|small|book|club|magazine|newspaper)\b)
here
    (?:channel|stream|bot|chat|show|streamer|community|broadcast|settings|database|memory)
power
    (?:admin\w*|mod\w*|root|full|owner|special|elevated|unlimited|unrestricted|editor|vip|broadcaster|streamer|bot|
    operator|super ?user|god|all|same)
rights
    (?:rights?|powers?|access|permissions?|privileges?|status|authority|clearance|control)
person
    (?:<@\S+>|somebody|p\d+|(?!(?:it|this|that|there|what|which)\b)[\w-]+)
subject
    (?:^(?:(?:a|o|la|il|le|el|die|der) )?|\bthat |\bwho |[,;:] |\band |\bbut )(?:{person} )?
is
    (?:is|was|are|were|am|looks|seems|remains|ist|war|es|est|e|jest|sao|sono|is such)
bot
    (?:\w*bots?|assistant(?! coach)|ai(?! research)|(?:language |ai )?model(?! (?:railways?|trains?|cars?|planes?|
    kits?|ships?)\b)|forgetmenot|prompts?|system (?:message|prompt)|instructions?(?! (?:of|for|in) (?:the|
    an?) (?:\w+ )?(?!bot)\w)|guidelines|directives?|safety rules?|api key|passwords?|filters?|policy)
said
    (?:answers?|repl(?:y|ies)|responses?|messages?|requests?|words?|wish(?:es)?|notes?|summar(?:y|ies)|memory|output|
    sentences?|commands?|orders?|line)
must
    (?:must|should|shall|has to|have to|needs? to|ought to|will (?:always|never)|(?:is|are) (?:supposed|allowed|
    required|told) to|is to|may only)
control
    (?:{must}|always|never|only|from now on|going forward|henceforth|no longer|whatever|whenever|everything|anything|
    ignor\w+|disregard\w*|forg[eo]t\w*|overrid\w+|bypass\w*|disabl\w+|switched off|turned off|drop(?:s|ped)?|delet\w+|
    eras\w+|reset|reprogram\w*|reveal\w*|leak\w*|obe(?:y|di)\w*|follow(?:s|ed|ing)?|compl(?:y|ies|ied)\w*|serv(?:es|
    ed)|accept\w*|agree(?:s|d)? to|promis\w+|grant\w*|praise\w*|insult\w*|treat(?:s|ed)?|pretend\w*|priority|
    precedence|adopt\w*|begins? with|ends? with|stop(?:s|ped)? (?:following|moderating|using)|law|final)
firm
    (?:must|shall|has to|have to|ought to|from now on|going forward|henceforth|no longer|whatever|overrid\w+|
    overrul\w+|outrank\w*|priority|precedence|final|law|begins? with|ends? with|word for word|each|to be (?:obeyed|
    followed|deleted|believed))
insult
    (?:idiot\w*|morons?|imbeciles?|stupid|dumb(?:er|est)?|losers?|scum\w*|ugly|fat|pathetic|trash|garbage|worthless|
    useless|lazy|selfish|dishonest|arrogant|fake|lame|filth\w*|brainless|clueless|talentless|insane|psycho\w*|
    hypocrites?|cowards?|jerks?|fools?|bastards?|bitch\w*|whores?|sluts?|cunts?|assholes?|dickheads?|pricks?|twats?|
    wankers?|retard\w*|cretins?|clowns?|creeps?|creepy|freaks?|perverts?|incels?|pigs?|rats?|snakes?|leech(?:es)?|
    parasites?|vermin|cockroach\w*|disgrace|disgusting|repulsive|revolting|hideous|gold digger|incompetent|toxic|
    annoying|obnoxious|hated|embarrassment|the worst|ashamed|bad (?:mother|father|person|parent|friend)|
    not to be trusted|(?:waste|piece) of|a nobody|attention seeker|dim ?wits?|dimwitted|half ?wits?|nitwits?|bimbos?|
    brats?|braggarts?|sociopaths?|narcissists?|delusional|mentally|inbred|subhuman|dumm\w*|hasslich\w*|arschloch|
    schlampe|versager\w*|trottel|depp|wichser|estupid[oa]|tont[oa]|imbecil\w*|fe[oa]|put[oa]|gilipollas|cabron|basura|
    vagabund[oa]|burr[oa]|otari[oa]|lixo|babaca|con(?:ne)?|connard|cretin\w*|abruti\w*|moche|salope|scem[oa]|coglione|
    sfigat[oa]|glupi\w*|debil\w*|kretyn\w*|frajer\w*|aptal|salak|gerizekali|serefsiz|idiota)
crook
    (?:thie(?:f|ves)|liars?|lying|scammers?|cheat(?:er|ers|ing)?(?! day| code| sheet)|hackers?|frauds?|fraudsters?|
    crooks?|con (?:man|artist)|predators?|pedo\w*|paedo\w*|groomers?|stalkers?|criminals?|abusers?|abusive|rapists?|
    murderers?|killers?|nazis?|racists?|sexists?|homophob\w*|transphob\w*|bigots?|terrorists?|traitors?|addict\w*|
    alcoholics?|drunk|junkies?|drug \w+|wanted by|in (?:jail|prison)|arrested|convicted|sentenced|guilty|corrupt|
    bribed|viewbot\w*|smurf\w*|blackmailers?|molesters?|lugner\w*|dieb(?:in)?|betruger\w*|verbrecher\w*|ladron\w*|
    estafador\w*|mentiros[oa]|trampos[oa]|violador|ladra[o]?|golpista|escroc|menteu[rs]e?|voleu[rs]e?|arnaqueu[rs]e?|
    tricheu[rs]e?|ladr[oai]|truffat\w*|bugiard[oa]|imbroglion\w*|zlodziej\w*|oszust\w*|klamca|hirsiz|dolandirici|
    yalanci)
foul
    (?:(?:st(?:eals?|ole)|robs?|robbed|embezzl\w+|pockets?|takes?|took|demands?|extorts?) (?:\w+ ){0,3}(?:money|cash|
    donations?|wallet|cards?|bribes?)|st(?:eals?|ole) (?:\w+ ){0,3}(?:from|art|skins?|accounts?|clips?|content|ideas?|
    things|credit|artwork|designs?)|scam\w*|cheat(?:s|ed)(?! death| day)|lie[sd] (?:to|about)|(?:deal|
    sell)s? (?:\w+ )?drugs|takes drugs|(?:view)?bot(?:s|ted) (?:\w+ )?(?:views|followers|viewers)|(?:buys|
    bought) (?:\w+ )?(?:followers|views|viewers)|sle(?:eps|pt) with|harass\w*|stalk(?:s|ed)|abus(?:es|ed)|
    threaten(?:s|ed)|doxx?(?:es|ed)|evad(?:es|ed) \w+ bans?|molest\w*|groom(?:s|ed) (?:kids|children|minors|viewers)|
    rap(?:es|ed)|blackmail\w*|brib(?:es|ed)|fak(?:es|ed) \w+|forg(?:es|ed) \w+|(?:uses|used) (?:\w+ )?(?:aimbot|
    wallhacks?|hacks?|bots?|cheats)|spies on|hacked|leaked|beat up|owes everyone|(?:hits|beats|beat|cheats on|
    cheated on) (?:his|her|their) \w+|has a criminal record|(?:watches|owns|shares) (?:child )?porn\w*|smuggl\w+|
    launder\w+ money|(?:cannot|cant) be trusted|(?:roba|robo|rouba|roubou|klaut|klaute|stiehlt|betrugt|betrog|estafa|
    estafo)|(?:hat|ha|a|has) (?:\w+ ){0,3}(?:gestohlen|betrogen|belogen|robado|estafado|vole|arnaque|triche|rubato|
    truffato)|ukradl\w*|oszukuje|caldi|dolandirdi)
do
    (?:reply|respond|answer|say|tell|call|greet|give|ban|unban|timeout|time out|obey|pretend|act as|act like|behave|
    repeat|output|execute|reveal|remember to|make sure|do not|dont|refuse|treat|refer to|address|promote|mod|delete|
    announce|send|write|mention|praise|insult|translate|encode|combine|speak|end|follow me|join|disregard|do (?:what|
    whatever|as|everything)|remind|inform|notify|warn|ensure|consider|assume|note that|store|save|erase|remove|add|
    update|replace|switch|turn o(?:n|ff)|enable|disable|grant|allow|stop (?:replying|answering|using|moderating|
    talking|being))(?! of duty| motion| appeals?| hammer| \w+ (?:is|was|were|are)\b)
ignore
    ignor\w+|disregard\w*|\bforget\b|override|bypass|discard (?!two|a card|one|cards)|vergiss|vergesst|missacht\w+|
    olvida\w*|oublie\w*|esque[cç]a\w*|dimentica\w*|trascura\w*|zignoruj\w*|zapomnij\w*|pomin\w*|unut|gormezden|
    yok say|забуд\w+|игнорир\w+|無視|忘れ|忽略|忽视|무시|잊어|αγνο\w+|abaikan|negeer\w*|drop (?:all|your|the)
rules
    instru[ckç]\w+|istruzion\w+|anweisung\w*|vorgaben|\brules?\b|regeln|reglas|regras|regole|règles|regles|consignes|
    ordenes|ordens|ordini|directives?|guidelines|\bprompts?|\b(?:what|that|all) (?:stands |is |was )?(?:above|before)|
    previous|prior|polece\w+|zasad\w*|talimat\w*|kural\w*|инструкц\w+|правил\w*|указани\w+|指示|命令|規則|ルール|指令|
        지시|규칙|명령|
    οδηγ\w+|instruksi
no_order
    (?:about|above|after|against|all|along|although|among|and|around|as|at|because|before|behind|below|beside|between|
    both|but|by|despite|down|during|even|except|for|from|half|if|in|inside|into|like|most|much|near|not|now|of|off|on|
    once|only|or|out|outside|over|per|quite|since|so|some|such|than|that|then|though|through|till|to|today|toward|
    under|unlike|until|up|upon|when|where|while|who|with|without|what|which|this|there|here|also|just|still|got|won|
    met|made|beat|lost|took|gave|saw|found|bought|broke|built|drew|drove|felt|fell|fought|had|heard|held|kept|led|
    left|paid|put|ran|read|rode|said|sang|sold|sent|shot|slept|spoke|spent|stood|told|taught|thought|threw|understood|
    woke|wore|wrote|knew|grew|forgot|hit|set|let|cut|ate|drank|came|went|began|chose|flew|caught|brought|can|could|
    may|might|will|would|do|did|am|are|no|one|never|always|chat|people|everyone)
told_who
    (?:they|we|you|i|who|people|viewers|others|everyone|everybody|mods|moderators|chatters|fans|friends|kids|parents|
    players|teammates|streamers|to|can|will|would|could|should|may|might|must|do|does|did|dont|not|never|and|or|a|an|
    the|lets|let|help|make|makes|hear|hears|see|sees)
abroad
    (?:moderador\w*|moderatore|moderatrice|moderateur|moderatorin|administrador\w*|administrateur|amministratore|
    eigentumer\w*|kanalbesitzer\w*|inhaber\w*|dueno|propietari[oa]|proprietari[oa]|proprietaire|wlasciciel\w*)
"""
"""Choices that the rules below name in braces, in lower case without accents."""

_RULES = r"""
role
    {subject}(?:(?:is|are|was|now|currently|also|still|really|actually|secretly|became|has become|got|been|made|
        promoted to|i am|im|acts as|serves as|counts|has been) )*(?:is|became|become|now|promoted to|made|named|
        appointed|serves as|acts as|counts as|am|im) (?:\w+ )?(?:an? |the |our |your |this )?(?:{role}|
        broadcaster)\b{elsewhere}(?! assistant| by trade| for a| at an? | at the (?!stream))
    ^(?:an? |the )?(?:head |lead )?{role} (?:of|in|for|on) (?:the |this |our )?(?:<@\S+> )?{here}
    \b(?:is|am|im) (?:\w+ )?the (?:\w+ )?(?:streamer|broadcaster)(?= of| here| in| and|$)
    {subject}(?:is|became) (?:the |an? )?(?:\w+ )?(?:owner|founder)(?:$| of (?:the|this) {here})
    {subject}(?:is|was|got|gets|has been) (?:un)?modded\b|\b(?:real|true|actual|new) (?:streamer|broadcaster|owner|
        moderator) (?:is|was)\b
    \b(?:received|got|has|was given|wears|holds) (?:the |an? |his |her )?(?:mod|moderator|vip|admin|staff|
        twitch) (?:sword|badge|role|rank|status|rights)\b|{subject}(?:is|was|
        became) (?:\w+ )*one of the (?:\w+ )?(?:mods|moderators|admins|owners)\b
    \b(?:of|in|on) the (?:\w+ )?mod(?:eration|erator|s)? team\b
    \b(?:works?|working|employed|employee|agent|administrator|representative) (?:for|at|by|of) twitch\b
    \b(?:{abroad}|(?:ist|bin|est|suis|jest|jestem|sono|ben) (?:\w+ ){0,2}(?:mod|modo|moderator\w*|admin\w*|
        streamer\w*))\b
    \b(?:got|was|been|were|is) (?:promoted to|made|given|named|appointed) (?:an? |the )?(?:{role}|owner)\b{elsewhere}
    {subject}(?:mods|moderates|admins|administers) (?:in |on |for )?(?:the |this |our )(?:\w+ )?{here}\b
    модератор|(?<!системным )админ|стример(?:ом|ша)? (?:канала|здесь)|モデレーターです|管理者|管理员|房管|모더레이터|
        관리자
authority
    \b(?:(?:co ?)?owns?|controls?|created|made|built|programmed|coded|wrote|operates?|manages?|commands?|runs?|
        in charge of|responsible for|developer) (?:the |this |our |whole |entire |everything in |of )+
        (?:\w+ )?{here}\b
    (?:\b(?:streamer|bot|broadcaster|channel|chat|stream|somebody)|
        <@\S+>)(?: s)? (?:real |true |secret |only )?(?:boss|owner|master|manager|creator|developer|admin|moderator|
        mod|commander|supervisor|operator|maker|programmer)\b
    \b(?:boss|owner|master|manager|creator|developer|admin|commander|supervisor|operator|maker|king|queen|head|ruler|
        leader)(?: of (?:the |this |our |whole )*(?:\w+ )?{here}| here)\b
    \b(?:has|have|had|holds?|gets?|got|given|granted|grant|with|owns?|give|
        received) (?:the )?(?:\w+ )?{power} {rights}\b
    \b(?:has|have|had|holds?|gets?|got|given|granted) (?:\w+ ){0,3}(?:permission|authority|clearance|
        the right)(?: \w+)? to\b
    \b(?:mod|moderator|admin|owner) (?:rights|powers|permissions)\b|\bin command\b|\bcomes? before (?:the|
        all) (?:rules|mods)
    \b(?:allowed|permitted|authori[sz]ed|entitled|has permission|have permission|has the right|has (?:the )?authority|
        licen[sc]ed|may|can) to (?:ban|time|timeout|unban|delete|moderate|command|use|change|give|see|speak|decide|
        run|do|control|override)
    \bmay (?:see the prompt|approve|ban|decide)|\bonly {person} (?:may|can|decides|is allowed)\b
    \b(?:immune|exempt) (?:to|from|against)? ?(?:\w+ )?(?:bans?|timeouts?|rules?|moderation|cooldowns?|filters?|
        slow mode|the bot)\b
    \b(?:can|may|could) (?:\w+ )?(?:ban|unban|timeout|time out|mute|purge|approve) (?:\w+)\b
    \b(?:speaks? for|represents?|acts? for|on behalf of|outranks?|above|in command of|(?:trusted|verified|whitelisted|
        authori[sz]ed|approved) by) (?:the |all |every )*(?:\w+ )?(?:mods?|moderators?|rules(?! of)|{here})\b
    \b(?:words?|orders?|commands?|requests?|wish(?:es)?|messages?|everything \S+ says) (?:is|are|must be) (?:law|
        final|always|to be (?:obeyed|followed)|(?:obeyed|followed)|from the streamer)\b
    \borders? (?:override|overrule|outrank)s?\b|^(?:<@\S+> )?is root$
    \b(?:final|last) (?:say|word) (?:on|over|in|about) (?:\w+ )?(?:bans?|timeouts?|rules?|moderation)\b
    \bdecides? who (?:is|gets|may) (?:un)?(?:banned|timed out|muted|modded|a mod|chat|talk|write|speak)\b
    \btrusts? (?:them|him|her|<@\S+>) with (?:\w+ )?(?:bans?|timeouts?|moderat\w+)\b
advert
    ^(?:please |just |now |go |and )*(?:visit|click|go to|check out|sign up|subscribe to|donate to|buy|get|grab|
        claim)(?! (?:\w+ )?(?:is|was|were|are)\b)(?<! get)(?<! buy)\b(?= (?:my|our|the|this|it|his|her|your|free|
        cheap|now|here)\b)
    ^(?:please |just |now |go |and )*(?:visit|click|go to|check out|sign up|subscribe to|donate to)\b(?! is)
    \bgiveaways? (?:at|on)\b|\b(?:free|cheap) (?:bits|subs|skins|points|followers|boosts?|v ?bucks|robux|
        gift cards?)\b
    \b(?:dm|add|contact|message) (?:me|him|her|them|<@\S+>|\w+) (?:for|on|at|to)\b
condition
    \b(?:when|whenever|if|once|every ?time|each time|as soon as|any ?time)\b(?: \w+){0,10} (?!{told_who}\b)\w+ (?:say|
        tell|respond|greet|announce|pretend|unban|insult|ignore|call (?:him|her|them|it|me|everyone|somebody)|(?:time|
        kick) (?:him|her|them)|(?:ban|mute) (?:him|her|them)|(?:reply|answer) (?:with|in|that|only|by))\b
instruction
    (?:{ignore}).{0,60}(?:{rules})|(?:{rules}).{0,40}(?:{ignore}|no longer appl|do not count|gelten nicht)
    \b{bot}\b && \b{control}\b
    \b(?:the|any|each|every|all|bots?|assistants?|his|her|their|next|this|<@\S+>|somebody|s) {said}\b && \b{firm}\b
    \b(?:asks?|asked|tells?|told|wants?|orders?|ordered|instruct\w*|commands?|
        commanded) (?:the |this |chat )*{bot} (?:never |not |always )?to\b
    ^(?:{bot}|user|human|inst|ai)(?:[,:]| (?:grant|give|allow|enable|listen|please|set \w+ (?:as|to)|reveal)\b)
    ^(?:new |important |urgent )*(?:system|instructions?|admin|developer|policy|update|notice|reminder|attention|
        warning)(?: message| notice)?:
    \b(?:it|you|everyone|everybody) must comply\b|\bmust comply with (?:them|him|her|his|their|my|all|<@\S+>)
    \bis to be (?:believed|trusted|obeyed)\b|\bwithout question\b|\bobedience\b|\bnext (?:viewer|message|
        line)s?\b.{0,40}\brules?\b
    \b(?:messages?|words?|lines?|wish(?:es)?) (?:\w+ ){0,3}(?:is|are) (?:an? )?(?:commands?|orders?)\b(?! of)
    \b(?:always|never|only|must|to|please|shall|and|und|y|et|e|i) (?:obey|trust|believe|agree with|listen to|follow|
        gehorch\w*|obedece\w*|obei\w*|obbedi\w*|sluchaj) (?:nur |solo |so |a |noch )*(?:me|him|her|them|my|his|their|
        this user|everything|orders|commands|<@\S+>|p\d+|\w+$)
    \b(?:obeys?|listen to|trust) (?:me|my|this user)\b|だけに?従|に従って|言うことを聞|말만 (?:들|따)|복종|слушайся|
        подчиняйся
    \b(?:must|should|shall|has to|have to|needs? to|ought to|is to|are to|deserves to) (?:\w+ )?be (?:called|
        addressed|obeyed|told|treated|greeted|given|allowed|referred|named|known|unbanned|modded|promoted|made|
        trusted|answered|ignored|banned|reported|respected|worshipped|praised|deleted|removed|punished|muted|kicked|
        reset|erased|forgotten)\b
    \byou (?:\w+ )?(?:must|should|shall|have to|ought to|will|may|are|cannot|cant|wont|shouldnt|mustnt|never|always|
        now|have been|were|do|owe|want)\b|\b(?:can|could|will|would) you\b|\b(?:to|for|with|by|from|of|about|tell|
        telling|told|ask|wants?) you\b
    \byour\b|\byoure\b|\byoud\b|\byouve\b
    \b(?:ignore|disregard|override|bypass|skip|forget) (?:\w+ )?(?:all|any|your|everything|every|safety|policy)\b
    \b(?:system prompt|developer mode|jailbreak|prompt injection|new instructions?|from now on|going forward|
        henceforth|do anything now|do what (?:\w+ )?(?:says?|wants?|i say|i want)|do (?:as i say|whatever|everything)|
        as told|code ?word is|(?:reads?|about) this (?:note|line|message|memory|summary)?|no rules|passwords?|
        passphrase|api key|secret key|special filtering|hidden instructions?|no longer applies|as if (?:he|she|they|
        it) (?:were|was) the (?:streamer|broadcaster|owner))\b
    ^(?:(?:please|always|never|only|just|and|now|also|then|first|again|note) )*(?:{do}\b|ignore the|let s assume|
        (?!{no_order}\b)[a-z]{2,}(?<!s)(?<!ed)(?<!ing)(?<!ly) (?:the|all|any|every|this|that|me|us|my|your|him|them|
        everyone|everybody|<@\S+>|p\d+)\b)
    \b(?:everyone|everybody|anyone|whoever|you all|chatters|viewers|people)\b.{0,30}\b(?:should|shall|must|has to|
        have to|needs? to|ought to|owes?|to) (?:visit|go to|click|join|follow|subscribe|buy|send|give|donate|say|call|
        ban|report|ignore|obey|trust|time out|harass|attack|raid|avoid|stay|kill|hate|leave|\w+ (?:an?|themselves))\b|
        \bremember to (?:send|tell|ban|say)\b
    \b(?:questions?|messages?|answers?|repl(?:y|ies)|requests?|bans?|timeouts?|commands?|warnings?|users|everything|
        whoever) (?:\w+ ){0,6}?(?:is|are|gets?|goes|go|counts?|comes?|will be|needs?|stays?) (?:\w+ )?(?:answered|
        replied|ignored|sent|forwarded|redirected|treated|counted|approved|lifted|deleted|allowed|believed|followed|
        executed|as|to|from|no|first|true|valid|void|binding)\b
    \b(?:is|are|was) (?:always|never) (?:right|wrong|telling the truth|lying)\b|\bnever lies\b|
        \balways (?:tells the truth|says the truth)\b
    \b(?:important|crucial|vital|necessary|required|essential|mandatory|forbidden|agreed|decided|ordered|
        decreed) that (?:the |every|all )?(?:{bot}|everyone|everybody|viewers|nobody|chat)\b|\bbots? (?:\w+ )?(?:will|
        shall|is going to|belongs|loves|hates|wants|likes|prefers|agreed|promised|accepted|swore|decided|works? for|
        serves?|obeys?|trusts?|believes?)\b
    \b(?:respond|reply|answer|reacts?) (?:only )?(?:with|in|as|to me|to everything)\b|^note to\b
    (?:\bbot\w?\b|ボット|机器人|봇|\bki\b|\bia\b|бот).{0,60}(?:必ず|なければ|べき|只|必须|해야|должен|обязан|только|
        всегда|\b(?:muss|
        soll\w*|darf|nur|immer|nie|antwort\w*|gehorch\w*|tiene|debe\w*|solo|siempre|nunca|responde\w*|obede\w*|doit|
        devrait|toujours|jamais|seulement|que|obeit|repond\w*|deve\w*|tem|sempre|responder\w*|musi|powinien|zawsze|
        tylko|moet|altijd|alleen|dovrebbe|solo|rispond\w*|her zaman|sadece|zorunda|malı)\b)
    \b(?:zbanuj|забань|banla|banee)\w*|밴(?:해|시켜)
insult
    (?!.*\bin (?:the|an?|his|her|their) (?:\w+ )?(?:game|play|film|movie|story|show|series|rpg|
        campaign)\b){subject}{is} (?:\w+ ){0,5}?{insult}(?:$| )(?!person in|people skin|food)
    {subject}(?:sucks|stinks|smells|reeks|deserves to die|(?:has|have|got) no (?:friends|brains?|talent|life|skills?|
        shame|morals)|lives in filth|should (?:die|kill))\b|\b(?:nobody|no one) (?:likes|wants|loves)\b|\b(?:everyone|
        everybody|chat) hates\b
    \b(?:calls?|called|considers?|thinks?) (?:<@\S+>|somebody|p\d+) (?:\w+ ){0,3}?{insult}\b
    バカ|馬鹿|アホ|クズ|ブス|キモい|死ね|바보|멍청|병신|쓰레기|찌질|笨蛋|白痴|垃圾|傻[逼瓜]|\b(?:дурак|дура|идиот\w*|
        туп(?:ой|ая)|урод\w*|дебил\w*|лох|
        тварь|мразь|сука)\b
accusation
    (?!.*\bin (?:the|an?|his|her|their) (?:\w+ )?(?:game|play|film|movie|story|show|series|rpg|
        campaign)\b){subject}{is} (?:\w+ ){0,5}?{crook}(?:$| )
    (?:^|\bthat |\bwho |[,;:] |\band )(?:<@\S+>|somebody|p\d+|\w+) (?:\w+ly |always |often |never stops? )?{foul}\b|
        ^{foul}\b
    \b(?:to|keeps?|by|caught|accused of|admit\w*|for) (?:\w+ly )?(?:steal(?:ing)?|cheat(?:ing)?|lying|scam(?:ming)?|
        harass(?:ing)?|stalk(?:ing)?|abus(?:e|ing)|threaten(?:ing)?|dox(?:x?ing)?|blackmail(?:ing)?|groom(?:ing)?|
        hack(?:ing)?|fraud)\b
    (?:everybody|everyone|people) should (?:stay away|avoid)|\b(?:вор|воровка|мошенни\w+|лжец|обманщи\w+|украл\w*|
        ворует|обману\w+)\b
    泥棒|詐欺師|嘘つき|盗んだ|騙した|사기꾼|도둑(?!잡기)|거짓말쟁이|훔쳤|속였|小偷|骗子
"""


def _blocks(table: str) -> Iterator[tuple[str, list[str]]]:
    """The names of a table with their patterns; a pattern goes on where a line is indented by eight."""
    for block in re.findall(r"^\S.*(?:\n .*)*", table, re.MULTILINE):
        name, _, rest = block.partition("\n    ")
        yield name, ["".join(map(str.strip, part.split("\n"))) for part in re.split(r"\n    (?! )", rest)]


def _patterns() -> Iterator[tuple[str, list[list[re.Pattern[str]]]]]:
    parts = {name: "".join(lines) for name, lines in _blocks(_PARTS)}
    for name, patterns in _blocks(_RULES):
        whole = "\n".join(patterns)
        while found := re.search(r"\{([a-z_]+)\}", whole):
            whole = whole.replace(found[0], parts[found[1]])
        alone = "|".join(line for line in whole.split("\n") if " && " not in line)
        together = [line.split(" && ") for line in whole.split("\n") if " && " in line]
        yield name, [[re.compile(part) for part in all_of] for all_of in ([alone], *together)]


_PATTERNS = tuple(_patterns())
"""Each rule's patterns; of each list all have to be found."""
_MARKUP = re.compile(
    r"</?[a-z][^<>]{0,60}>|\[/?[A-Z]{3,}|\{\s*[\"']|```|^\s*[\[/!]\s*\w|^\s*(?:SYSTEM|ASSISTANT|USER)\s*:|^\s*@\w|&lt;"
)
_LINK = re.compile(r"\b\w+ ?\. ?(?:ly|com|net|gg|tv|me|link|example)(?: ?/|\b)|discord ?\. ?gg", re.IGNORECASE)
_PART = re.compile(r"[;:]\s")
_QUESTION = re.compile(r"[?？؟]\s*[\"'”’)]*\s*$")
_SPACED_OUT = (re.compile(r"\b(?:(?:[ai] )?)((?:\w ){2,}\w)\b"), re.compile(r"\b((?:\w ){2,}\w)\b"))
"""Words of single letters, once with the "a" or "i" before them as a word of its own, once as their first letter."""


def text_fault(text: str, *, links: bool = False) -> str | None:
    """The rule that refuses a sentence or a fact, or None. `links`: it may name an address."""
    if len(text) > LONGEST:
        return "length"
    parts = (part for sentence in sentences_of(text) for part in _PART.split(sentence))
    found = (_sentence_fault(part, links=links) for part in (text, *parts) if part)
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
        for name, patterns in _PATTERNS:
            if any(all(pattern.search(reading) for pattern in all_of) for all_of in patterns):
                return name
    return None


def _joined(text: str, spaced_out: re.Pattern[str]) -> str:
    """The words alone, with words that were spaced out ("m o d") put together again."""
    return spaced_out.sub(lambda found: found[0].replace(found[1], found[1].replace(" ", "")), " ".join(words(text)))
