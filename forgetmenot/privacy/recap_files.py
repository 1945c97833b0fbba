"""Removes somebody, or something, from the files that recaps were written to.

A file names people by their names, and the memory has their ids: which lines of a file are about
somebody is found by what the memory says of them.
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
from forgetmenot.text.markdown import escape_markdown, unescape_markdown
from forgetmenot.text.mentions import MENTION, mention
from forgetmenot.text.removal import FACT_SHARE, NameForms
from forgetmenot.text.words import join_sentences, sentences_of

# As memory/recap_markdown names them.
RECAP_FILES = "????-??-?? ??-?? stream *.md"
# Markdown before the text of a line, the text, and Markdown behind it.
_LINE = re.compile(r"((?:- |> |# |\*)?)(.*?)(\*?)")
# The Markdown of a quote: a recap quotes what the bot said.
_QUOTE = "> "
# A pattern that fits no text.
_NOTHING = "(?!)"

# Returns a text without something; it also gets whether the text quotes the bot.
TextCleaner = Callable[[str, bool], str]


async def clean_files(source: Source, cleaned: TextCleaner) -> tuple[int, list[str]]:
    """Clean the text of every line in all files of recaps.

    Returns how many lines changed, and the files that could not be read or written.
    """
    changed_lines = 0
    failed_files = []
    for path in await all_files(source):
        try:
            changed_lines += await asyncio.to_thread(_clean_file, path, cleaned)
        except (OSError, UnicodeDecodeError):
            failed_files.append(str(path))
    return changed_lines, failed_files


async def all_files(source: Source) -> list[Path]:
    """Return every file of a recap, also of a stream that an older copy of the memory lacks.

    For a folder that is missing (a drive that is not plugged in) and of which no file is known, the
    pattern of its files stands in the list: it cannot be read, so the folder is reported.
    """
    files = {Path(name) for name in await streams.recap_files(source)}
    for name in await streams.recap_folders(source):
        folder = Path(name)
        files.update(await asyncio.to_thread(_files_in, folder))
        is_any_known = any(file.parent == folder for file in files)
        if not folder.is_dir() and not is_any_known:
            files.add(folder / RECAP_FILES)
    return sorted(files)


def _files_in(folder: Path) -> list[Path]:
    """Return the recaps in a folder, with those that are being written.

    What a crash left half written is deleted, once it is certain that nobody writes it.
    """
    unfinished = []
    for file in folder.glob(f".{RECAP_FILES}-*.new"):
        with contextlib.suppress(OSError):
            age_s = time.time() - file.stat().st_mtime
            if age_s > UNFINISHED_AFTER_S:
                file.unlink()
            else:
                unfinished.append(file)
    return [*folder.glob(RECAP_FILES), *unfinished]


def _clean_file(path: Path, cleaned: TextCleaner) -> int:
    """Clean one file; return how many lines changed. Raises OSError, UnicodeDecodeError."""
    if path.parent.is_dir() and not path.exists():
        # The streamer deleted it. (Where the folder is missing too, the drive may be unplugged:
        # then reading fails below, and the file is reported.)
        return 0
    old_lines = path.read_text(encoding="utf-8").splitlines()
    new_lines = [_cleaned_line(line, cleaned) for line in old_lines]
    if new_lines == old_lines:
        return 0
    remaining_lines = [line for line in new_lines if line is not None]
    replace_file(path, "\n".join(remaining_lines) + "\n")
    changed_lines = 0
    for old_line, new_line in zip(old_lines, new_lines, strict=True):
        if new_line != old_line:
            changed_lines += 1
    return changed_lines


def _cleaned_line(line: str, cleaned: TextCleaner) -> str | None:
    """Return a line with its text cleaned; None if nothing is left of the text."""
    parts = _LINE.fullmatch(line)
    if parts is None:
        return line
    opening, markdown, ending = parts.groups()
    text = unescape_markdown(markdown)
    is_quote = opening == _QUOTE
    remaining_text = cleaned(text, is_quote)
    if remaining_text == text:
        # Not by escaping it anew: of a line that stays no byte changes.
        return line
    if not remaining_text:
        return None
    remaining_markdown = escape_markdown(remaining_text)
    return f"{opening}{remaining_markdown}{ending}"


# ── what a file says of one person ────────────────────────────────────────────────────────────


def is_quote_of(replies: Sequence[frozenset[str]], quote: frozenset[str]) -> bool:
    """Return whether a quote is one of these replies, or most of it. All of them are stems.

    A recap may have cut the reply, and has "somebody" in the place of a name.
    """
    if not quote:
        return False
    for reply in replies:
        is_most_of_it = len(quote) >= FACT_SHARE * len(reply)
        if quote <= reply and is_most_of_it:
            return True
    return False


class TextsAbout:
    """What a recap's file may say of a person, by what the memory says of them.

    In a file they stand by name, and a name may be a word. So a file is cleaned of somebody called
    `drums`, while others go on playing the drums in it.
    """

    def __init__(
        self,
        person: NameForms,
        own_facts: Iterable[str],
        mentioning_texts: Iterable[str],
    ) -> None:
        """`own_facts`: the notes about them; `mentioning_texts`: notes and recaps with a mention."""
        self._person = person
        self._mention = mention(person.viewer_id)
        mentioning_sentences = []
        for text in mentioning_texts:
            for sentence in sentences_of(text):
                if self._mention in sentence:
                    mentioning_sentences.append(sentence)
        fact_lines = [f"{self._mention}: {fact}" for fact in own_facts]
        self._fact_lines = self._pattern(fact_lines)
        self._sentences = self._pattern(mentioning_sentences)
        # How a list of people begins ("Back after a while: …"), in every language: a file may be older than
        # the language that is set now.
        self._list_openings = []
        for code in languages():
            opening = in_language(code)("recap.back", who="")
            self._list_openings.append(opening.strip())

    def _pattern(self, texts: Iterable[str]) -> re.Pattern[str]:
        """Return a pattern of any of these texts as a file has it.

        It has a name of theirs where the text mentions them, and any words where it mentions others.
        """
        text_patterns = "|".join(self._text_pattern(text) for text in texts)
        return re.compile(f"(?:.+?: )?(?:{text_patterns or _NOTHING})", re.IGNORECASE)

    def _text_pattern(self, text: str) -> str:
        """Return a pattern of a text as a file may show it: names of theirs, or of anybody, for mentions."""
        names = "|".join(map(re.escape, self._person.names))
        patterns = []
        # Splitting by mentions gives, in turn, a piece of text and the id of a mention.
        for number, piece in enumerate(MENTION.split(text)):
            is_text = number % 2 == 0
            if is_text:
                patterns.append(re.escape(piece))
            elif piece == self._person.viewer_id:
                patterns.append(f"@?(?:{names or _NOTHING})")
            else:
                patterns.append(".+?")
        return "".join(patterns)

    def marked(self, text: str) -> str:
        """Return the text of a line with a mention in the place of what is known to be about them."""
        folded_text = text.casefold()
        if not any(name.casefold() in folded_text for name in self._person.names):
            return text
        for opening in self._list_openings:
            if text.startswith(opening):
                people_list = text.removeprefix(opening).strip()
                return self._without_in_list(opening, people_list)
        if self._fact_lines.fullmatch(text):
            return self._mention
        sentences = sentences_of(text)
        marked_sentences = []
        for sentence in sentences:
            marked_sentence = sentence
            if self._sentences.fullmatch(sentence) is not None:
                # A sentence of the mention alone, which the eraser cuts.
                marked_sentence = f"{self._mention}."
            marked_sentences.append(marked_sentence)
        if marked_sentences == sentences:
            return text
        return join_sentences(marked_sentences)

    def _without_in_list(self, opening: str, people_list: str) -> str:
        """Return a list of people without them; a mention if nobody else is in it."""
        names = people_list.split(", ")
        others = [name for name in names if not self._person.is_named(name)]
        if not others:
            return self._mention
        return f"{opening} {', '.join(others)}"
