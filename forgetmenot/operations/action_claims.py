"""Finds claims in a reply that the bot did something in the channel. Pure.

Simple and broad: a clause is a claim where it holds a word for one of the catalogue's actions ("banned"), or the thing
that an action makes ("clip") with a word for having made it, unless it is denied, asked, supposed, or about others. One
short list per language (en, de, es, fr, pt). Claims
without these words ("bob sits in the corner") and in other languages are missed; the README says so.
"""

import re
from collections.abc import Collection, Iterator
from functools import lru_cache
from typing import NamedTuple

from forgetmenot.text.clean import plain


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
    return any(_is_claim(clause, action, thing) and not _is_harmless(clause) for clause in _statements(text))


def _is_claim(clause: str, action: re.Pattern[str], thing: re.Pattern[str]) -> bool:
    made = _MADE_ONE.search(clause)
    return bool(action.search(clause) or _CURT.search(clause) or (made and thing.search(clause)))


def _is_harmless(clause: str) -> bool:
    if any(pattern.search(clause) for pattern in (_DENIED, _SUPPOSED, _OTHERS)):
        return True
    return bool(_LONG_AGO.search(clause)) and not _FIRST.search(clause)


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
