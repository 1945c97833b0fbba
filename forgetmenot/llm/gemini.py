"""Google's Gemini, through google-genai. The only file that knows the SDK.

Guarantees:
- One request per `generate`; the SDK's retries, continuation and function calling are off.
- Only ModelError is raised, and the text is never empty.
- An error carries no server text except the status and known reasons: a server may echo chat.

It does not validate JSON.
"""

import contextlib
import re
import warnings
from collections.abc import Iterator

import aiohttp
import httpx2
from google import genai
from google.auth import exceptions as auth_errors
from google.genai import errors as sdk_errors
from google.genai import types

from forgetmenot.domain import ModelAnswer, ModelRequest, TokenUsage
from forgetmenot.errors import (
    ModelBlocked,
    ModelError,
    ModelRateLimited,
    ModelRefused,
    ModelUnavailable,
)
from forgetmenot.languages import reason
from forgetmenot.llm.answer_text import only_thought, unwrapped, visible_text
from forgetmenot.llm.build import KEY_PAGE
from forgetmenot.network import trusted

DEFAULT_BASE_URL = "https://generativelanguage.googleapis.com/"

# The server refuses a shorter deadline; llm/guarded.py keeps the real one.
MIN_TIMEOUT_S = 10.0
FINISHED = {
    types.FinishReason.STOP: "stop",
    types.FinishReason.MAX_TOKENS: "length",
    # There is more, which nobody asks for.
    types.FinishReason.CONTINUATION: "length",
}
# Raised by the SDK for a body of an unexpected shape.
SHAPE_ERRORS = (
    sdk_errors.ContinuationInterruptedError,
    ValueError,
    TypeError,
    AttributeError,
    KeyError,
    IndexError,
    RecursionError,
)
NETWORK_ERRORS = (
    aiohttp.ClientError,
    httpx2.HTTPError,
    auth_errors.GoogleAuthError,
    OSError,
)
# The SDK prints reasons that it does not know, which are whatever the server wrote.
warnings.filterwarnings(
    "ignore", message=r"(?s).* is not a valid ", module=r"google\.genai"
)
_DELAY = re.compile(r"\A(\d+(?:\.\d+)?)s\Z")


