"""Who is around and can be spoken of: recent chatters and regulars, looked up once a minute."""

from typing import TYPE_CHECKING

import pytest

from forgetmenot.clock import DAY, MINUTE, SECOND
from forgetmenot.memory.crowd import Crowd
from forgetmenot.store.database import Database

if TYPE_CHECKING:
    from tests.notes_world import World


@pytest.fixture
def crowd(world: "World") -> Crowd:
    return Crowd(db=world.db, settings=lambda: world.settings, clock=world.clock)


async def named(crowd: Crowd, text: str, *, without: tuple[str, ...] = ()) -> list[str]:
    await crowd.look()
    return crowd.named_in(text, without=without)


async def test_people_are_found_among_recent_chatters_and_regulars(world: "World", crowd: Crowd) -> None:
    assert await named(crowd, "how is alice? and bob?") == ["1", "2"]
    assert await named(crowd, "how is alice?", without=("1",)) == []
    for _ in range(5):
        await world.attends("2", await world.stream())
    await world.clock.advance(3 * DAY)
    assert await named(crowd, "how is alice? and bob?") == ["2"]


async def test_nobody_waits_for_names_that_were_looked_at_beforehand(
    world: "World", crowd: Crowd, monkeypatch: pytest.MonkeyPatch
) -> None:
    await crowd.look_again()
    await world.clock.advance(45 * SECOND)
    await crowd.look_again()
    await world.clock.advance(30 * SECOND)

    async def no_reading(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(Database, "rows", no_reading)
    assert await named(crowd, "how is alice?") == ["1"]


async def test_a_new_name_is_known_within_a_minute(world: "World", crowd: Crowd) -> None:
    assert await named(crowd, "how is dora?") == []
    await world.viewer("new", "dora")
    await world.clock.advance(MINUTE)
    assert await named(crowd, "how is dora?") == ["new"]


@pytest.mark.parametrize("column", ["opted_out_at", "banned_at"])
async def test_nobody_who_opted_out_or_was_banned_is_around(world: "World", crowd: Crowd, column: str) -> None:
    assert await named(crowd, "what about alice?") == ["1"]
    async with world.db.write() as tx:
        await tx.execute(f"UPDATE viewers SET {column} = 1 WHERE id = '1'")  # noqa: S608  # a column of ours
    crowd.forget()
    assert await named(crowd, "what about alice?") == []
