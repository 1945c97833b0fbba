"""Numbered steps from each older schema to the next. A step is never edited once it was released.

`schema.sql` is what a new database gets; a test brings every past version here and compares the two.
"""

LATEST = 1

# (version that the step leads to, SQL)
MIGRATIONS: tuple[tuple[int, str], ...] = ()
