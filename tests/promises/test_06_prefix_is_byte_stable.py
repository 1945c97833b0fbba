"""Promise 6: the prefix is composed once per compaction pass and is the same bytes for every reply until the next."""

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from forgetmenot.domain import PromptLine, Role, Scope, Viewer
from forgetmenot.durations import DAY
from forgetmenot.prompt.assemble import assemble, compose_prefix
from forgetmenot.prompt.material import Past, PrefixMaterial, TailMaterial
from forgetmenot.settings.schema import PromptSettings, Settings
from tests.stage import Stage

NOW = 1_784_894_400_000
SETTINGS = Settings()
SLOW = PrefixMaterial(
    channel="thechannel",
    title="Racing",
    category="Cars",
    actions=("clip",),
    digest="A week of races.",
    episodes=(
        Past(1, NOW, "they raced", is_recap=True),
        Past(2, NOW, "alice won"),
        Past(3, NOW, "bob won"),
    ),
)

minutes = st.integers(0, 3 * 365 * 24 * 60)
speakers = st.builds(
    lambda i, name: Viewer(i, name, name, Role.VIEWER, 0, 0),
    st.sampled_from("123"),
    st.text(max_size=25),
)
messages = st.builds(
    lambda i, text: PromptLine(i, f"e{i}", "1", text, NOW),
    st.integers(1, 10**6),
    st.text(max_size=300),
)


@given(minutes, speakers, messages)
def test_nothing_that_changes_per_message_viewer_or_minute_changes_it(
    minute: int, speaker: Viewer, message: PromptLine
) -> None:
    prefix = compose_prefix(SLOW, SETTINGS)
    tail = TailMaterial(NOW + minute * 60_000, speaker, message)
    assert assemble(prefix, tail, SETTINGS).prefix == prefix.text
    assert " ago" not in prefix.text  # dates in it are those of the rows


@given(st.integers(1_250, 2_500), st.text(max_size=500))
def test_when_a_reply_must_trim_it_what_remains_is_its_beginning(
    budget: int, text: str
) -> None:
    prefix = compose_prefix(SLOW, SETTINGS)
    chat = tuple(PromptLine(i, f"e{i}", "2", f"{i} {text}", NOW) for i in range(20))
    tail = TailMaterial(
        NOW,
        Viewer("1", "a", "A", Role.VIEWER, 0, 0),
        PromptLine(99, "e99", "1", text, NOW),
        chat=chat,
    )
    prompt = assemble(
        prefix, tail, Settings(prompt=PromptSettings(budget_tokens=budget))
    )
    assert prefix.text.startswith(prompt.prefix)
    assert prompt.prefix.startswith(prefix.sections[0].text)


async def test_between_two_passes_every_reply_sees_the_same_bytes(stage: Stage) -> None:
    await stage.know("the marmot is the mascot", None, Scope.CHANNEL)
    hashes = set()
    for i in range(6):
        viewer = "123"[i % 3]
        await stage.know(f"fact number {i}", viewer)
        await stage.know(f"channel fact {i}", None, Scope.CHANNEL)
        await stage.clock.advance(DAY)
        reply = await stage.ask(f"@forgetmenot_bot what about {i}?", viewer)
        assert reply is not None
        stored_prompt = (await stage.row(reply.id)).prompt
        assert stored_prompt["prefix_whole"]
        hashes.add(
            (
                stored_prompt["prefix_sha256"],
                hashlib.sha256(stage.model.asked[-1].system.encode()).hexdigest(),
            )
        )
    assert len(hashes) == 1
    before = (await stage.keeper.current()).prefix.sha256
    await stage.keeper.refresh()
    assert (await stage.keeper.current()).prefix.sha256 != before
