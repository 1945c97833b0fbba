"""What each page asks for, as JSON. A page is one module here with its ROUTES, and one entry in `PAGES`.

Names of viewers are looked up last, and nobody who is hidden has one here. Rows are read when a page asks for them;
with the page closed nothing of it runs.
"""

from itertools import chain

from forgetmenot.dock.pages import (
    answers,
    approvals,
    book,
    costs,
    notes,
    now,
    people,
    settings,
    streams,
)

PAGES = (now, people, notes, streams, book, answers, costs, approvals, settings)
ROUTES = tuple(chain.from_iterable(page.ROUTES for page in PAGES))
