"""The page's files, read once. `build` changes with any of them: an open page of an older build reloads itself."""

import hashlib
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable

from aiohttp import web

TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
MARK, PRELOAD = "%BUILD%", "%PRELOAD%"


@dataclass(frozen=True, slots=True)
class Assets:
    """Paths below the page with their bytes."""

    files: dict[str, bytes]
    build: str

    def page(self) -> web.Response:
        """The page itself."""
        return self._file("index.html", "no-store")

    def file(self, path: str, build: str) -> web.Response:
        """One file. What is asked for by its build's name never changes. Raises 404."""
        lasts = "private, max-age=31536000, immutable" if build == self.build else "no-store"
        return self._file(path, lasts)

    def _file(self, path: str, lasts: str) -> web.Response:
        if path not in self.files:
            raise web.HTTPNotFound
        kind = TYPES[path[path.rindex(".") :]]
        return web.Response(body=self.files[path], content_type=kind, charset="utf-8", headers={"Cache-Control": lasts})


def load() -> Assets:
    """Read them all."""
    files = dict(_below(resources.files("forgetmenot.dock") / "static", ""))
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(path.encode() + b"\0" + files[path])
    build = digest.hexdigest()[:12]
    modules = "\n".join(
        f'<link rel="modulepreload" href="/static/{MARK}/{path}">' for path in sorted(files) if path.endswith(".js")
    )  # all are asked for at once, instead of each when another names it
    page = files["index.html"].decode().replace(PRELOAD, modules).replace(MARK, build)
    files["index.html"] = page.encode()
    return Assets(files, build)


def _below(folder: Traversable, prefix: str) -> list[tuple[str, bytes]]:
    found: list[tuple[str, bytes]] = []
    for entry in folder.iterdir():
        if entry.is_dir():
            found += _below(entry, f"{prefix}{entry.name}/")
        elif entry.name.endswith(tuple(TYPES)):
            found.append((prefix + entry.name, entry.read_bytes()))
    return found
