"""Who is meant by a name: one resolver for chat, the dock, the command line, imports and the learning of past chat.

- A name means whoever has it now. Where a time is given it means whoever had it then: a log of last year never goes
  to today's owner of a name that was given up. Where nobody can say who had it, `owners` keeps that person apart.
- Names, former names, nicknames and short forms are looked for in the database, by the words of one text; nobody's
  names are held in memory. `NameIndex` (text/names) says whom the words mean.
- What somebody typed behind a command is never guessed: of several who fit, `resolve` returns all, and whoever asked is
  asked back.
"""

import asyncio
from collections.abc import Collection, Iterable, Sequence

from forgetmenot.clock import iso
from forgetmenot.people.common_words import kind_of
from forgetmenot.people.handles import Streamer
from forgetmenot.store import names, viewers
from forgetmenot.store.database import Database, Source
from forgetmenot.store.names import NameSpan
from forgetmenot.text.mentions import provisional_id
from forgetmenot.text.names import (
    Fit,
    KindOf,
    NamedPerson,
    NameIndex,
    NameKeys,
    Naming,
    compact,
    keys_in,
    never_a_word,
)

# How somebody is named by their id where a name may mean several: "id:123".
BY_ID = "id:"
_BEFORE_A_LOGIN = "@＠#"


async def index_of(
    source: Source,
    texts: Sequence[str],
    *,
    present: Collection[str] = (),
    streamer: Streamer | None = None,
    kinds: KindOf = kind_of,
) -> NameIndex:
    """Return whom the words of these texts may mean; nobody hidden.

    `present`: the ids of those who are in chat and of regulars, who come first. `streamer`: whose channel it is.
    `kinds`: what a word is before it is a name.
    """
    return await _index_of_keys(
        source,
        keys_in(texts, kinds),
        present=present,
        streamer=streamer,
        kinds=kinds,
    )


async def _index_of_keys(
    source: Source,
    keys: NameKeys,
    *,
    present: Collection[str],
    streamer: Streamer | None = None,
    kinds: KindOf = kind_of,
) -> NameIndex:
    """Return `index_of` texts that have these keys."""
    by_word = await names.ids_by_word(source, keys)
    by_nickname = await names.ids_by_nickname(source, keys.exact)
    id_groups = [*by_word.values(), *by_nickname.values()]
    viewer_ids = names.ids_to_compare(id_groups, present)
    streamer_id = ""
    streamer_names: frozenset[str] = frozenset()
    if streamer is not None:
        viewer_ids.append(streamer.id)
        streamer_id = streamer.id
        streamer_names = frozenset(compact(name) for name in streamer.names)
    people: dict[str, NamedPerson] = {}
    if viewer_ids:
        people = await names.people(source, viewer_ids, present)
    # the database leaves out hidden people, and so the streamer if they are one
    is_streamer_shown = streamer_id in people
    return NameIndex(
        people=people,
        by_word=by_word,
        by_nickname=by_nickname,
        kind_of=kinds,
        streamer=streamer_id if is_streamer_shown else "",
        streamer_names=streamer_names,
    )


async def resolve(
    source: Source,
    typed: str,
    *,
    present: Collection[str] = (),
    may_be_short: bool = False,
) -> list[str]:
    """Return the ids of whom a typed name means, hidden people too: none, one, or all who fit.

    It is an id (also as "id:123"), a login, a display name or a former name, tried in this order; behind an @ it is no
    id. `may_be_short`: also a nickname, or a short form that fits one person or two.
    """
    name = typed.strip()
    # "id:123" is what `told_apart` offers where a name means several
    if name.casefold().startswith(BY_ID):
        typed_id = name[len(BY_ID) :].strip()
        return await names.by_id(source, typed_id)
    login = name.lstrip(_BEFORE_A_LOGIN).casefold()
    viewer_ids = []
    # true of an empty name as well, which is nobody's id
    has_login_mark = name[:1] in _BEFORE_A_LOGIN
    if not has_login_mark:
        viewer_ids += await names.by_id(source, login)
    spans_by_login = await names.spans_by_login(source, [login])
    spans = spans_by_login.get(login, [])
    viewer_ids += _current_ids(spans)
    if not viewer_ids:
        by_display_name = await names.ids_by_display_name(source, [login])
        viewer_ids += by_display_name.get(login, [])
    # those who had the login before
    if not viewer_ids:
        viewer_ids += [span.viewer_id for span in spans]
    if not viewer_ids and may_be_short:
        viewer_ids += await _ids_by_short_form(source, login, present)
    return list(dict.fromkeys(viewer_ids))


