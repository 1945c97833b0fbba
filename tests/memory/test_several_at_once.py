"""Behind, two episodes are read for notes at once if they name different people; each is read once whatever happens."""

import asyncio
import contextlib
import json
import re
from collections import Counter
from collections.abc import Sequence

import pytest

from forgetmenot.domain import ModelAnswer, ModelRequest, TokenUsage
from forgetmenot.errors import ModelBlocked, ModelError, ModelUnavailable
from forgetmenot.memory.extraction import Extractor
from forgetmenot.store import episodes
from forgetmenot.text.mentions import mention
from tests.notes_world import World

pytestmark = pytest.mark.slow

# whom each story names: some that follow each other share somebody, and some do not
STORIES = [("1", "2"), ("3", "4"), ("1", "3"), ("4", "5"), ("4", "1"), ("2", "3")] * 2


class _Slow:
    """A model that takes one note from each story; an earlier question takes longer than a later one."""

    name = "slow"

    def __init__(self, failures: Sequence[ModelError | None] = ()) -> None:
        self.asked: list[int] = []
        self.answered: list[int] = []
        self.together: list[frozenset[int]] = []
        self._under_way: set[int] = set()
        self._failures = list(failures)

    async def generate(self, request: ModelRequest) -> ModelAnswer:
        story = int(re.findall(r"story (\d+)", request.prompt)[0])
        failure = self._failures.pop(0) if self._failures else None
        self.asked.append(story)
        self._under_way.add(story)
        self.together.append(frozenset(self._under_way))
        try:
            await asyncio.sleep(0.01 - len(self.asked) % 4 * 0.002)
        finally:
            self._under_way.remove(story)
        if failure is not None:
            raise failure
        self.answered.append(story)
        note = {
            "who": "P1",
            "fact": f"told story {story} about {_THINGS[story]}",
            "lifetime": "permanent",
        }
        return ModelAnswer(json.dumps({"notes": [note]}), self.name, TokenUsage())

    async def aclose(self) -> None:
        """Nothing to close."""


_THINGS = (
    "boats", "stamps", "tomatoes", "horses", "clocks", "maps", "violins", "kites", "bridges", "lamps", "owls",
    "ladders",
)  # fmt: skip


@pytest.fixture
async def behind(world: World) -> World:
    """A channel with twelve episodes that nobody has read for notes."""
    for viewer_id, login in (("3", "dora"), ("4", "emil"), ("5", "fred")):
        await world.viewer(viewer_id, login)
    for story, viewer_ids in enumerate(STORIES):
        await world.clock.advance(60_000)
        names = " and ".join(mention(viewer_id) for viewer_id in viewer_ids)
        people = dict.fromkeys(viewer_ids, (5, 0))
        await world.episode(f"{names} told story {story}.", people)
    return world


def _extractor(world: World, model: _Slow) -> Extractor:
    return Extractor(
        db=world.db, model=model, settings=lambda: world.settings, clock=world.clock
    )


async def test_two_are_read_at_once_where_they_name_different_people(
    behind: World,
) -> None:
    model = _Slow()
    report = await _extractor(behind, model).run_pass()
    assert report.episodes == len(STORIES)
    assert max(len(stories) for stories in model.together) == 2
    for stories in model.together:
        mentions = Counter[str]()
        for story in stories:
            mentions.update(STORIES[story])
        assert set(mentions.values()) == {1}, stories
    await _each_story_is_known_once(behind)


async def test_what_one_person_told_is_read_in_order_of_time(behind: World) -> None:
    model = _Slow()
    await _extractor(behind, model).run_pass()
    for person in "12345":
        stories = [story for story in model.asked if person in STORIES[story]]
        assert stories == sorted(stories)


async def test_the_known_notes_have_what_an_older_episode_told_of_the_same_person(
    behind: World,
) -> None:
    """That is why it waits: the model may say that a fact is repeated or replaced."""
    model = _Slow()
    prompts: dict[int, str] = {}
    plain_generate = model.generate

    async def generate(request: ModelRequest) -> ModelAnswer:
        story = int(re.findall(r"story (\d+)", request.prompt)[0])
        prompts[story] = request.prompt
        return await plain_generate(request)

    model.generate = generate  # type: ignore[method-assign]
    await _extractor(behind, model).run_pass()
    for story, prompt in prompts.items():
        for earlier in range(story):
            # P1 is the one with the lower id
            if min(STORIES[earlier]) in STORIES[story]:
                assert f"told story {earlier} about" in prompt, (earlier, story)


@pytest.mark.parametrize("failing", [2, 3, 4])
async def test_a_model_that_goes_away_costs_no_episode_and_is_asked_once_for_each(
    behind: World, failing: int
) -> None:
    failures = [None] * failing + [ModelUnavailable("gone")] * 2
    model = _Slow(failures)
    extractor = _extractor(behind, model)
    report = await extractor.run_pass()
    assert report.model_failed
    assert len(model.asked) <= failing + 2
    unread = await episodes.unread(behind.db)
    assert len(unread) == len(STORIES) - report.episodes
    assert [episode.tries for episode in unread] == [0] * len(unread)
    model._failures.clear()
    await extractor.run_pass()
    await _each_story_is_known_once(behind)


async def test_an_episode_that_is_blocked_waits_while_the_one_beside_it_is_written(
    behind: World,
) -> None:
    model = _Slow([None, ModelBlocked("filtered")])
    extractor = _extractor(behind, model)
    report = await extractor.run_pass()
    assert (report.episodes, report.model_failed) == (len(STORIES) - 1, False)
    await behind.clock.advance(60 * 60_000)
    assert (await extractor.run_pass()).episodes == 1
    await _each_story_is_known_once(behind)


async def test_failures_in_a_row_end_a_pass_also_where_two_were_asked(
    behind: World,
) -> None:
    model = _Slow([None, *[ModelBlocked("filtered")] * 20])
    report = await _extractor(behind, model).run_pass()
    assert (report.episodes, report.failures_in_a_row) == (1, 3)
    assert report.model_failed


@pytest.mark.parametrize("hops", range(4, 120, 12))
async def test_stopped_anywhere_each_episode_is_read_once_or_not_yet(
    behind: World, hops: int
) -> None:
    task = asyncio.create_task(_extractor(behind, _Slow()).run_pass())
    for _ in range(hops):
        await asyncio.sleep(0.0005)
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
    unread = len(await episodes.unread(behind.db))
    known = await behind.db.value("SELECT count(*) FROM semantic_notes")
    assert known == len(STORIES) - unread
    model = _Slow()
    await _extractor(behind, model).run_pass()
    assert len(model.asked) == unread
    await _each_story_is_known_once(behind)


async def _each_story_is_known_once(world: World) -> None:
    facts = await world.db.column("SELECT fact FROM semantic_notes ORDER BY id")
    stories = [int(re.findall(r"story (\d+)", fact)[0]) for fact in facts]
    assert sorted(stories) == list(range(len(STORIES)))
    assert await episodes.unread(world.db) == []
