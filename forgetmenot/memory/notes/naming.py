"""Names that somebody typed become ids before a text is stored: "plays in bob's band" keeps `<@2>`, not "bob".

Promises that a stored text survives a rename and can be forgotten with its people, and that it is the same text when it
is named twice. Does not know who is meant by a word that is no name; who is hidden or unknown becomes "someone".
"""

from forgetmenot.memory.handles import SOMEBODY, Handles, names_typed
from forgetmenot.store import viewers
from forgetmenot.store.database import Database
from forgetmenot.text.clean import clean
from forgetmenot.text.mentions import MENTION, defang


async def with_mentions(db: Database, text: str) -> str:
    """A text with mentions in the place of names. Mentions that it has stay: `defang` foreign text before."""
    known = await viewers.called(db, names_typed([MENTION.sub(" ", text)]))
    names = {one.name: None if one.hidden else one.id for one in known}
    handles = Handles.of([one.id for one in known if not one.hidden], names)
    pieces, at = [], 0
    for found in MENTION.finditer(text):
        pieces += [_named(text[at : found.start()], handles), found[0]]
        at = found.end()
    return "".join([*pieces, _named(text[at:], handles)])


def _named(piece: str, handles: Handles) -> str:
    """A piece without mentions; the spaces around it stay, for it stands between others."""
    said = piece.strip()
    named = handles.ids(handles.hide_chat(said))
    shown = defang(clean(said)) if named is None else named.replace(f"@{SOMEBODY}", SOMEBODY)
    return piece.replace(said, shown, 1) if said else piece
