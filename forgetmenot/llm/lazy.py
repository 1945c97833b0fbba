"""A model whose adapter is imported when it is first asked, off the event loop: an SDK costs a second to import."""

import asyncio
from collections.abc import Callable

from forgetmenot.domain.model import ModelAnswer, ModelRequest
from forgetmenot.late_imports import make_off_the_loop
from forgetmenot.ports import LanguageModel


class Lazy:
    """A LanguageModel that is made at its first call."""

    def __init__(self, name: str, make: Callable[[], LanguageModel]) -> None:
        self._name = name
        self._make = make
        self._model: LanguageModel | None = None
        self._lock = asyncio.Lock()

    @property
    def name(self) -> str:
        """The model's name, known before it is made."""
        return self._name

    async def generate(self, request: ModelRequest) -> ModelAnswer:
        """Make the model if need be, and ask it."""
        async with self._lock:
            if self._model is None:
                self._model = await make_off_the_loop(self._make)
        return await self._model.generate(request)

    async def aclose(self) -> None:
        """Close the model, if it was ever made."""
        async with self._lock:
            if self._model is not None:
                await self._model.aclose()
                self._model = None
