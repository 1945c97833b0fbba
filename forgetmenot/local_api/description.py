"""The OpenAPI 3.1 document of the interface, made of the types that it answers with."""

import msgspec

from forgetmenot import __version__
from forgetmenot.local_api import answers

_REF = "#/components/schemas/{name}"
# path, name of the operation, what it returns, what it is for
_PATHS: tuple[tuple[str, str, type | None, str], ...] = (
    (
        "/v1/viewers/{login}",
        "get_viewer",
        answers.Viewer,
        "What is known of a viewer, by their present login.",
    ),
    ("/v1/channel", "get_channel", answers.Channel, "How the channel stands."),
    (
        "/v1/book",
        "get_book",
        answers.Book,
        "Kept quotes, running jokes, clips, markers.",
    ),
    ("/v1/recap", "get_recap", answers.Recap, "The newest recap of a stream."),
    (
        "/v1/events",
        "listen",
        None,
        "Server-sent events: `arrived` (a Viewer), `learned` (a Learned) and `recap` (a Recap).",
    ),
)


def document(host: str) -> dict[str, object]:
    """Return the document. `host`: the name and port by which it was asked for."""
    answer_types = [answer for _path, _name, answer, _purpose in _PATHS if answer]
    # No path answers with a Learned, which is the data of an event: it is described for those who read the stream.
    schemas, components = msgspec.json.schema_components(
        [*answer_types, answers.Learned],
        ref_template=_REF,
    )
    paths = {}
    # msgspec returns them in the order of the types.
    references = iter(schemas)
    for path, name, answer, purpose in _PATHS:
        content: dict[str, object] = {
            "text/event-stream": {"schema": {"type": "string"}}
        }
        if answer is not None:
            content = {"application/json": {"schema": next(references)}}
        paths[path] = {"get": _operation(path, name, purpose, content)}
    return {
        "openapi": "3.1.0",
        "info": {"title": "ForgetMeNot", "version": __version__},
        "servers": [{"url": f"http://{host}"}],
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(
    path: str,
    name: str,
    purpose: str,
    content: dict[str, object],
) -> dict[str, object]:
    """Return one path of the document; all of them only read."""
    operation: dict[str, object] = {
        "operationId": name,
        "summary": purpose,
        "responses": {
            "200": {"description": "The answer.", "content": content},
            "401": {"description": "The token is missing or wrong."},
            "404": {"description": "Nothing is known, or the interface is off."},
        },
    }
    if "{login}" in path:
        operation["parameters"] = [
            {
                "name": "login",
                "in": "path",
                "required": True,
                "schema": {"type": "string"},
            }
        ]
    return operation
