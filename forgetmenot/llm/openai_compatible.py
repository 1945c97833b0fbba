"""Any server with `POST {base}/chat/completions`: Ollama, llama.cpp, LM Studio, and hosted ones.

Only aiohttp, no SDK: what these servers do differently is the work here, and the clients that were
tried (openai, pydantic-ai, any-llm) do less of it (docs/ARCHITECTURE.md, "Dependencies").

Guarantees:
- Only ModelError is raised, and the text is never empty.
- No thought of a model is returned; an answer that cannot be told from a thought is none.
- A parameter or format that a server refuses is left out, and so for ten minutes.
- An error carries no server text except the status and a known reason: a server may echo chat.

It does not validate the JSON against the schema.
"""

import contextlib
import time
from collections.abc import Callable, Iterator

import aiohttp

from forgetmenot.domain import ModelAnswer, ModelRequest
from forgetmenot.errors import (
    ModelBlocked,
    ModelError,
    ModelRateLimited,
    ModelRefused,
    ModelUnavailable,
)
from forgetmenot.languages import reason
from forgetmenot.llm import openai_wire_format as wire
from forgetmenot.llm.answer_text import (
    ends_with_object,
    is_thought,
    json_object,
    only_thought,
    unwrapped,
    visible_text,
)
from forgetmenot.llm.openai_wire_format import (
    Completion,
    Payload,
    Rejection,
    RequestForm,
)
from forgetmenot.logs import log
from forgetmenot.network import BadProxy, body_of, web_session

# A simpler form costs something (plain words propose no action), and a server may only have had a
# bad moment: after this time the whole form is tried again.
SIMPLER_FOR_S = 600.0
# Bytes. A server that never ends its answer must not fill the memory.
LARGEST_ANSWER = 2 * 1024 * 1024
# Tokens.
ROOM_FOR_THOUGHTS = 2_000
# llm/guarded.py keeps the real deadline.
TOTAL_TIMEOUT_S = 600.0
PATH = "/chat/completions"


