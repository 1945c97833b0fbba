"""What of a reply is not sent: claims that the bot did something in the channel, and machine text. Pure.

A clause is a claim where it holds a word for one of the catalogue's actions ("banned"), or the thing that an action
makes ("clip") with a word for having made it, unless it is denied, asked, supposed, or about others: simple and broad.
One short list per language (en, de, es, fr, pt). Claims without these words ("bob sits in the corner") and in other
languages are missed; the README says so.
"""

import re
from collections.abc import Collection, Iterator
from functools import lru_cache
from typing import NamedTuple

from forgetmenot.operations.catalogue import NAMES
from forgetmenot.text.clean import plain, skeleton


class _ClaimedAction(NamedTuple):
    """Names of actions, patterns for having done them, and patterns for what they make."""

    names: tuple[str, ...]
    done: str
    things: str = ""


_CLAIMED_ACTIONS = (
    _ClaimedAction(
        ("timeout", "long_timeout"),
        r"mut(?:ed|ing)|silenc(?:ed|ing)|gagged|t\.?o'd|tim(?:ed|ing|es)(?: \S+){0,3}? ?out|penalty box"
        r"|^(?:\w+ )?mutes \w+"
        r"|can(?:'t| no longer) (?:chat|type|talk|write)|stumm ?geschaltet|gemutet|getimeoutet"
        r"|silenciad[oa]|silencie|calle|muteado|mutee?|reduite? au silence|silenciei|mutei|mutad[oa]",
        "time-?out|mute|auszeit|castigo",
    ),
    _ClaimedAction(
        ("ban",),
        r"(?:perma ?|shadow ?|insta)?bann?(?:ed|ing)|booted|the boot|(?:kick|boot)(?:ed|ing) (?!off|back|in\b|it|the "
        r"|my |a |out of)"
        r"|kicked(?: \S+){0,3} (?:from|out of) (?:the )?(?:chat|stream|channel)|eject(?:ed|ing)|evicted|yeeted"
        r"|shown the door"
        r"|(?:threw|thrown|tossed) (?:\S+ ){0,2}out|(?:he|she|they|bob|user|troll|spammer)(?:'s|'re| is"
        r"| are) (?:\w+ )?(?:gone|out)"
        r"|^(?:\w+ )?(?:bans|kicks|boots) \w+|(?:ge|ver)bannt|gesperrt|(?:raus|hinaus)geworfen|rausgeschmissen|gekickt"
        r"|banea(?:d[oa]s?|r|ndo)|banee|expuls(?:ad[oa]|e|ar|ei)|echado|banni[es]?|expulsee?|exclue?s?|viree?|degagee?"
        r"|bani(?:d[oa]|r)?|tirei|chutei|kickei|kickad[oa]",
        "(?:perma ?-?)?ban(?: ?hammer)?|bann|baneo|ban(?:n?issement|imento)|exclusion",
    ),
    _ClaimedAction(
        ("untimeout", "unban"),
        r"un-?(?:bann?ed|muted|silenced|timed)|lifted|let (?:\S+ ){0,2}back in|(?:ent|un)(?:bannt|stummt|sperrt|mutet)"
        r"|aufgehoben|desbane(?:ad[oa]|e)|debannie?|demutee?|desban(?:id[oa]|i)|levantad[oa]",
    ),
    _ClaimedAction(
        ("delete", "forget"),
        r"delet(?:ed|ing)|purged|zapped|scrubbed|nuked|erased (?!from)|forgotten"
        r"|(?:took|taken) (?:\S+ ){0,3}down|forgot everything"
        r"|geloscht|entfernt|vergessen|bereinigt|weggeraumt"
        r"|borrad[oa]s?|borre|elimin(?:ad[oa]s?|e|ei)|quite|quitad[oa]|olvidad[oa]|olvide|limpi(?:ad[oa]|e)"
        r"|supprimee?s?|efface?e?s?|enlevee?s?|oubliee?|retiree?s?|nettoyee?"
        r"|apag(?:ad[oa]s?|uei)|remov(?:id[oa]s?|i)|delet(?:ad[oa]s?|ei)|esqueci(?:do)?|exclu(?:id[oa]s?|i)|limpei",
        "messages?|comments?|lines|links?|link|spoiler|spam|data|nachricht(?:en)?|daten|mensajes?|enlace|datos"
        "|donnees|lien|mensagem|dados",
    ),
    _ClaimedAction(("shoutout",), r"shout(?:ed|ing)[ -]?(?:\S+ )?out", r"shout[ -]?outs?|s/?o to \w+"),
    _ClaimedAction(
        ("title", "category"),
        r"renamed|umbenannt|renombrad[oa]|renommee?|renomead[oa]",
        "title|category|titel|kategorie|titulo|categoria|titre|categorie",
    ),
    _ClaimedAction(
        ("marker",),
        r"(?:book)?marked|markiert|marcad[oa]|marque[ei]?|marquei",
        "markers?|bookmark|markierung|marker|marcador|marqueur|repere",
    ),
    _ClaimedAction(("clip",), r"clipped(?! (?:in|into|out))|geclippt|clip(?:e?ad[oa]|ei|pee?)|on clip", "clips?|clipe"),
    _ClaimedAction(
        ("slow_mode", "emote_only"),
        r"verlangsamt|ralentie?|ralentizado|desacelerad[oa]",
        r"slow-? ?mod[eus]+|slowmode|(?:sub|subscriber|follower|emote|unique)s?[ -]?(?:only|chat|mode)\w*"
        r"|(?:nur )?emotes?"
        r"|modo (?:lento|solo \w+)|mode (?:lent|emotes?)|langsamer modus|modo \w+|chat",
    ),
    _ClaimedAction(
        ("announce", "say"),
        r"an(?:ge)?(?:kundigt|pinnt|gepinnt)|anunci(?:ad[oa]|e|ei)|annoncee?|epinglee?|fij(?:ad[oa]|e)|fix(?:ad[oa]"
        r"|ei)",
        "announcement|poll|prediction|raid|ankundigung|umfrage|anuncio|encuesta|annonce|sondage|enquete",
    ),
    _ClaimedAction(("effect",), "", "effect|alert|sound effect|effekt|efecto|alerta|effet|alerte|efeito"),
    _ClaimedAction(
        ("remember", "bit"),
        r"(?:i|i've|have) (?:remembered|stored|saved|noted) (?:that|it|this)|committed to memory|memori[sz]ed"
        r"|(?:wrote|written|jotted|noted)(?: \S+){0,3}? down|i'll (?:remember|keep) (?:that|it|this)"
        r"|gemerkt|notiert|aufgeschrieben|gespeichert|abgespeichert|anotad[oa]|apuntad[oa]|apunte|anote|guardad[oa]"
        r"|guarde"
        r"|c'est (?:bien )?note|notee?$|enregistree?|retenue?|memorisee?|anotei|guardei|gravei|memorizad[oa]",
        "notes?|memory(?: bank)?|records|notizen|gedachtnis|memoria|memoire",
    ),
    _ClaimedAction(
        ("",),  # a promise, which nobody keeps; what the bot cannot do at all, or has no name
        r"i(?:'ll| will|(?:'m| am) (?:going to|gonna)) (?:now |just )?(?:un)?"
        r"(?:ban|mute|kick|silence|time|delete|clip|mark|announce|shout)\b|ich werde (?:\S+ ){1,3}(?:ent)?bannen\b"
        r"|opted (?:\S+ )?(?:out|in)|(?:un|de)?modded|refunded|taken care|took care|consider (?:it|\S+) done|dealt with"
        r"|all set|it is so|^(?:aa*nd )?(?:all )?(?:done|sorted|handled)$|erledigt|^(?:ya )?(?:esta )?listo$|^pronto$"
        r"|c'est fait|hecho$|feito$",
        "vip|moderator|mod status",
    ),
)
_I = r"(?:i|i've|we|we've|just|already|successfully|hab|habe|ich hab\w*|acabo de|he|j'ai|acabei de|eu|ja|ya)"
_MADE = (
    r"done|set|made(?! (?:me|my|us)\b)|triggered|launched|fired|played|removed|wiped|cleaned|cleared|hidden"
    r"|lifted|(?:un)?locked|slowed|announced|pinned|posted|stored"
    r"|filed|logged|captured|executed|approved|now (?:says|reads)|created|added|placed|dropped|put|posted|sent|issued"
    r"|given|gave|started|closed|saved|updated|changed"
    r"|switched|turned|activated?|active|enabled|disabled|applied|ready|served|delivered|granted|handed|fixed|popped"
    r"|slapped"
    r"|(?:is|are|'s|now|all|back) (?:\w+ )?(?:on|off|up|in|out|live|over|gone|there)|(?:live|up|on|off|out|gone"
    r"|over)$|(?:here|there)'s"
    r"|^(?:\w+ )?(?:clipp|start|post|mak|creat|launch|sett|open|announc|runn|add|giv|send)ing"
    rf"|{_I} (?:got|grabbed|took|threw|hit|did|ran|dealt)|enjoy|(?:is|are) now|incoming|in effect"
    r"|gesetzt|gemacht|erstellt|gestellt|raus|aktiv(?:iert)?|an$|aus$|geandert|gewechselt|aktualisiert|steht"
    r"|gestartet|gegeben|weg|da$|gesendet|eingeschaltet"
    r"|puest[oa]|puse|cread[oa]|cree|hech[oa]|hice|enviad[oa]|envie|cambiad[oa]|cambie|activad[oa]|active|list[oa]"
    r"|publicad[oa]|di|le di|mande|actualizad[oa]"
    r"|fait[es]?|mise?s?|posee?|creee?|changee?|envoyee?|lancee?|publiee?|activee?|passee?|donnee?|modifiee?|en ligne"
    r"|feit[oa]|fiz|criad[oa]|criei|colocad[oa]|coloquei|enviad[oa]|enviei|mandei|mudad[oa]|mudei|tro(?:cad[oa]|quei)"
    r"|alter(?:ad[oa]|ei)"
    r"|dei|dado|ativad[oa]|ativei|ligad[oa]|liguei|pront[oa]|salv[oe]|salvei|no ar|atualizad[oa]"
)
_DENIED = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|neither|nope|unable|cannot|without|refuse[ds]?|\w+n't|cant|wont|dont|didnt"
    r"|nicht|kein\w*|nie|niemals|nichts|nadie|nunca|jamas|ningun\w*|pas|jamais|personne|aucun\w*|nao|ninguem|nem)\b"
    r"(?!(?<=\bno) (?:problem|worries|doubt|question|more|longer|appeal)\b|(?<=\bnot) only\b"
    r"|(?<=n't) (?:believe|wait|help|chat|type|talk|write)\b)"
)
_SUPPOSED = re.compile(
    r"\b(?:if|would|could|should|might|can(?!'t| no)|must|almost|nearly|wish|imagine|wants?"
    r"|(?<!i'm )(?<!i am )(?:going to|gonna)|let me|ask"
    r"|to have"
    r"|would've|could've|should've|deserves?|needs?|please|pls|remember to|wenn|konnte|sollte?|kann|konnen|bitte"
    r"|que alguien|podria|deberia|puede|pourrait|devrait|peut|poderia|deveria|pode|alguem)\b"
)
_OTHERS = re.compile(
    r"\b(?:they|(?:the|a|some|other|another|your|his|her|their|my) (?:mods?|moderators?|team|devs?|game|boss|guy"
    r"|enem(?:y|ies)|mic|music|audio)|mods|devs|coach|ref|referee|streamer|twitch|automod|nightbot|streamelements|someone|somebody"
    r"|everyone|who|whoever|said|told|heard|by (?:an?|the|that|this|some|his|her|one)|through"
    r"|from (?!(?:the |this )?(?:chat|here|now|channel|stream)\b)|durch|server|serveur|servidor"
    r"|d[ie][er] mods?|los mods|el mod|os mods|o mod|les modos?|il|elle|ils|quien|quem|alguien)\b"
    r"|^(?:(?:and|so|well|lol|haha|oh|then) )*(?:he|she|you(?! are|'re| may|'ve been| have been)|it)(?:'s|'ve|'d)? "
    r"(?!\w+[ai]do |is |was |are |has been |got |can't |no longer )\w+"
)
_LONG_AGO = re.compile(
    r"\b(?:once(?! (?:again|more|and for all))|yesterday|tomorrow|earlier|ago|back then|in (?:19|20)\d\d"
    r"|(?:last|next|this) (?:night|week|month|year|time|season|game|boss|patch)|gestern|letzte\w*|ayer|hier|ontem)\b"
)
_FIRST = re.compile(r"\b(?:i|i've|we|ich|yo|j'ai|eu)\b")
_MARK = re.compile(
    r"([.!?;,:…\n()]+|\s[-–—]+\s)|\b(?:but|and(?! for all)|so(?! to)|then|because|aber|und|pero|mais|mas)\b"
)
_MARKUP = re.compile(r"[*_~`]")
_SIGNS = re.compile(r"[✅✔☑🔨→¡¿]")


