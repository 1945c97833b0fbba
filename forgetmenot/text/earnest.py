"""Whether somebody means what a line says about them, or quotes, supposes, wishes or jokes. Pure.

A line that is not meant is no evidence of a fact and corrects nothing. Prefers "not meant" where a word says so: what
is true is said again. Only marks are read (quotation marks, "imagine", "Kappa"); a joke with a straight face passes.
"""

import re

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
_JOKED = re.compile(
    r"(?:\A|\s)(?:kappa\w*|keepo|jk|j/k|jkjk|/s|/j|/jk|kidding|4head|megalul\s*jk)(?=\W|\Z)"
    r"|\b(?:just kidding|only kidding|kidding aside|joking|not really|trust me bro|source: trust me|april fools?)\b",
    re.IGNORECASE,
)


def meant_part(text: str) -> str:
    """What of a line its speaker may mean: nothing of a supposition or a joke, and without what stands in quotes."""
    if _JOKED.search(text) or _QUOTES.search(text) or _SUPPOSED.search(text):
        return ""
    return " ".join(_QUOTED.sub(" ", text).split())