class OpenAICompatible:
    """One model behind one base address (`http://127.0.0.1:11434/v1`).

    `key` may be empty. `now`: seconds of a monotonic clock.
    """

    def __init__(
        self,
        name: str,
        *,
        base_url: str,
        key: str = "",
        thinking: str = "",
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = name
        self._base = base_url.rstrip("/")
        self._key = key
        self._thinking = thinking
        self._now = now
        # Learned of this model: whether it needs room for thoughts, and what its server accepts.
        self._thinks = False
        self._learned = RequestForm()
        self._learned_until = 0.0
        self._answers_without_json = 0  # in a row
        self._session: aiohttp.ClientSession | None = None

    async def generate(self, request: ModelRequest) -> ModelAnswer:
        """Return one answer. Raises ModelError.

        A model that thinks unasked is asked once more with room for its thoughts, and gets that
        room from then on.
        """
        try:
            return await self._generate(request)
        except _ThoughtOnly as error:
            if self._thinks:
                raise ModelBlocked(str(error)) from None
        log.info("the model thinks and gets more output tokens", model=self.name)
        self._thinks = True
        try:
            return await self._generate(request)
        except _ThoughtOnly as error:
            raise ModelBlocked(str(error)) from None

    async def aclose(self) -> None:
        """Close the session."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def _generate(self, request: ModelRequest) -> ModelAnswer:
        """Ask in the fullest form that the server accepts and answers with JSON if it should."""
        first = self._known_form()
        form = first
        tried = {form}
        was_rejected = False
        while True:
            simpler: RequestForm | None
            try:
                completion = await self._complete(request, form)
            except _Rejected as rejected:
                simpler = form.after(
                    rejected.rejection, has_schema=request.schema is not None
                )
                if simpler is None or simpler in tried:
                    raise rejected.meaning from None
                was_rejected = True
            else:
                answer = self._answer(completion, request, form)
                if self._is_usable(answer, request):
                    self._remember(first, form, was_rejected=was_rejected)
                    return answer
                # The server took the format and did not keep to it.
                simpler = form.with_next_format()
                if simpler is None:
                    raise ModelUnavailable(reason("model_no_json", model=self.name))
            form = simpler
            tried.add(form)

    def _known_form(self) -> RequestForm:
        """Return the form that the server accepted last; after a while the whole one."""
        if self._now() > self._learned_until:
            self._learned = RequestForm()
        return self._learned

    def _remember(
        self,
        first: RequestForm,
        accepted: RequestForm,
        *,
        was_rejected: bool,
    ) -> None:
        """Begin with this form from now on, if the server refuses the whole one.

        A format that was ignored, not refused, counts only the second time in a row: any model
        forgets its JSON once.
        """
        if accepted == first:
            if first.format_index == 0:
                self._answers_without_json = 0
            return
        if not was_rejected:
            self._answers_without_json += 1
            if self._answers_without_json < 2:
                return
        self._learned = accepted
        self._learned_until = self._now() + SIMPLER_FOR_S

    def _is_usable(self, answer: ModelAnswer, request: ModelRequest) -> bool:
        """Return whether an answer is JSON where JSON is asked; one that was cut off may be."""
        if not request.schema:
            return True
        if answer.plain:
            return True
        if answer.finish == "length":
            return True
        return json_object(answer.text) is not None

    async def _complete(self, request: ModelRequest, form: RequestForm) -> Completion:
        """Send a request in this form.

        Raises ModelError, and _Rejected if another form may help.
        """
        payload = wire.payload(
            self.name, request, form, thinking=self._thinking, extra_tokens=self._room()
        )
        try:
            completion = await self._post(payload)
        except _NotFound as missing:
            # Ollama and llama.cpp serve these paths below /v1, which is easily forgotten
            if self._base.endswith("/v1"):
                raise missing.meaning from None
            base = self._base
            # kept for the calls to come, if anything answers there
            self._base = f"{base}/v1"
            try:
                completion = await self._post(payload)
            except _NotFound as again:
                self._base = base
                raise again.meaning from None
        return completion

    def _room(self) -> int:
        # These servers count thoughts as output: a limit for the words alone would leave none.
        return ROOM_FOR_THOUGHTS if self._thinks else 0

    async def _post(self, payload: Payload) -> Completion:
        """Send a payload and return what came back. Raises ModelError, _Rejected and _NotFound."""
        url = self._base + PATH
        headers = {}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        with self._translating(url):
            # to this address and no other: redirects are not followed
            sending = self._open_session().post(
                url,
                json=payload,
                headers=headers,
                allow_redirects=False,
            )
            async with sending as response:
                raw = await body_of(response, LARGEST_ANSWER)
                wait_s = _seconds(response.headers.get("Retry-After"))
                completion = wire.read(response.status, raw)
        if completion.status == 200:
            return completion
        meaning = self._error(completion, wait_s)
        rejection = completion.rejection(payload)
        error: Exception = meaning
        if rejection is not None:
            error = _Rejected(rejection, meaning)
        # Nothing is here, or nothing takes this form: a second address shows which.
        if completion.status == 404 and not completion.names_model:
            raise _NotFound(error)
        raise error

    def _open_session(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = web_session(aiohttp.ClientTimeout(total=TOTAL_TIMEOUT_S))
        return self._session

    def _answer(
        self,
        completion: Completion,
        request: ModelRequest,
        form: RequestForm,
    ) -> ModelAnswer:
        """Return the answer in a completion. Raises ModelError, _ThoughtOnly for a thought."""
        if completion.finish == "content_filter":
            why = reason("model_withheld", model=self.name, why="content filter")
            raise ModelBlocked(why)
        if completion.finish == "error" or not completion.has_choice:
            raise ModelUnavailable(reason("model_empty", model=self.name))
        text = visible_text(completion.content)
        can_be_plain = form.is_plain and request.plain_system is not None
        is_plain = bool(request.schema) and can_be_plain
        if request.schema and not is_plain:
            text = self._json_text(text, completion, request)
        if not text:
            raise self._no_text(completion, request)
        return ModelAnswer(
            text,
            self.name,
            completion.usage,
            completion.finish,
            plain=is_plain,
        )

    def _json_text(
        self,
        text: str,
        completion: Completion,
        request: ModelRequest,
    ) -> str:
        schema = request.schema or {}
        required = schema.get("required", ())
        if text:
            return unwrapped(text, required)
        if completion.tool_arguments:
            return completion.tool_arguments
        # the thought was cut off, so what ends it is no answer
        if completion.finish == "length":
            return ""
        # a server that holds a thinking model to a schema may take its answer for a thought
        return ends_with_object(completion.thought, required)

    def _no_text(self, completion: Completion, request: ModelRequest) -> Exception:
        """Return the error for an answer without a word that may be said."""
        has_thought = bool(completion.thought or completion.usage.thoughts)
        why = reason("model_empty", model=self.name)
        if completion.finish == "length":
            why = only_thought(self.name, request)
        if has_thought or is_thought(completion.content):
            return _ThoughtOnly(why)
        return ModelBlocked(why)

    @contextlib.contextmanager
    def _translating(self, url: str) -> Iterator[None]:
        """The one place where aiohttp's exceptions become ours."""
        try:
            yield
        except ModelError:
            raise
        except TimeoutError as error:
            raise ModelUnavailable(reason("model_silent", model=self.name)) from error
        except (aiohttp.ClientError, OSError) as error:
            kind = type(error).__name__
            why = reason("server_away", url=url, error=kind)
            raise ModelUnavailable(why) from error
        except BadProxy as error:
            sentence = str(error).rstrip(".")
            why = reason("server_away", url=url, error=sentence)
            raise ModelUnavailable(why) from None
        # from None: what it choked on stands in the exception
        except (ValueError, RecursionError):
            raise ModelUnavailable(reason("model_empty", model=self.name)) from None

    def _error(self, completion: Completion, wait_s: float | None) -> ModelError:
        """Return the error for a status, without a word of the server's."""
        status = completion.status
        if status in {401, 403}:
            return ModelRefused(reason("server_key", status=status))
        if status == 404 or completion.names_model:
            name = repr(self.name)
            address = self._base + PATH
            return ModelRefused(reason("server_model", model=name, address=address))
        # with a hint no wait helps, as where the credit is used up
        if status == 429 and not completion.hint:
            return ModelRateLimited(reason("model_limit", model=self.name), wait_s)
        if status == 408 or status >= 500:
            return ModelUnavailable(reason("server_trouble", status=status), wait_s)
        hint = reason(completion.hint or "hint_parameter")
        return ModelRefused(reason("server_refused", status=status, hint=hint))


class _ThoughtOnly(Exception):
    """The output tokens went on thinking."""


class _Rejected(Exception):
    """The server refused a request, perhaps for its form. `meaning`: the error if no form helps."""

    def __init__(self, rejection: Rejection, meaning: ModelError) -> None:
        super().__init__(str(meaning))
        self.rejection = rejection
        self.meaning = meaning


class _NotFound(Exception):
    """Nothing is at this address. `meaning`: the error if nothing is below /v1 either."""

    def __init__(self, meaning: Exception) -> None:
        super().__init__(str(meaning))
        self.meaning = meaning


def _seconds(header: str | None) -> float | None:
    if not header:
        return None
    try:
        return max(0.0, float(header))
    # a date: rare, and the backoff will do
    except ValueError:
        return None