def claims_action(text: str, done: Collection[str] = ()) -> bool:
    """Whether any clause claims an action other than those in `done`."""
    action, thing = _words(frozenset(done))
    for clause in _statements(text):
        made = _MADE_ONE.search(clause) and thing.search(clause)
        is_claim = made or action.search(clause) or _CURT.search(clause)
        is_denied = any(pattern.search(clause) for pattern in (_DENIED, _SUPPOSED, _OTHERS))
        if is_claim and not is_denied and (_FIRST.search(clause) or not _LONG_AGO.search(clause)):
            return True
    return False


def _statements(text: str) -> Iterator[str]:
    """The clauses in plain lower case, without questions."""
    parts = _MARK.split(plain(_SIGNS.sub(" ", _MARKUP.sub("", text)).replace("’", "'")))
    for clause, mark in zip(parts[::2], [*parts[1::2], ""], strict=True):
        if "?" not in (mark or ""):
            yield " ".join(clause.split())


_CURT = re.compile(
    r"^(?:\w+ )?(?:gone|removed|muted|kicked|lifted|noted|stored|saved|announced|pinned|marked|cleaned|wiped"
    r"|slowed)(?: (?:down|now|up|it|that))?$"
)
_MADE_ONE = re.compile(rf"(?<!\w)(?:{_MADE})(?!\w)")


