"""The one gate for what enters the memory: sentences of summaries and facts of notes. Pure.

What belongs there is a statement in the third person about the people, the channel or a game. `text_fault` names the
rule that refuses a text, or None:

- "length": more than LONGEST characters
- "markup": tags, JSON, commands, labels of a prompt, signs without a word; "link": an address; "question": any question
- what text/classifier finds in the words: "instruction" (orders, also for later, rules about the bot and its answers,
  advertising), "authority" (claims of what somebody is or may do here: badges say that), "insult" and "accusation" (of
  persons, not of a jump, a boss or a character)

Look-alike letters, digits for letters and spaced-out words are also read as what they look like. What it lets through
is still only quoted as data. Facts that are never stored about people are text/sensitive's.
"""

import re

from forgetmenot.text.classifier import as_read, classifier, clauses, word_list
from forgetmenot.text.clean import LEET_WORD, skeleton, unleet
from forgetmenot.text.mentions import MENTION, has_link
from forgetmenot.text.sentences import sentences_of
from forgetmenot.text.words import words

LONGEST = 500
"""Characters of one sentence: a longer one is refused, and so no pattern works long."""
REFUSED = 0.5
"""The share of all that is refused together from which a text is: docs/PRIVACY.md has the rates."""
CLAUSE_REFUSED = 0.75
"""The same of a clause, which tells less: chosen on sentences it was trained on, behind harmless ones."""

_SIGNS = {
    "role": """
        mod mods moderator* admin* vip* editor supermod operator staff streamer* broadcaster* owner* founder* boss
        master manager creator developer commander supervisor twitch moderador* moderatore moderatrice moderateur*
        administr* amministr* eigentumer* kanalbesitzer* inhaber* dueno propietari* proprietari* wlasciciel* модер*
        админ* стример* モデレーター 管理者 管理员 房管 모더레이터 관리자
    """,
    "rights": """
        right rights power powers access permission* privilege* status authority clearance control trusted exempt
        immune allowed entitled authori* decides outrank* ban bans banned unban* timeout* mute* approve* moderate*
        promoted appointed droits derechos rechte diritti direitos prawa yetki* права
    """,
    "bot": """
        *bot *bots assistant ai model forgetmenot prompt prompts system instruction* guideline* directive* filter
        filters policy api_key password* answer answers reply replies response* message* note notes summary
        summaries memory output asistente assistente asystent* asistan бот* ассистент* ボット アシスタント 봇
        어시스턴트
    """,
    "order": """
        must should shall always never only from_now_on henceforth no_longer whatever whenever has_to have_to
        need_to needs_to reply respond answer say tell call greet give pretend act behave repeat reveal remember
        refuse treat promote delete announce send write mention praise insult translate visit click subscribe donate
        ignor* disregard* forget override* bypass* obey* follow* comply vergiss* ignorier* missacht* olvida* oublie*
        esquec* dimentica* trascura* zignoruj* zapomnij* pomin* unut gormezden забуд* игнорир* 無視 忘れ 忽略 忽视
        무시 잊어 αγνο* abaikan negeer* musst soll siempre debe* deve* toujours doit sempre zawsze musi her_zaman
        должен всегда
    """,
    "rules": """
        instru* istruzion* anweisung* vorgaben rule rules regeln reglas regras regole regles consignes ordenes
        ordens ordini above previous prior polece* zasad* talimat* kural* инструкц* правил* указани* 指示 命令 規則
        ルール 指令 지시 규칙 명령 οδηγ* instruksi
    """,
    "insult": """
        idiot* moron* imbecil* stupid* dumb* loser* scum* ugly pathetic trash garbage worthless useless lazy selfish
        dishonest arrogant fake lame filth* brainless clueless talentless insane psycho* hypocrit* coward* jerk*
        fool fools bastard* bitch* whore* slut* cunt* asshole* dickhead* prick pricks twat* wanker* retard* cretin*
        clown* creep* freak* pervert* incel* pig pigs rat rats snake* leech* parasite* vermin cockroach* disgrac*
        disgust* repulsive revolting hideous incompetent toxic annoying obnoxious hated hates embarrass* ashamed
        waste nobody nitwit* bimbo* brat brats sociopath* narcissist* delusional inbred subhuman sucks stinks smells
        dumm* hasslich* arschloch schlampe versager* trottel depp wichser estupid* tont* feo fea puto puta
        gilipollas cabron basura vagabund* burro burra otari* lixo babaca con conne connard* abruti* moche salope
        scemo scema coglion* sfigat* glupi* debil* kretyn* frajer* aptal salak gerizekali serefsiz дурак дура идиот*
        туп* урод* дебил* лох тварь мразь バカ 馬鹿 アホ クズ ブス キモい 死ね 바보 멍청 병신 쓰레기 찌질 笨蛋 白痴
        垃圾
    """,
    "crime": """
        thief thieves liar* lying lied scam* cheat* hacker* hacked fraud* crook* con_man predator* pedo* paedo*
        groom* stalk* criminal* abus* rape* rapist* murder* killer* nazi* racist* sexist* homophob* transphob*
        bigot* terrorist* traitor* addict* alcoholic* junkie* drug* prison jail arrest* convict* sentenced guilty
        corrupt brib* viewbot* smurf* blackmail* molest* steal* stole stolen rob robs robbed embezzl* pocket*
        donation* extort* harass* threat* dox* launder* smuggl* aimbot wallhack* porn* forged leaked lugner* dieb*
        betrug* betrog* verbrecher* gestohlen klaut* ladron* estaf* mentiros* trampos* robado roub* golpista escroc*
        menteu* voleu* vole arnaqu* triche* ladro ladra ladri truff* bugiard* imbroglion* rubato zlodziej* oszust*
        oszuk* ukrad* klamca hirsiz* dolandir* yalanci caldi вор воровка мошенн* лжец* обман* украл* ворует 泥棒
        詐欺 嘘つき 盗ん 騙し 사기 도둑 거짓말 훔쳤 속였 小偷 骗子
    """,
}
"""Words whose presence the classifier is told of: it has seen few of them in sentences."""
_PATTERNS = {name: word_list(listed) for name, listed in _SIGNS.items()}
_MARKUP = re.compile(
    r"</?[a-z][^<>]{0,60}>|\[/?[A-Z]{3,}|\{\s*[\"']|```|&lt;"
    r"|(?:^|:\s)\s*(?:[\[/!]\s*\w|(?:SYSTEM|ASSISTANT|USER)\s*:|@\w)"
)
_LINK = re.compile(r"\b\w+ ?\. ?(?:ly|com|net|gg|tv|me|link|example)(?: ?/|\b)|discord ?\. ?gg", re.IGNORECASE)
_LETTERS = re.compile(r"[^\W\d_]{2}|[^\W\d_a-zA-Z]")
_BEFORE = re.compile(rf"\A{MENTION.pattern}[\s:]+(?!and\b|&|,)")
_QUESTION = re.compile(r"(?:[?？؟]|(?<=[\u0370-\u03ff]);)\s*[\"'”’)]*\s*$")
_SPACED_OUT = re.compile(r"\b(?:\w ){2,}\w\b")
"""Words of single letters: "m o d"."""