def _current_ids(spans: Iterable[NameSpan]) -> list[str]:
    """Return the ids of those who have a login now."""
    return [span.viewer_id for span in spans if span.is_current]


async def _ids_by_short_form(
    source: Source,
    name: str,
    present: Collection[str],
) -> tuple[str, ...]:
    """Return the ids of whom a nickname or a short form means: none, one or two."""
    # what is typed in the place of a name is one, though it is a word as well
    index = await index_of(source, [name], present=present, kinds=never_a_word)
    namings = index.namings(name)
    return namings[0].viewer_ids if namings else ()


async def called(source: Source, words: Iterable[str]) -> list[names.Known]:
    """Return whoever any of these words (casefolded) names by a whole name, hidden people too.

    A login that somebody has now is theirs, whoever had it before or is shown by that name. Of several who had it
    before, the one who had it last.
    """
    unique_words = sorted(set(words))
    spans_by_login = await names.spans_by_login(source, unique_words)
    by_display_name = await names.ids_by_display_name(source, unique_words)
    # from what counts least: a login that somebody has now replaces the rest
    holders: dict[str, str] = {}
    for login, spans in spans_by_login.items():
        latest_span = max(spans, key=lambda span: span.last_at)
        holders[login] = latest_span.viewer_id
    for name, viewer_ids in by_display_name.items():
        holders[name] = viewer_ids[0]
    for login, spans in spans_by_login.items():
        current_ids = _current_ids(spans)
        if current_ids:
            holders[login] = current_ids[0]
    hidden = await viewers.hidden(source, list(holders.values()))
    known_people = []
    for name, viewer_id in holders.items():
        is_hidden = viewer_id in hidden
        known_people.append(names.Known(viewer_id, name, is_hidden))
    return known_people


async def told_apart(source: Source, viewer_ids: Sequence[str]) -> str:
    """Return people in words by which they can be told apart and named: "Alice (@alice, id:123), …"."""
    people = await viewers.get_many(source, viewer_ids)
    labels = []
    for viewer_id in viewer_ids:
        label = f"{BY_ID}{viewer_id}"
        viewer = people.get(viewer_id)
        if viewer is not None and viewer.login:
            label = f"{viewer.display_name} (@{viewer.login}, {label})"
        labels.append(label)
    return ", ".join(labels)


# ── who had a name at a time ─────────────────────────────────────────────────────────────────


def owner_at(spans: Sequence[NameSpan], at: int) -> str | None:
    """Return the id of whoever had a login at a time (ms), by when people were seen with it; None if nobody can say.

    `spans`: one at least. Where only one person ever had the login, as far as anybody knows, it is theirs until they
    are seen with another one.
    """
    seen_then = set()
    for span in spans:
        if span.first_at <= at <= span.last_at:
            seen_then.add(span.viewer_id)
    if len(seen_then) == 1:
        return seen_then.pop()
    if len(spans) == 1:
        [span] = spans
        # nobody knows who took the name when it was given up
        if span.renamed_at is not None and at >= span.renamed_at:
            return None
        return span.viewer_id
    # several had it, and none of them, or more than one, was seen with it around then
    last_seen_at = max(span.last_at for span in spans)
    latest_span = max(spans, key=lambda span: span.first_at)
    if at > last_seen_at and latest_span.is_current:
        return latest_span.viewer_id
    return None


