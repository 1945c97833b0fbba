"""Who is meant by a name: one resolver for chat, the dock, the command line, imports and the learning of past chat.

- A name means whoever has it now. Where a time is given it means whoever had it then: a log of last year never goes
  to today's owner of a name that was given up. Where nobody can say who had it, `owners` keeps that person apart.
- Names, former names, nicknames and short forms are looked for in the database, by the words of one text; nobody's
  names are held in memory. `NameIndex` (text/names) says whom the words mean.
- What somebody typed behind a command is never guessed: of several who fit, `resolve` returns all, and whoever asked is
  asked back.
"""

from collections.abc import Collection, Iterable, Sequence

from forgetmenot.clock import iso
from forgetmenot.people.common_words import kind_of
from forgetmenot.people.handles import Streamer
from forgetmenot.store import names, viewers
from forgetmenot.store.database import Source
from forgetmenot.store.names import NameSpan
from forgetmenot.text.mentions import provisional_id
from forgetmenot.text.names import (
    Fit,
    KindOf,
    NameIndex,
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
    keys = keys_in(texts, kinds)
    by_word = await names.ids_by_word(source, keys)
    by_nickname = await names.ids_by_nickname(source, keys.exact)
    viewer_ids = names.ids_to_compare(
        [*by_word.values(), *by_nickname.values()], present
    )
    if streamer is not None:
        viewer_ids.append(streamer.id)
    people = await names.people(source, viewer_ids, present) if viewer_ids else {}
    is_shown = streamer is not None and streamer.id in people
    return NameIndex(
        people=people,
        by_word=by_word,
        by_nickname=by_nickname,
        kind_of=kinds,
        streamer=streamer.id if streamer is not None and is_shown else "",
        streamer_names=frozenset(map(compact, streamer.names))
        if streamer is not None
        else frozenset(),
    )


async def resolve(
    source: Source,
    typed: str,
    *,
    present: Collection[str] = (),
    may_be_short: bool = False,
) -> list[str]:
    """Return the ids of whom a typed name means, hidden people too: none, one, or all between whom it must be asked.

    It is an id (also as "id:123"), a login, a display name or a former name; behind an @ it is no id.
    `may_be_short`: also a nickname, or a short form that fits one person or two.
    """
    name = typed.strip()
    if name.casefold().startswith(BY_ID):
        return await names.by_id(source, name[len(BY_ID) :].strip())
    bare = name.lstrip(_BEFORE_A_LOGIN).casefold()
    viewer_ids = [] if name[:1] in _BEFORE_A_LOGIN else await names.by_id(source, bare)
    spans = (await names.spans_by_login(source, [bare])).get(bare, [])
    viewer_ids += [span.viewer_id for span in spans if span.is_current]
    if not viewer_ids:
        viewer_ids = (await names.ids_by_display_name(source, [bare])).get(bare, [])
    if not viewer_ids:
        viewer_ids = [span.viewer_id for span in spans]
    if not viewer_ids and may_be_short:
        # what is typed in the place of a name is one, though it is a word as well
        index = await index_of(source, [bare], present=present, kinds=never_a_word)
        namings = index.namings(bare)
        viewer_ids = list(namings[0].viewer_ids) if namings else []
    return list(dict.fromkeys(viewer_ids))


async def called(source: Source, words: Iterable[str]) -> list[names.Known]:
    """Return whoever any of these words (casefolded) names by a whole name, hidden people too.

    A login that somebody has now is theirs, whoever had it before or is shown by that name. Of several who had it
    before, the one who had it last.
    """
    asked = sorted(set(words))
    holders: dict[str, str] = {}
    spans = await names.spans_by_login(source, asked)
    for login, login_spans in spans.items():
        current = [span for span in login_spans if span.is_current]
        if current:
            holders[login] = current[0].viewer_id
    for name, viewer_ids in (await names.ids_by_display_name(source, asked)).items():
        holders.setdefault(name, viewer_ids[0])
    for login, login_spans in spans.items():
        holders.setdefault(
            login, max(login_spans, key=lambda span: span.last_at).viewer_id
        )
    hidden = await viewers.hidden(source, list(holders.values()))
    return [
        names.Known(viewer_id, name, viewer_id in hidden)
        for name, viewer_id in holders.items()
    ]


async def told_apart(source: Source, viewer_ids: Sequence[str]) -> str:
    """Return people in words by which they can be told apart and named: "Alice (@alice, id:123), …"."""
    people = await viewers.get_many(source, viewer_ids)
    listed = []
    for viewer_id in viewer_ids:
        viewer = people.get(viewer_id)
        by_id = f"{BY_ID}{viewer_id}"
        if viewer is not None and viewer.login:
            by_id = f"{viewer.display_name} (@{viewer.login}, {by_id})"
        listed.append(by_id)
    return ", ".join(listed)


# ── who had a name at a time ─────────────────────────────────────────────────────────────────


def owner_at(spans: Sequence[NameSpan], at: int) -> str | None:
    """Return the id of whoever had a login at a time (ms), by when people were seen with it; None if nobody can say.

    Where only one person ever had it, as far as anybody knows, it is theirs until they are seen with another one.
    """
    during = {span.viewer_id for span in spans if span.first_at <= at <= span.last_at}
    if len(during) == 1:
        return during.pop()
    possible = [
        span for span in spans if span.renamed_at is None or at < span.renamed_at
    ]
    if len(spans) == 1:
        return possible[0].viewer_id if possible else None
    latest = max(spans, key=lambda span: span.first_at)
    is_after_all = at > max(span.last_at for span in spans)
    return latest.viewer_id if is_after_all and latest.is_current else None


def meant_at(spans: Sequence[NameSpan], at: int) -> str | None:
    """Return the id of whom a login meant that somebody used at a time (ms); None if nobody can say.

    An old name still means whoever had it, where only one person ever did.
    """
    holders = {span.viewer_id for span in spans}
    return owner_at(spans, at) or (holders.pop() if len(holders) == 1 else None)


async def owners(
    source: Source,
    logins: Collection[str],
    at: int,
) -> dict[str, str]:
    """Return the ids of those who had these logins at a time (ms), by login, as far as the memory knows the login.

    Whoever had one that is known as somebody else's only has an id of their own, which nobody who comes joins.
    """
    holders: dict[str, str] = {}
    for login, spans in (await names.spans_by_login(source, logins)).items():
        holders[login] = owner_at(spans, at) or unknown_owner(login, at)
    return holders


def unknown_owner(login: str, at: int) -> str:
    """Return the id of whoever had a login in the year of a time (ms), of whom nothing else is known."""
    # no login has a dot, so nobody who comes later is joined with it
    return provisional_id(f"{login}.{iso(at)[:4]}")


async def in_chat(
    source: Source,
    texts: Sequence[str],
    words: Collection[str],
    at: int,
    present: Collection[str],
) -> dict[str, str | None]:
    """Return whom the words (casefolded) of lines said at a time (ms) mean: their id, or None for nobody to be named.

    `words`: those that may be somebody's whole name. Short forms and nicknames count where they fit one person.
    `present`: the ids of those who spoke, who may be named though they are hidden, and of who else is in chat.
    """
    viewer_of_word: dict[str, str | None] = {}
    for login, spans in (await names.spans_by_login(source, words)).items():
        viewer_of_word[login] = meant_at(spans, at)
    for name, viewer_ids in (await names.ids_by_display_name(source, words)).items():
        viewer_of_word.setdefault(name, viewer_ids[0])
    index = await index_of(source, texts, present=present)
    for text in texts:
        for naming in index.namings(text):
            word = naming.word.casefold()
            if not word or len(naming.viewer_ids) > 1 or naming.is_ordinary:
                continue
            [viewer_id] = naming.viewer_ids
            # what a memory says stays: the beginning of a name counts only for who is present
            is_sure = naming.fit < Fit.SHORT or viewer_id in present
            if naming.fit > Fit.FORMER and is_sure:  # whole names are above
                viewer_of_word.setdefault(word, viewer_id)
    viewer_ids = [
        viewer_id for viewer_id in viewer_of_word.values() if viewer_id is not None
    ]
    not_named = await viewers.hidden(source, viewer_ids) - set(present)
    return {
        word: None if viewer_id in not_named else viewer_id
        for word, viewer_id in viewer_of_word.items()
    }
