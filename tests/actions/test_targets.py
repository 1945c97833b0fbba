"""A name means one person who is in chat now, or nobody."""

import pytest

from forgetmenot.actions.facts import Found, Person
from forgetmenot.actions.targets import resolve

ALICE = Person("1", "alice", display_name="Alice")
BOB = Person("2", "bob_42", display_name="Bob")
OTHER_BOB = Person("3", "robert", display_name="BOB")
JAPANESE = Person("4", "yuki", display_name="雪")


@pytest.mark.parametrize(
    ("name", "found", "who"),
    [
        ("alice", Found.FOUND, ALICE),
        ("@Alice,", Found.FOUND, ALICE),
        ("ALICE", Found.FOUND, ALICE),
        ("me", Found.FOUND, ALICE),
        ("bob_42", Found.FOUND, BOB),
        ("bob", Found.AMBIGUOUS, None),
        ("雪", Found.FOUND, JAPANESE),
        ("2", Found.UNKNOWN, None),
        ("", Found.UNKNOWN, None),
        ("@", Found.UNKNOWN, None),
        ("ali", Found.UNKNOWN, None),
        ("аlice", Found.UNKNOWN, None),
        ("alice bob_42", Found.UNKNOWN, None),
    ],
)
def test_a_name_is_one_person_or_nobody(name: str, found: Found, who: Person | None) -> None:
    assert resolve(name, [ALICE, BOB, OTHER_BOB, JAPANESE], ALICE) == (found, who)


def test_the_asker_counts_as_present() -> None:
    assert resolve("alice", [], ALICE) == (Found.FOUND, ALICE)


def test_somebody_elses_login_used_as_a_display_name_makes_it_ambiguous() -> None:
    impostor = Person("5", "mallory", display_name="alice")
    assert resolve("alice", [impostor], ALICE) == (Found.AMBIGUOUS, None)
