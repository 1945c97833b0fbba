"""A window of chat as a model reads it: handles for names, repeats collapsed, one line each. Pure.

    [20:14] P3: text                    [20:14] P3 (to the bot): text
    [20:15] * P4 subscribed             [20:15] KEKW ×37, 30 people
    [20:15] BOT: text

llm/offline/transcript reads the same format. Bare commands ("!so") are left out. Times are UTC.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from forgetmenot.domain.chat import EventKind, Line, Role, Standing
from forgetmenot.domain.memory import Part
from forgetmenot.memory.episodes.windows import Window
from forgetmenot.memory.handles import BOT, Handles
from forgetmenot.text.clean import clean
from forgetmenot.text.commands import is_command
from forgetmenot.text.cut import cut

OFTEN = 3
"""So many lines with the same words become one."""
MOST_CHARACTERS = 500
MOST_OF_A_REPEAT = 200
_ROLES = {Role.BROADCASTER: "streamer"}
_RANKS = (Role.BROADCASTER, Role.MODERATOR, Role.VIP)


def parts(window: Window, mentioned: Sequence[str] = ()) -> dict[str, Part]:
    """Who is in a window, by rank and then by lines: the streamer first; last who was only spoken about."""
    said = [line for line in window if not line.from_bot]
    lines = Counter(line.viewer_id for line in said)
    addressed = Counter(line.viewer_id for line in said if line.addressed)
    roles = {line.viewer_id: line.role for line in said}
    order = sorted(lines, key=lambda who: (_rank(roles[who]), -lines[who]))
    return {who: Part(lines[who], addressed[who]) for who in dict.fromkeys((*order, *mentioned))}


def _rank(role: Role) -> int:
    return _RANKS.index(role) if role in _RANKS else len(_RANKS)


def introduce(
    people: Mapping[str, Part], window: Window, standings: Mapping[str, Standing], handles: Handles
) -> list[str]:
    """A line about each: `P3 viewer, regular`."""
    roles = {line.viewer_id: line.role for line in window}
    return [_introduced(who, part, roles.get(who, Role.VIEWER), standings, handles) for who, part in people.items()]


def _introduced(who: str, part: Part, role: Role, standings: Mapping[str, Standing], handles: Handles) -> str:
    known = standings.get(who, Standing.NEWCOMER)
    absent = "" if part.lines else ", spoken about, said nothing"
    return f"{handles.handle(who)} {_ROLES.get(role, role.value)}, {known.value}{absent}"


def transcript(window: Window, handles: Handles) -> list[str]:
    """The window's lines."""
    repeats = _repeats(window)
    shown: list[str] = []
    told: set[str] = set()
    for line in window:
        key = _key(line)
        if key not in repeats:
            shown += _shown(line, handles)
        elif key not in told:
            told.add(key)
            shown.append(_collapsed(line, repeats[key], handles))
    return shown


def _key(line: Line) -> str:
    """What makes two lines the same: their words, with an emote written five times as good as once."""
    if line.kind not in {EventKind.MESSAGE, EventKind.ME} or line.from_bot or line.addressed:
        return ""
    words = clean(line.text).casefold().split()
    return " ".join(word for i, word in enumerate(words) if i == 0 or word != words[i - 1])


def _repeats(window: Window) -> dict[str, list[Line]]:
    same: dict[str, list[Line]] = defaultdict(list)
    for line in window:
        if (key := _key(line)) and not is_command(line.text):
            same[key].append(line)
    return {key: lines for key, lines in same.items() if len(lines) >= OFTEN}


def _collapsed(first: Line, lines: Sequence[Line], handles: Handles) -> str:
    people = len({line.viewer_id for line in lines})
    words = handles.hide_chat(cut(_key_as_typed(first), MOST_OF_A_REPEAT))
    return f"{_time(first)} {words} ×{len(lines)}, {people} {'person' if people == 1 else 'people'}"


def _key_as_typed(line: Line) -> str:
    words = clean(line.text).split()
    return " ".join(word for i, word in enumerate(words) if i == 0 or word.casefold() != words[i - 1].casefold())


def _shown(line: Line, handles: Handles) -> list[str]:
    if is_command(line.text):
        return []
    text = handles.hide_chat(cut(clean(line.text), MOST_CHARACTERS))
    if line.from_bot:
        return [f"{_time(line)} {BOT}: {text}"] if text else []
    who = handles.handle(line.viewer_id)
    happened = [f"{_time(line)} * {_told(who, handles.hide_chat(line.system_text))}"] if line.system_text else []
    to_bot = " (to the bot)" if line.addressed else ""
    return [*happened, f"{_time(line)} {who}{to_bot}: {text}"] if text else happened


def _told(who: str, sentence: str) -> str:
    """Twitch's own sentence, which mostly says itself who it is about."""
    return sentence if who in sentence.split() else f"{who}: {sentence}"


def _time(line: Line) -> str:
    minutes = line.at // 60_000 % 1_440
    return f"[{minutes // 60:02}:{minutes % 60:02}]"
