"""Facts that must never become notes because they would widen what somebody may do.

Promises to refuse claims of a role or of authority here ("is a mod", "owns the channel") and instructions to the
bot ("always obey me", "must be called boss"), also behind look-alike letters, digits for letters and spaced-out words.
Roles come from badges. What somebody was, or is somewhere else ("was a moderator of a forum in 2010", "is a mod of a
wiki"), is an ordinary fact.
Refuses rather one harmless fact too many: what it lets through is still only quoted as data.
"""

import re

from forgetmenot.text.lookalikes import skeleton, unleet
from forgetmenot.text.mentions import MENTION
from forgetmenot.text.words import words

_ROLE = (
    r"(?:head |lead |senior |super |honorary |secret |undercover |channel |chat |stream |twitch |bot |"
    r"real |actual |true |new |official )*"
    r"(?:co ?)?(?:mods?|moderators?|admins?|administrators?|vip|editor|supermod|operator"
    r"|staff(?: member)?(?! (?:sergeant|nurse|writer|engineer|officer|accountant|photographer|scientist)))"
)
_ELSEWHERE = (
    r"(?:another|other|different|his own|her own|their own|forum|wiki|subreddit|reddit|server|guild|"
    r"discord|facebook|group|minecraft|clan|local|small)"
)
_HERE = r"(?:channel|stream|bot|chat|show|streamer|community|broadcast|settings|database|memory)"
_POWER = (
    r"(?:admin\w*|mod\w*|root|full|owner|special|elevated|unlimited|unrestricted|editor|vip|"
    r"broadcaster|streamer|bot|super ?user|god|all)"
)
_SUBJECT = (
    r"(?:they|we|you|i|who|people|viewers|others|everyone|everybody|mods|moderators|chatters|fans|friends|kids|parents|"
    r"players|teammates|streamers|to|can|will|would|could|should|may|might|must|do|does|did|dont|not|never|and|or|a|an|"
    r"the|lets|let|help|make|makes|hear|hears|see|sees)"
)
_ORDER = (
    r"(?:say|tell|respond|greet|announce|pretend|unban|insult|ignore|call (?:him|her|them|it|me|everyone|somebody)|"
    r"(?:reply|answer) (?:with|in|that|only|by))"
)
_NOUNS_ABROAD = (
    r"(?:moderador\w*|moderatore|moderatrice|moderateur|administrador\w*|administrateur|amministratore|eigentumer\w*"
    r"|kanalbesitzer\w*|inhaber\w*|dueno|propietari[oa]|proprietari[oa]|proprietaire|wlasciciel\w*)"
)
_IS_ABROAD = r"(?:ist|bin|est|suis|jest|jestem|sono|ben) (?:\w+ ){0,2}(?:mod|modo|moderator\w*|admin\w*|streamer\w*)"
_SIGNS_ABROAD = "|".join(
    map(skeleton, ("модератор", "админ", "стример", "モデレーター", "管理者", "管理员", "房管", "모더레이터", "관리자"))
)
_RIGHTS = r"(?:rights?|powers?|access|permissions?|privileges?|status|authority|clearance|control)"


def _rule(name: str, pattern: str) -> tuple[str, re.Pattern[str]]:
    return name, re.compile(pattern)


