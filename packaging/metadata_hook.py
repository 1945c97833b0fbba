"""What a package says about the place it comes from: known to whoever builds it, and to nobody before.

On GitHub's runners the package gets the project's addresses, and the README's links lead there: an index shows the
README without the files beside it. Built elsewhere, the links stay as they are.
"""

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

# A Markdown link or picture whose target is a file of this repository.
_LOCAL_LINK = re.compile(
    r"(?P<picture>!?)\[(?P<words>[^\]]*)\]\((?P<target>(?!https?:|#)[^)\s]+)\)"
)


class SourceAddresses(MetadataHookInterface):
    """Sets the README, and where it is known the addresses of the project."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Fill in `readme` and `urls`."""
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        address = source_address()
        if address:
            metadata["urls"] = project_urls(address)
            text = with_absolute_links(
                text, address, os.environ.get("GITHUB_SHA", "main")
            )
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


def source_address() -> str:
    """Return the address of the repository that is built; empty where nothing names it."""
    repository = os.environ.get("GITHUB_REPOSITORY")
    if not repository:
        return ""
    server = os.environ.get("GITHUB_SERVER_URL", "https://github.com")
    return f"{server}/{repository}"


def project_urls(address: str) -> dict[str, str]:
    """Return the links that an index shows beside the package."""
    return {
        "Source": address,
        "Documentation": f"{address}/tree/main/docs",
        "Issues": f"{address}/issues",
        "Changelog": f"{address}/blob/main/CHANGELOG.md",
    }


def with_absolute_links(text: str, address: str, revision: str) -> str:
    """Return the Markdown text with links to files as links to this revision of them."""

    def absolute(link: re.Match[str]) -> str:
        view = "raw" if link["picture"] else "blob"
        return f"{link['picture']}[{link['words']}]({address}/{view}/{revision}/{link['target']})"

    return _LOCAL_LINK.sub(absolute, text)
