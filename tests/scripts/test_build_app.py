"""What is put beside the built program."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_licences_name_what_is_inside_with_their_texts() -> None:
    command = [sys.executable, str(ROOT / "packaging" / "third_party.py")]
    result = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)
    for title in ("python-stdnum ", "certifi ", "aiohttp ", "pyinstaller ", "Python "):
        assert f"\n{title}" in result.stdout
    assert "GNU LESSER GENERAL PUBLIC LICENSE" in result.stdout  # python-stdnum's
    assert "Mozilla Public License" in result.stdout  # certifi's
    assert "\nplaywright " not in result.stdout  # what only developers need


def test_the_library_under_the_lgpl_is_built_as_plain_files() -> None:
    recipe = (ROOT / "packaging" / "forgetmenot.spec").read_text(encoding="utf-8")
    assert 'module_collection_mode={"stdnum": "py", "pystray": "py"}' in recipe
