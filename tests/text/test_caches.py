"""What an erasure has to empty: results of functions of people's texts, and patterns made of their names."""

import re

from forgetmenot.text.words import clear_text_caches, text_cache


def test_results_and_patterns_of_names_go() -> None:
    calls: list[str] = []

    @text_cache(8)
    def length(text: str) -> int:
        calls.append(text)
        return len(text)

    length("zelma_9")
    pattern = re.compile("zelma_9")
    assert re.compile("zelma_9") is pattern
    clear_text_caches()
    length("zelma_9")
    assert calls == ["zelma_9", "zelma_9"]
    assert re.compile("zelma_9") is not pattern
