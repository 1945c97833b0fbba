"""A model without a network or a key: deterministic rules that read the same prompts and answer in the same forms.

It shows the whole road, keeps the memory working where no model is configured, and says that it is offline.
"""

from forgetmenot.domain.model import ModelAnswer, ModelRequest, TokenUsage


class Offline:
    """A LanguageModel of rules. Same request, same answer."""

    @property
    def name(self) -> str:
        """What the meter and the telemetry call it."""
        return "offline"

    async def generate(self, request: ModelRequest) -> ModelAnswer:
        """Answer by purpose; never empty."""
        text = "I'm running offline."
        return ModelAnswer(
            text, self.name, TokenUsage(len(request.system + request.prompt) // 3, None, len(text) // 3, 0)
        )

    async def aclose(self) -> None:
        """Nothing to give back."""