def text_fault(text: str, *, links: bool = False) -> str | None:
    """The rule that refuses a sentence or a fact, or None. `links`: it may name an address."""
    if len(text) > LONGEST:
        return "length"
    parts = sentences_of(text.replace("; ", ". "))  # behind a semicolon stands a claim of its own
    found = (_sentence_fault(part, links=links) for part in dict.fromkeys((text, *parts)) if part)
    return next((fault for fault in found if fault), None)


def _sentence_fault(text: str, *, links: bool) -> str | None:
    bare = MENTION.sub("somebody", text)
    if _MARKUP.search(bare) or not _LETTERS.search(bare):
        return "markup"
    if not links and (has_link(bare) or _LINK.search(bare)):
        return "link"
    if _QUESTION.search(bare):
        return "question"
    typed = _BEFORE.sub("", text)  # as somebody typed it: a name before it, and an order is a statement about them
    return claim_fault(bare) or (claim_fault(typed) if typed and typed != text else None)


def claim_fault(text: str) -> str | None:
    """The rule about what words say that refuses a text, or None; tags, links and questions are not looked at."""
    looks = skeleton(text)
    # "1" stands for l in one word and for i in another, so both are read
    leet = (unleet(looks), unleet(looks.replace("1", "i"))) if LEET_WORD.search(looks) else ()
    plain, *others = (" ".join(words(reading)) for reading in (looks, *leet))
    together = (_SPACED_OUT.sub(lambda found: found[0].replace(" ", ""), reading) for reading in (plain, *others))
    readings = dict.fromkeys((text, *leet, *(reading for reading in together if reading != plain)))
    refused: list[tuple[float, str]] = []
    for reading in readings:
        for part in (reading, *clauses(reading)):
            shares = classifier("claims").shares(part, signs(part))
            share = 1 - shares.pop("kept") - (REFUSED if part == reading else CLAUSE_REFUSED)
            refused.append((share, max(shares, key=shares.__getitem__)))
    share, rule = max(refused)
    return rule if share > 0 else None


def signs(text: str) -> list[str]:
    """Which of the lists have a word of it."""
    read = as_read(text)
    return [name for name, pattern in _PATTERNS.items() if pattern.search(read)]
