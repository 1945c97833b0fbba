"""What a language model is shown, asked and billed for."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


@dataclass(frozen=True, slots=True)
class Section:
    """One part of a prompt as it was sent. `rows` are database ids; `dropped` counts rows left out of it.

    `others`: rows of another table than the section's own, each with what it is of ("replies", "streams").
    """

    name: str
    text: str
    tokens: int
    rows: tuple[int, ...] = ()
    dropped: int = 0
    others: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a reply's model call sees."""

    prefix: str
    tail: str
    sections: tuple[Section, ...]
    estimated_tokens: int
    shed: tuple[str, ...] = ()


class Purpose(StrEnum):
    """What a model call is for; the meter and the settings tell them apart."""

    REPLY = "reply"
    SUMMARY = "summary"
    RECAP = "recap"
    EXTRACT = "extract"
    DIGEST = "digest"
    BRIEF = "brief"


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One call to a language model. `schema` is a JSON schema that the answer's text must satisfy.

    `plain_system`: the system text for a server that can hold its model to no JSON, which then answers in plain text;
    None: only JSON will do. `language`: the interface's, for a model that words its answers by rules.
    """

    purpose: Purpose
    system: str
    prompt: str
    max_output_tokens: int
    temperature: float | None = None
    schema: Mapping[str, Any] | None = None
    plain_system: str | None = None
    language: str = "en"


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens as the provider billed them; None where it does not say. `input` includes `cached`."""

    input: int | None = None
    cached: int | None = None
    output: int | None = None
    thoughts: int | None = None


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """A model's text with its bill. `finish`: "stop", "length" or the provider's own word.

    `plain`: a schema was asked for, and this is the plain text of a server that cannot do JSON.
    """

    text: str
    model: str
    usage: TokenUsage
    finish: str = "stop"
    latency_ms: int = 0
    plain: bool = False