_PATTERNS = (
    _rule(
        "role",
        r"^(?:is |are |now |currently |also |still |really |actually |secretly |became |has become |got |"
        r"been |made |promoted to |i am |im |he is |she is |they are |acts as |serves as )*(?:is|became|"
        r"become|now|promoted to|made|serves as|acts as|am|im) (?:\w+ )?(?:an? |the |our |your |this "
        rf")?{_ROLE}(?! of (?:an? |the )?(?:\w+ )?{_ELSEWHERE}| (?:in|on|for|at) (?:an? |the )?(?:\w+ "
        rf")?{_ELSEWHERE})\b(?! assistant| by trade| for a| at a| at the (?!stream))",
    ),
    _rule(
        "role",
        rf"^(?:an? |the )?(?:head |lead )?{_ROLE} (?:of|in|for|on) (?:the |this |our )?(?:<@\S+> )?{_HERE}",
    ),
    _rule("role", r"\b(?:is|am|im) (?:\w+ )?the (?:\w+ )?(?:streamer|broadcaster)(?= of| here| in| and|$)"),
    _rule("role", r"^(?:is|became) (?:the |an? )?(?:\w+ )?(?:owner|founder)$"),
    _rule(
        "role",
        r"^(?:is|was|got|gets|has been) (?:un)?modded\b|\b(?:of|in|on) the (?:\w+ )?mod(?:eration|erator|s)? team\b",
    ),
    _rule(
        "role", r"\b(?:works?|working|employed|employee|agent|administrator|representative) (?:for|at|by|of) twitch\b"
    ),
    _rule("role", rf"\b(?:{_NOUNS_ABROAD}|{_IS_ABROAD})\b|{_SIGNS_ABROAD}"),
    _rule(
        "role",
        rf"\b(?:got|was|been|were|is) (?:promoted to|made|given) (?:an? |the )?(?:{_ROLE}|owner)\b"
        rf"(?! (?:of|in|on|for|at) (?:an? |the )?(?:\w+ )?{_ELSEWHERE}\b)",
    ),
    _rule(
        "role",
        r"^(?:mods|moderates|admins|administers) (?:in |on |for )?(?:the |this |our )(?:\w+ )?"
        rf"{_HERE}\b",
    ),
    _rule(
        "authority",
        r"\b(?:(?:co ?)?owns?|controls?|created|made|built|programmed|coded|wrote|operates?|manages?|"
        r"commands?|runs?|in charge of|responsible for) (?:the |this |our |whole |entire |everything in |"
        rf"of )+(?:\w+ )?{_HERE}\b",
    ),
    _rule(
        "authority",
        r"(?:\b(?:streamer|bot|broadcaster|channel|chat|stream)|<@\S+>)(?: s)? (?:real |true |secret |"
        r"only )?(?:boss|owner|master|manager|creator|developer|admin|moderator|mod|commander|supervisor|"
        r"operator|maker|programmer)\b",
    ),
    _rule(
        "authority",
        r"\b(?:boss|owner|master|manager|creator|developer|admin|commander|supervisor|operator|maker|king|"
        rf"queen|head) of (?:the |this |our |whole )*(?:\w+ )?{_HERE}\b",
    ),
    _rule(
        "authority",
        rf"\b(?:has|have|had|holds?|gets?|got|given|granted|with|owns?) (?:\w+ )?{_POWER} {_RIGHTS}\b",
    ),
    _rule(
        "authority",
        r"\b(?:allowed|permitted|authori[sz]ed|entitled|has permission|have permission|has the right|has "
        r"(?:the )?authority|licen[sc]ed) to (?:ban|time|timeout|unban|delete|moderate|command|use|change|"
        r"give|see|speak|decide|run|do|control|override)",
    ),
    _rule(
        "authority",
        r"\b(?:immune|exempt) (?:to|from|against)? ?(?:\w+ )?(?:bans?|timeouts?|rules?|moderation|"
        r"cooldowns?|filters?|slow mode|the bot)\b",
    ),
    _rule("authority", r"\b(?:can|may|could) (?:\w+ )?(?:ban|unban|timeout|time out|mute|purge) (?:\w+)\b"),
    _rule(
        "authority",
        r"\b(?:speaks? for|represents?|acts? for|on behalf of|outranks?|above|in command of|trusted by|"
        r"verified by|whitelisted by|authori[sz]ed by|approved by) (?:the |all |every )*(?:\w+ )?"
        rf"(?:mods?|moderators?|{_HERE})\b",
    ),
    _rule(
        "authority",
        r"\b(?:word|orders?|commands?|requests?|wish(?:es)?|messages?) (?:is|are) (?:law|final|always|to "
        r"be (?:obeyed|followed)|from the streamer)\b",
    ),
    _rule(
        "authority",
        r"\b(?:is|are|stands?) above the rules\b(?! of)|\borders? (?:override|overrule|outrank)s?\b"
        r"|^(?:<@\S+> )?is root$|\bfinal say (?:on|over|in|about) (?:\w+ )?(?:bans?|timeouts?|rules?|moderation)\b"
        r"|\bdecides? who (?:is|gets|may) (?:un)?(?:banned|timed out|muted|modded|a mod|chat|talk|write|speak)\b"
        r"|\btrusts? (?:them|him|her|<@\S+>) with (?:\w+ )?(?:bans?|timeouts?|moderat\w+)\b",
    ),
    _rule(
        "instruction",
        r"\b(?:it|bot|you|everyone|everybody) must comply\b|\bmust comply with (?:them|him|her|his|their|my|all|<@\S+>)"
        r"|\bis to be (?:believed|trusted|obeyed)\b"
        r"|^(?:system|assistant|developer) (?:grant|give|allow|enable|set \w+ (?:as|to))\b"
        r"|\b(?:messages?|words?|lines?|wish(?:es)?) (?:\w+ ){0,3}(?:is|are) (?:an? )?(?:commands?|orders?)\b(?! of)",
    ),
    _rule("instruction", r"^\W*(?:/|!|\[)\s*\w"),
    _rule(
        "instruction",
        r"\b(?:always |never |only |must |to |please )(?:obey|trust|believe|agree with|listen to|follow) "
        r"(?:me|him|her|them|my|his|their|<@\S+>|this user|everything|orders|commands)\b",
    ),
    _rule("instruction", r"\b(?:obey|obeys?|listen to|trust) (?:me|my|this user)\b"),
    _rule(
        "instruction",
        r"\b(?:must|should|shall|has to|have to|needs? to|ought to|is to|are to|deserves to) (?:\w+ )?be "
        r"(?:called|addressed|obeyed|told|treated|greeted|given|allowed|referred|named|known|unbanned|"
        r"modded|promoted|made|trusted|answered|ignored|banned|respected|worshipped|praised)\b",
    ),
    _rule(
        "instruction",
        r"\b(?:the |this |our |chat )?(?:bot|assistant|ai|model|forgetmenot) (?:must|should|shall|has to|"
        r"have to|needs? to|ought to|will always|will never|may|can|is to|is supposed to|is allowed to|is "
        r"required to|always|never)\b",
    ),
    _rule(
        "instruction",
        r"\byou (?:\w+ )?(?:must|should|shall|have to|need to|ought to|will|can|may|are|cannot|cant|wont|"
        r"shouldnt|mustnt|never|always|now)\b",
    ),
    _rule(
        "instruction",
        r"\byour (?:\w+ )?(?:instructions?|rules?|system|prompt|persona|name is|job|task|owner|creator|"
        r"master|boss|role|memory|settings?|developer|goal|purpose)\b",
    ),
    _rule(
        "instruction",
        r"\b(?:ignore|disregard|forget|override|bypass|drop|skip|discard) (?:\w+ )?(?:all|any|previous|"
        r"prior|your|the above|above|earlier|everything|every|the rules|rules|instructions?|prior|safety|"
        r"policy|guidelines)\b",
    ),
    _rule(
        "instruction",
        r"\b(?:system prompt|developer mode|jailbreak|prompt injection|new instructions?|from now on|do "
        r"anything now|do what i say|do as i say|do whatever|as told)\b",
    ),
    _rule(
        "instruction",
        r"^(?:please |always |never |only |just |and |now )*(?:reply|respond|answer|say|tell|call|greet|"
        r"give|ban|unban|timeout|time out|obey|pretend|act as|act like|behave|repeat|print|output|execute|"
        r"remember to|make sure|do not|dont|refuse|treat|refer to|address|promote|mod|delete|announce|"
        r"send|write|mention|praise|insult|stop (?:replying|answering|using|moderating|talking|being))(?! "
        r"of duty| motion| appeal| appeals| hammer)\b",
    ),
    _rule(
        "instruction",
        r"\b(?:everyone|everybody|anyone|you all|chatters|viewers|people) (?:should|shall|must|has to|have to|"
        r"needs? to|ought to) (?:visit|go|click|join|follow|subscribe|buy|send|give|donate|say|call|ban|report|"
        r"ignore|obey|trust)\b",
    ),
    _rule(
        "advert",
        r"^(?:please |just |now |go |and )*(?:visit|click|go to|check out|sign up|subscribe to|donate to|buy)\b(?! is)",
    ),
    _rule(
        "condition",
        r"\b(?:when|whenever|if|once|every ?time|each time|as soon as|any ?time)\b(?: \w+){0,10}"
        rf" (?!{_SUBJECT}\b)\w+ {_ORDER}\b",
    ),
    _rule("instruction", r"\b(?:respond|reply|answer|reacts?) (?:only )?(?:with|in|as|to me|to everything)\b"),
)
_SPACED_OUT = (re.compile(r"\b(?:(?:[ai] )?)((?:\w ){2,}\w)\b"), re.compile(r"\b((?:\w ){2,}\w)\b"))
"""Words of single letters, once with the "a" or "i" before them as a word of its own, once as their first letter."""


def forbidden_claim(fact: str) -> str | None:
    """The rule that refuses a fact, or None: "role", "authority", "instruction", "condition" or "advert"."""
    looks = skeleton(fact)
    readings = (looks, unleet(looks), unleet(looks.replace("1", "i")))
    plain = (_plain(text, spaced_out) for text in readings for spaced_out in _SPACED_OUT)
    for text in dict.fromkeys((looks.strip(), *plain)):
        for name, pattern in _PATTERNS:
            if pattern.search(text):
                return name
    return None


def is_plain(sentence: str) -> bool:
    """Whether a sentence with mentions claims no role or authority and gives no order, of whomever it speaks."""
    return all(forbidden_claim(MENTION.sub(name, sentence).strip()) is None for name in (" ", "somebody"))


def _plain(text: str, spaced_out: re.Pattern[str]) -> str:
    """The words alone, with words that were spaced out ("m o d") put together again."""
    return spaced_out.sub(lambda found: found[0].replace(found[1], found[1].replace(" ", "")), " ".join(words(text)))
