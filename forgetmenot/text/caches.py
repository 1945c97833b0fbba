"""Caches of what was read from texts: one decorator for all, so that an erasure can empty them at once."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar, cast

Reader = TypeVar("Reader", bound=Callable[..., Any])
_clears: list[Callable[[], None]] = []


def text_cache(most: int) -> Callable[[Reader], Reader]:
    """`functools.lru_cache` for a function of texts that people wrote; the results for at most `most` are kept."""

    def cached(read: Reader) -> Reader:
        cache = lru_cache(maxsize=most)(read)
        _clears.append(cache.cache_clear)
        return cast("Reader", cache)

    return cached


def clear_text_caches() -> None:
    """Empty them all."""
    for clear in _clears:
        clear()
