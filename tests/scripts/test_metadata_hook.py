"""What an index shows of a package built on GitHub's runners: the README's links lead to the repository."""

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def metadata_with(
    monkeypatch: pytest.MonkeyPatch, **environment: str
) -> dict[str, object]:
    """What the hook fills in, in this environment."""
    for name in ("GITHUB_REPOSITORY", "GITHUB_SERVER_URL", "GITHUB_SHA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    spec = importlib.util.spec_from_file_location(
        "hook", ROOT / "packaging" / "metadata_hook.py"
    )
    assert spec is not None
    assert spec.loader is not None
    hook = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(hook)
    metadata: dict[str, object] = {}
    hook.SourceAddresses(str(ROOT), {}).update(metadata)
    return metadata


def readme_of(metadata: dict[str, object]) -> str:
    readme = metadata["readme"]
    assert isinstance(readme, dict)
    return str(readme["text"])


def test_a_build_on_githubs_runners_has_absolute_links(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    metadata = metadata_with(
        monkeypatch, GITHUB_REPOSITORY="alice/bot", GITHUB_SHA="abc"
    )
    targets = re.findall(r"\]\(([^)]+)\)", readme_of(metadata))
    assert "https://github.com/alice/bot/blob/abc/docs/PRIVACY.md" in targets
    assert "https://github.com/alice/bot/raw/abc/docs/images/setup.png" in targets
    assert [
        target for target in targets if not target.startswith(("https://", "#"))
    ] == []
    assert metadata["urls"] == {
        "Source": "https://github.com/alice/bot",
        "Documentation": "https://github.com/alice/bot/tree/main/docs",
        "Issues": "https://github.com/alice/bot/issues",
        "Changelog": "https://github.com/alice/bot/blob/main/CHANGELOG.md",
    }


def test_a_build_elsewhere_leaves_the_readme_as_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    metadata = metadata_with(monkeypatch)
    assert "urls" not in metadata
    assert readme_of(metadata) == (ROOT / "README.md").read_text(encoding="utf-8")