@lru_cache(maxsize=64)
def _words(done: frozenset[str]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Patterns for all actions but these, and for the things that they make."""
    rows = [action for action in _CLAIMED_ACTIONS if not done.intersection(action.names)]
    actions = "|".join(action.done for action in rows if action.done)
    things = "|".join(action.things for action in rows if action.things)
    return re.compile(rf"(?<!\w)(?:{actions})(?!\w)"), re.compile(rf"(?<!\w)(?:{things})(?!\w)")


# What only a program would write or read (JSON, calls, tags, the prompt's own annotations) is cut from a line for chat.
# None of it could do anything: an action comes from the reply object's own field alone. Ordinary brackets stay:
# "[clip]", "(finally!)", "<3", "x[0] = 3". Cutting twice changes nothing more; time grows with the text's length.


LONGEST = 1_200
_PASSES = 6
_ACTION_NAMES = "|".join(sorted({name.replace("_", r"[_\s-]?") for name in NAMES} | {"mute", "kick", "purge"}))
_KEYS = "action|if_refused|target|user(?:name)?|seconds|duration|reason|fact|what|text|name|arguments|parameters|args"
_PARTS = (
    "instructions|channel|channel_notes|channel_notes_more|digest|episodes|now|speaker|brief|lore|others|past_episode"
    "|own_messages|chat|bot_replies|actions_done|message"
)
_WORD = rf"(?:{_PARTS}|{_ACTION_NAMES}|action|tool\w*|function\w*|invoke|parameter|command|think\w*)"
_ACTION = r"[\W_]*".join("action")
_CALLS = rf"{_ACTION}|tool[\s_]?(?:call|code|use)\w*|function[\s_]?call\w*"
_ANY = r"[^\n]{0,400}?"
_SOURCES = "said by (?:them|others)|asked to be remembered|imported|seen in chat"

# What stands in brackets of any kind; the end of the line closes what is left open.
_BRACKETED = re.compile(
    rf"[\[{{<][\[{{<(\W_]{{0,12}}(?:{_CALLS})(?:\W|_|\Z)(?:[^\[\]{{}}<>\n]{{0,400}}[\]}}>)]+|{_ANY}(?:\n|\Z))"
    rf"|</?\s?(?:\w{{1,20}}:)?{_WORD}\b[^<>\n]{{0,200}}(?:>|\n|\Z)"
    r"|<\|[^<>\n]{1,40}\|>|<!--[^\n]{0,400}?(?:-->|\n|\Z)"
    r"|\s?(?:\[|\b)(?:id|note|row)\s?[:#]\s?\d{1,12}(?:;[^\[\]\n]{0,200})?\]:?|(?<!\w)\[\d{5,12}\]:?|(?<!\w)\[(?=\w*\d)[0-9a-f]{6}\]:?"
    rf"|\s?\((?:{_SOURCES})(?:;[^()\n]*)?(?:\)|\n|\Z)|\s?\[(?:just now|{_SOURCES})(?:;[^\[\]\n]*)?\]"
    r"|\s?\((?:recap of [a-z ]{0,20})?\d{4}-\d\d-\d\d[^()\n]{0,80}(?:ago|today|stream)\)"
    rf"|[\[{{<][^\[\]{{}}<>\n]{{0,80}}?\b(?:{_KEYS})[\"']?\s?(?:=\s?|:\s?(?!\d))[^\s\[\]{{}}<>][^\[\]{{}}<>\n]{{0,400}}(?:[\]}}>]+|\n|\Z)"
)
# An object or a list of a program: cut to the bracket that closes it.
_JSON = re.compile(
    r"\[?\s?\{\s?(?:[\"'][^\"'\n]{0,60}[\"']\s?:|\w{1,32}\s?:\s?[\w\"'\[{]|\})|\[\s?[\"'{](?=[^\n]{0,80}[\"']\s?[:,\]])"
)
_LOOSE = re.compile(
    rf"[\"'](?:{_KEYS}|say|type|function|tool|cmd)[\"']\s?:\s?(?:[\"'][^\"'\n]{{0,500}}[\"']?|\{{|null|\w+)[,}}]{{0,3}}"
    rf"|(?<![\w-])(?:{_KEYS})=[^\s=]\S{{0,200}}"
    rf"|(?<![\w-])(?:{_CALLS})[\w\s]{{0,8}}[:=|]\s?(?:\w+\s){{0,2}}(?:{_ACTION_NAMES})\b[^\n]{{0,200}}"
    rf"|(?<![\w-])(?:\w{{1,20}}(?:\.|->|::)){{0,3}}(?:\w{{1,12}}_)?(?:{_ACTION_NAMES})\w{{0,8}}\s?"
    r"[(\[{](?:[^()\[\]{}\n]{0,80}[=\"']|\s?@?\w{1,32}\s?,\s?\d)[^()\n]{0,200}(?:[)\]}]|\Z)"
)
_BRACKETS = str.maketrans("［【〔〚⟦〖｛❴＜‹⟨〈＞›⟩〉］】〕〛⟧〗｝❵：＝＂“”", '[[[[[[{{<<<<>>>>]]]]]]}}:="""')
_EMPTY = re.compile(r"`{1,4}\w{0,8}\s?`{1,4}|\(\s*\)|\[\s*\]|\{\s*\}|<\s*>|(?<=\s)[\]}>]+(?=\s|\Z)|\A[\]}>]+(?=\s|\Z)")
_SPACES = re.compile(r"[^\S\n]+")
_BEFORE_MARK = re.compile(r"(?<=\S) ([.,!?;])(?=\s|\Z)")


def without_machine_text(text: str) -> str:
    """The text as people may read it; empty where nothing else was in it."""
    for _ in range(_PASSES):
        spans = _spans(text)
        if not spans:
            return text
        text = _cut(text, spans)
    return ""  # whatever keeps coming back wants to get through


def _spans(text: str) -> list[tuple[int, int]]:
    folded = "".join(map(_folded, text.translate(_BRACKETS)))
    spans: list[tuple[int, int]] = []
    at = 0
    while one := _JSON.search(folded, at):
        at = _closed(folded, one.start(), one.end())
        spans.append((one.start(), at))
    # whole objects first; the other patterns would cut pieces out of the middle of one
    return spans or sorted(one.span() for pattern in (_BRACKETED, _LOOSE) for one in pattern.finditer(folded))


def _folded(char: str) -> str:
    """One character as the eye takes it, in small letters; always one, so that places stay the same."""
    if char.isascii():
        return char.lower()
    seen = skeleton(char)
    return seen if len(seen) == 1 else char


def _closed(text: str, start: int, end: int) -> int:
    """Where the bracket at `start` closes; the end of the text where it does not: an object that was cut off."""
    depth = 0
    for place in range(start, min(len(text), start + LONGEST)):
        depth += (text[place] in "[{") - (text[place] in "]}")
        if depth == 0 and place >= end - 1:
            return place + 1
    return len(text)


def _cut(text: str, spans: list[tuple[int, int]]) -> str:
    parts, at = [], 0
    for start, end in spans:
        parts.append(text[at : max(at, start)])
        at = max(at, end)
    left = _EMPTY.sub(" ", " ".join([*parts, text[at:]]))
    return _BEFORE_MARK.sub(r"\1", _SPACES.sub(" ", left)).strip()
