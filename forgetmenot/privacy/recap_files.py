"""The files that recaps were written to: which there are, and their lines without somebody or something.

A file names people, and the memory has their ids: what it says of somebody is found by what the memory says of them.
"""

import asyncio
import contextlib
import re
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from forgetmenot.files import UNFINISHED_AFTER_S, replace_file
from forgetmenot.languages import in_language, languages
from forgetmenot.store import streams
from forgetmenot.store.database import Source
from forgetmenot.text.mentions import MENTION, mention
from forgetmenot.text.outgoing import escape_markdown, unescape_markdown
from forgetmenot.text.removal import FACT_SHARE, NameForms
from forgetmenot.text.words import join_sentences, sentences_of

# As memory/recap_markdown names them.
RECAP_FILES = "????-??-?? ??-?? stream *.md"
_LINE = re.compile(r"((?:- |> |# |\*)?)(.*?)(\*?)")


async def clean_files(
    source: Source, change: Callable[[str, bool], str]
) -> tuple[int, list[str]]:
    """Change the texts of all files of recaps; how many lines did, and the files that could not be changed.

    `change` gets a text, and whether it quotes the bot.
    """
    changed_lines = 0
    failed = []
    for file in await _recap_files(source):
        try:
            changed_lines += await asyncio.to_thread(_clean_file, file, change)
        except (OSError, UnicodeDecodeError):
            failed.append(str(file))
    return changed_lines, failed


async def _recap_files(source: Source) -> list[Path]:
    """Every file of a recap, also of a stream that an older copy of the memory does not know.

    Of a folder that is missing (a drive that is not plugged in) what stands for all its files.
    """
    files = {Path(name) for name in await streams.recap_files(source)}
    for name in await streams.recap_folders(source):
        folder = Path(name)
        files.update(await asyncio.to_thread(_matching, folder))
        if not folder.is_dir() and not any(file.parent == folder for file in files):
            files.add(folder / RECAP_FILES)
    return sorted(files)


def _matching(folder: Path) -> list[Path]:
    """The recaps in a folder, with what a crash left of one half written: that is deleted once nobody writes it."""
    unfinished = []
    for file in folder.glob(f".{RECAP_FILES}-*.new"):
        with contextlib.suppress(OSError):
            if time.time() - file.stat().st_mtime > UNFINISHED_AFTER_S:
                file.unlink()
            else:
                unfinished.append(file)
    return [*folder.glob(RECAP_FILES), *unfinished]


def _clean_file(path: Path, change: Callable[[str, bool], str]) -> int:
    if path.parent.is_dir() and not path.exists():
        # the streamer deleted it; a folder that is missing may be a drive that is not plugged in
        return 0
    before = path.read_text(encoding="utf-8").splitlines()
    after = [_cleaned_line(line, change) for line in before]
    if after != before:
        lines = [line for line in after if line is not None]
        replace_file(path, "\n".join(lines) + "\n")
    return sum(line != cleaned for line, cleaned in zip(before, after, strict=True))


def _cleaned_line(line: str, change: Callable[[str, bool], str]) -> str | None:
    """A line after a change of its text; None where nothing is left of it."""
    parts = _LINE.fullmatch(line)
    if parts is None:
        return line
    text = unescape_markdown(parts[2])
    rest = change(text, line.startswith("> "))
    if rest == text:
        return line
    if not rest:
        return None
    return f"{parts[1]}{escape_markdown(rest)}{parts[3]}"


# What a file says of one person.


def is_one_of(texts: Sequence[frozenset[str]], quote: frozenset[str]) -> bool:
    """Whether a quote is one of these texts, or most of it: a recap has "somebody" in the place of a name."""
    if not quote:
        return False
    return any(quote <= text and len(quote) >= FACT_SHARE * len(text) for text in texts)


class ShownTexts:
    """What a recap's file may say of somebody, as the memory has it: there they stand by name.

    So a file is cleaned of somebody called `drums`, and others go on playing the drums in it.
    """

    def __init__(
        self,
        person: NameForms,
        own_facts: Iterable[str],
        mentioning: Iterable[str],
    ) -> None:
        self._person = person
        their_mention = mention(person.viewer_id)
        sentences = []
        for text in mentioning:
            sentences += [part for part in sentences_of(text) if their_mention in part]
        self._lines = self._pattern([f"{their_mention}: {fact}" for fact in own_facts])
        self._sentences = self._pattern(sentences)
        # a file may be older than the language that is set now
        self._lists = [
            in_language(code)("recap.back", who="").strip() for code in languages()
        ]

    def _pattern(self, texts: Iterable[str]) -> re.Pattern[str]:
        """One of these texts, with any names in the place of others' mentions, and theirs in that of theirs."""
        names = "|".join(map(re.escape, self._person.names))
        any_name = f"@?(?:{names or '(?!)'})"
        patterns = []
        for text in texts:
            # every second piece is the id of a mention
            pieces = MENTION.split(text)
            for number, piece in enumerate(pieces):
                if number % 2 == 0:
                    pieces[number] = re.escape(piece)
                else:
                    pieces[number] = (
                        any_name if piece == self._person.viewer_id else ".+?"
                    )
            patterns.append("".join(pieces))
        return re.compile(
            f"(?:.+?: )?(?:{'|'.join(patterns) or '(?!)'})", re.IGNORECASE
        )

    def marked(self, text: str) -> str:
        """A line of the file, with a mention in the place of what is known to be about them."""
        their_mention = mention(self._person.viewer_id)
        if not any(name.casefold() in text.casefold() for name in self._person.names):
            return text
        for opening in self._lists:
            if text.startswith(opening):
                return self._without_in_list(
                    opening, text.removeprefix(opening).strip()
                )
        if self._lines.fullmatch(text):
            return their_mention
        sentences = sentences_of(text)
        marked = []
        for sentence in sentences:
            is_theirs = self._sentences.fullmatch(sentence) is not None
            marked.append(f"{their_mention}." if is_theirs else sentence)
        return text if marked == sentences else join_sentences(marked)

    def _without_in_list(self, opening: str, listed: str) -> str:
        """A list of people without them; where it had nobody else, a mention."""
        others = [
            name for name in listed.split(", ") if not self._person.is_named(name)
        ]
        if not others:
            return mention(self._person.viewer_id)
        return f"{opening} {', '.join(others)}"