def meant_at(spans: Sequence[NameSpan], at: int) -> str | None:
    """Return the id of whom a login meant that somebody used at a time (ms); None if nobody can say.

    An old name still means whoever had it, where only one person ever did.
    """
    owner = owner_at(spans, at)
    if owner is not None:
        return owner
    holders = {span.viewer_id for span in spans}
    if len(holders) != 1:
        return None
    return holders.pop()


async def owners(
    source: Source,
    logins: Collection[str],
    at: int,
) -> dict[str, str]:
    """Return the ids of those who had these logins at a time (ms), by login, as far as the memory knows the login.

    Whoever had one that is known as somebody else's only has an id of their own, which nobody who comes joins.
    """
    spans_by_login = await names.spans_by_login(source, logins)
    holders: dict[str, str] = {}
    for login, spans in spans_by_login.items():
        owner = owner_at(spans, at)
        holders[login] = owner or unknown_owner(login, at)
    return holders


def unknown_owner(login: str, at: int) -> str:
    """Return the id of whoever had a login in the year of a time (ms), of whom nothing else is known."""
    year = iso(at)[:4]
    # no login has a dot, so nobody who comes later is joined with it
    return provisional_id(f"{login}.{year}")


async def in_chat(
    db: Database,
    texts: Sequence[str],
    words: Collection[str],
    at: int,
    present: Collection[str],
) -> dict[str, str | None]:
    """Return whom the words (casefolded) of lines said at a time (ms) mean: their id, or None for nobody to be named.

    `words`: those that may be somebody's whole name. Short forms and nicknames count where they fit one person.
    `present`: the ids of those who spoke, who may be named though they are hidden, and of who else is in chat.
    """
    viewer_of_word = await _by_whole_names(db, words, at)
    # in threads: tens of milliseconds for 400 lines, for which chat does not wait
    keys = await asyncio.to_thread(keys_in, texts, kind_of)
    index = await _index_of_keys(db, keys, present=present)
    short_forms = await asyncio.to_thread(_short_forms, index, texts, present)
    for word, viewer_id in short_forms.items():
        viewer_of_word.setdefault(word, viewer_id)
    named_ids = [named_id for named_id in viewer_of_word.values() if named_id]
    not_to_be_named = await viewers.hidden(db, named_ids) - set(present)
    for word, named_id in viewer_of_word.items():
        if named_id in not_to_be_named:
            viewer_of_word[word] = None
    return viewer_of_word


async def _by_whole_names(
    db: Database,
    words: Collection[str],
    at: int,
) -> dict[str, str | None]:
    """Return the ids of whom words name by a login or a display name; None for a login of nobody certain."""
    viewer_of_word: dict[str, str | None] = {}
    by_display_name = await names.ids_by_display_name(db, words)
    for name, viewer_ids in by_display_name.items():
        viewer_of_word[name] = viewer_ids[0]
    # a login counts more, because anybody may show themselves by somebody else's
    spans_by_login = await names.spans_by_login(db, words)
    for login, spans in spans_by_login.items():
        viewer_of_word[login] = meant_at(spans, at)
    return viewer_of_word


def _short_forms(
    index: NameIndex,
    texts: Iterable[str],
    present: Collection[str],
) -> dict[str, str]:
    """Return whom the words of texts mean that are no whole name, but certain: the id by the word."""
    viewer_of_word: dict[str, str] = {}
    for text in texts:
        for naming in index.namings(text):
            if _is_certain_short_form(naming, present):
                word = naming.word.casefold()
                viewer_of_word.setdefault(word, naming.viewer_ids[0])
    return viewer_of_word


def _is_certain_short_form(naming: Naming, present: Collection[str]) -> bool:
    """Return whether a word that is no whole name means one person for certain.

    What a summary says stays in the memory, so the beginning of a name counts only for somebody who is present.
    """
    if not naming.word:
        return False
    if naming.is_ordinary:
        return False
    if len(naming.viewer_ids) > 1:
        return False
    is_whole_name = naming.fit <= Fit.FORMER
    if is_whole_name:
        return False
    is_nickname_or_part = naming.fit < Fit.SHORT
    return is_nickname_or_part or naming.viewer_ids[0] in present
