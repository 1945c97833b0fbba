"""Which voice speaks: the persona of [bot], or one of `[personas.NAME]`, and whose notes it knows. Pure."""

from typing import NamedTuple

from forgetmenot.settings.schema import Settings


class Persona(NamedTuple):
    """The voice of the moment. `name` is empty for the one in [bot]; `writes_as`: whose the notes are that it makes."""

    name: str
    text: str
    language: str
    writes_as: str
    knows: frozenset[str]

    def sees(self, persona: str) -> bool:
        """Whether a note of that persona ('': of all) is shown while this one speaks."""
        return persona in self.knows


def speaking(settings: Settings) -> Persona:
    """The persona that `speaks_as` names; the one of [bot] where it names none."""
    return persona_of(settings, settings.bot.speaks_as)


def persona_of(settings: Settings, name: str) -> Persona:
    """One persona; the one of [bot] for a name that is not there."""
    bot = settings.bot
    chosen = settings.personas.get(name)
    if chosen is None:
        return Persona("", bot.persona, bot.language, "", frozenset({""}))
    return Persona(
        name,
        chosen.persona or bot.persona,
        chosen.language or bot.language,
        name if chosen.own_notes else "",
        frozenset({"", name}) | _inherited(settings, name),
    )


def _inherited(settings: Settings, name: str) -> frozenset[str]:
    """Whose notes a persona knows besides its own; whom it inherits from may have inherited in its turn."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        one = settings.personas.get(waiting.pop())
        for other in one.inherits if one is not None else ():
            if other not in found:
                found.add(other)
                waiting.append(other)
    return frozenset(found)
