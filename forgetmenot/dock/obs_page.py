"""A page on disk that waits for the bot and then goes over to its dock: what OBS is pointed to once.

OBS opens a dock when it starts and never again, so an address where nothing answers yet stays white. This file is
always there. It holds the token, so it is its owner's alone, and it gives the token to nobody who does not have it:

- the page asks `/waiting` with a challenge and a keyed hash of it, so the dock answers nobody but holders of the token,
  and another page does not even learn that a bot runs here;
- the dock answers with its own keyed hash, so a program that has taken the port does not get the token;
- the port is part of both, so such a program cannot pass the challenge on to a dock at another port.
"""

import base64
import contextlib
import hashlib
import hmac
import http.client
import re
import secrets
from importlib import resources
from pathlib import Path

from forgetmenot.errors import StoreError
from forgetmenot.files import make_own, replace_file
from forgetmenot.languages import ENGLISH, Language

PATH = "/waiting"
FILE = "dock.html"
# How browsers call the origin of a file.
ORIGINS = frozenset({"null", "file://"})
# What the page makes. Any text would let a page have words of its own choice hashed.
_CHALLENGE = re.compile(r"[0-9a-f]{32}")


def greeting(
    token: str,
    port: int,
    challenge: str,
    proof: str,
) -> str:
    """Return what the dock answers to a page that has the token; empty for any other."""
    if not _CHALLENGE.fullmatch(challenge):
        return ""
    expected_proof = _keyed(token, "page", port, challenge)
    sent_proof = proof.encode("utf-8", "replace")
    if not hmac.compare_digest(sent_proof, expected_proof):
        return ""
    answer = _keyed(token, "dock", port, challenge)
    return answer.decode()


def dock_answers(
    host: str,
    port: int,
    token: str,
) -> bool | None:
    """Return whether the dock with this token answers there; None if nothing does. The token itself is not sent."""
    challenge = secrets.token_hex(16)
    connection = http.client.HTTPConnection(f"{host}:{port}", timeout=1)
    try:
        proof = _keyed(token, "page", port, challenge).decode()
        address = f"{PATH}?challenge={challenge}&proof={proof}"
        connection.request("GET", address)
        response = connection.getresponse()
        # Another program may have the port, and answer without end.
        answer = response.read(200)
        expected_answer = _keyed(token, "dock", port, challenge)
        return hmac.compare_digest(answer, expected_answer)
    # Something answers that does not speak HTTP, or that speaks it badly.
    except http.client.HTTPException:
        return False
    except OSError:
        return None
    finally:
        connection.close()


def write(
    folder: Path,
    port: int,
    token: str,
    language: Language = ENGLISH,
) -> Path:
    """Write the page for this dock, and return its path. Raises StoreError."""
    file = folder / FILE
    text = page(port, token, language)
    keep(file, text)
    return file


def keep(path: Path, text: str) -> None:
    """Write a file that its owner alone can read. Raises StoreError."""
    try:
        make_own(path.parent)
        replace_file(path, text)
    except OSError as error:
        raise StoreError(
            f"{path} cannot be written: {error.strerror}. Check the folder and its permissions."
        ) from error


def keep_current(
    folder: Path,
    port: int,
    token: str,
    language: Language = ENGLISH,
) -> None:
    """Write the page again if there is one and it is for another port, token or language: OBS needs no change."""
    file = folder / FILE
    current_page = page(port, token, language)
    # Without the file OBS does not use it; where it cannot be written the dock still works in a browser.
    with contextlib.suppress(OSError, UnicodeDecodeError, StoreError):
        if file.read_text(encoding="utf-8") != current_page:
            keep(file, current_page)


def page(
    port: int,
    token: str,
    language: Language = ENGLISH,
) -> str:
    """Return the page itself, as HTML. The token stands in it: it is for its owner's eyes alone."""
    file = resources.files("forgetmenot.dock") / "waiting.html"
    text = file.read_text(encoding="utf-8")
    text = text.replace("%TOKEN%", token)
    text = text.replace("%PORT%", str(port))
    text = text.replace("%LANGUAGE%", language.code)
    for name in ("starting", "opening", "other", "browser"):
        words = language(f"waiting.{name}", port=port)
        text = text.replace(f"%{name.upper()}%", words)
    # A page on disk gets no headers, so its policy stands in it; the hashes let only its own script and style run.
    policy = f"default-src 'none'; base-uri 'none'; form-action 'none'; connect-src http://127.0.0.1:{port}"
    for kind in ("script", "style"):
        _before, _, rest = text.partition(f"<{kind}>")
        content, _, _after = rest.partition(f"</{kind}>")
        digest = hashlib.sha256(content.encode()).digest()
        encoded_digest = base64.b64encode(digest).decode()
        policy += f"; {kind}-src 'sha256-{encoded_digest}'"
    return text.replace("%POLICY%", policy)


def _keyed(
    token: str,
    side: str,
    port: int,
    challenge: str,
) -> bytes:
    """Return the keyed hash by which one side, "page" or "dock", shows that it has the token."""
    # The side is part of it, so that the page's proof is not what the dock has to answer.
    message = f"forgetmenot {side} {port} {challenge}"
    key = token.encode()
    digest = hmac.new(key, message.encode(), hashlib.sha256)
    return digest.hexdigest().encode()