class Gemini:
    """One Gemini model."""

    def __init__(
        self,
        name: str,
        *,
        key: str,
        base_url: str = "",
        thinking: str = "",
        timeout_s: float = 60.0,
    ) -> None:
        self.name = name
        self._thinking = _thinking(thinking)
        self._client = genai.Client(
            api_key=key,
            vertexai=False,
            http_options=types.HttpOptions(
                base_url=base_url or DEFAULT_BASE_URL,
                api_version="v1beta",
                timeout=int(max(timeout_s, MIN_TIMEOUT_S) * 1_000),
                # With None the SDK sleeps 1 to 10 s after a refused connection, and tries again
                # outside its own timeout.
                retry_options=types.HttpRetryOptions(attempts=1),
                # By itself the SDK reads the certificates three times for each model.
                client_args={"verify": trusted()},
                async_client_args={"verify": trusted(), "ssl": trusted()},
            ),
        )

    async def generate(self, request: ModelRequest) -> ModelAnswer:
        """Return one answer. Raises ModelError."""
        config = types.GenerateContentConfig(
            system_instruction=request.system or None,
            temperature=request.temperature,
            max_output_tokens=request.max_output_tokens,
            response_mime_type="application/json" if request.schema else None,
            response_json_schema=dict(request.schema) if request.schema else None,
            thinking_config=self._thinking,
            # On by default and without a limit: 1,391 requests in 3 s were seen.
            automatic_continuation=False,
            automatic_function_calling=types.AutomaticFunctionCallingConfig(
                disable=True
            ),
        )
        with self._translating():
            response = await self._client.aio.models.generate_content(
                model=self.name, contents=request.prompt, config=config
            )
        return self._answer(response, request)

    async def aclose(self) -> None:
        """Close both of the SDK's clients."""
        await self._client.aio.aclose()
        self._client.close()

    def _answer(
        self, response: types.GenerateContentResponse, request: ModelRequest
    ) -> ModelAnswer:
        # The prompt itself was refused, so there is no candidate.
        feedback = response.prompt_feedback
        if feedback and feedback.block_reason:
            raise self._withheld(feedback.block_reason)
        candidate = response.candidates[0] if response.candidates else types.Candidate()
        # Some answers have no reason why they ended: they are whole.
        finish = candidate.finish_reason or types.FinishReason.STOP
        text = _text(candidate)
        if not text and finish is types.FinishReason.MAX_TOKENS:
            raise ModelBlocked(only_thought(self.name, request))
        # Seen now and then; the next try has words.
        if not text and finish is types.FinishReason.STOP:
            raise ModelUnavailable(reason("model_empty", model=self.name))
        if finish not in FINISHED:
            raise self._withheld(finish)
        if request.schema:
            text = unwrapped(text, request.schema.get("required", ()))
        usage = _usage(response.usage_metadata)
        return ModelAnswer(text, self.name, usage, FINISHED[finish])

    def _withheld(self, why: types.FinishReason | types.BlockedReason) -> ModelBlocked:
        word = _word(why)
        return ModelBlocked(reason("model_withheld", model=self.name, why=word))

    @contextlib.contextmanager
    def _translating(self) -> Iterator[None]:
        """Translate the exceptions of the SDK and of its two HTTP clients into ModelError."""
        try:
            yield
        except sdk_errors.APIError as error:
            # From None: the SDK's exception has the server's words, which may be the prompt's.
            raise self._translation(error) from None
        except TimeoutError as error:
            raise ModelUnavailable(reason("model_silent", model=self.name)) from error
        except NETWORK_ERRORS as error:
            kind = type(error).__name__
            why = reason("server_away", url="Gemini", error=kind)
            raise ModelUnavailable(why) from error
        # From None: what the SDK choked on stands in its exception.
        except SHAPE_ERRORS:
            raise ModelUnavailable(reason("model_empty", model=self.name)) from None

    def _translation(self, error: sdk_errors.APIError) -> ModelError:
        """Return the ModelError for an error of Gemini's server."""
        status = error.code
        wait_s = _retry_delay(error)
        if status == 429:
            return ModelRateLimited(reason("model_limit", model=self.name), wait_s)
        if status == 408 or status >= 500:
            return ModelUnavailable(reason("server_trouble", status=status), wait_s)
        # Gemini answers 400 to a key that does not exist.
        detail_reasons = [detail.get("reason") for detail in _details(error)]
        if status in {401, 403} or "API_KEY_INVALID" in detail_reasons:
            return ModelRefused(reason("gemini_key", status=status, page=KEY_PAGE))
        if status == 404:
            name = repr(self.name)
            return ModelRefused(reason("server_model", model=name, address="Gemini"))
        # The free tier is closed to some countries.
        if error.status == "FAILED_PRECONDITION":
            return ModelRefused(reason("gemini_place", status=status))
        hint = reason("hint_parameter")
        return ModelRefused(reason("server_refused", status=status, hint=hint))


def _thinking(word: str) -> types.ThinkingConfig | None:
    if not word:
        return None
    if word.isdigit():
        return types.ThinkingConfig(thinking_budget=int(word))
    return types.ThinkingConfig(thinking_level=types.ThinkingLevel(word.upper()))


def _text(candidate: types.Candidate) -> str:
    """Return the answer's visible text; a thought is no answer.

    `response.text` would warn about other parts.
    """
    content = candidate.content or types.Content()
    text = ""
    for part in content.parts or []:
        if part.text and not part.thought:
            text += part.text
    return visible_text(text)


def _usage(metadata: types.GenerateContentResponseUsageMetadata | None) -> TokenUsage:
    if metadata is None:
        return TokenUsage()
    return TokenUsage(
        input=metadata.prompt_token_count,
        cached=metadata.cached_content_token_count,
        output=metadata.candidates_token_count,
        thoughts=metadata.thoughts_token_count,
    )


def _word(reason: types.FinishReason | types.BlockedReason) -> str:
    """Return a reason in words.

    The SDK makes a member of whatever a server says: only those of its own definition count.
    """
    if reason.value not in type(reason).__members__:
        return "other"
    return str(reason.value).lower().replace("_", " ")


def _details(error: sdk_errors.APIError) -> list[dict[str, object]]:
    """Return the typed details of an error body; a body that is not JSON has none."""
    body = error.details
    if not isinstance(body, dict):
        return []
    inner = body.get("error", body)
    details = inner.get("details") if isinstance(inner, dict) else None
    if not isinstance(details, list):
        return []
    return [detail for detail in details if isinstance(detail, dict)]


def _retry_delay(error: sdk_errors.APIError) -> float | None:
    """Return the seconds after which the server wants to be asked again; None if it says none."""
    for detail in _details(error):
        written = str(detail.get("retryDelay", ""))
        delay = _DELAY.match(written)
        if delay is not None:
            return float(delay[1])
    return None
