"""A text goes through a webhook once, to Discord alone, and mentions nobody; its answer becomes a sentence."""

import aiohttp
import pytest

from forgetmenot.app import recap_sharing
from forgetmenot.errors import InputError, WebhookError
from tests.loopback_servers.discord import TOKEN, Discord
from tests.ports import unused_port

ADDRESS = f"https://discord.com/api/webhooks/123456789012345678/{TOKEN}"


TAKEN = (
    ADDRESS,
    f" {ADDRESS}\n",
    ADDRESS.replace("discord.com", "discordapp.com"),
    ADDRESS.replace("//discord", "//canary.discord"),
    ADDRESS.replace("/api/", "/api/v10/"),
)
REFUSED = (
    "",
    "https://example.com/api/webhooks/123456789012345678/" + TOKEN,
    ADDRESS.replace("https", "http"),
    *(
        ADDRESS.replace(".com", f".com{more}")
        for more in ("@example.com", ".example.com", ":8443", "\\@example.com")
    ),
    f"{ADDRESS}/../../users/@me",
    f"{ADDRESS}?wait=true",
    f"{ADDRESS}#x",
    ADDRESS.replace("/api", "//api"),
    ADDRESS.replace("discord", "disc\u043erd"),
    f"{ADDRESS}\nhttps://example.com",
    ADDRESS.replace(TOKEN, "x"),
)


@pytest.mark.parametrize("text", TAKEN)
def test_an_address_of_discord_is_taken(text: str) -> None:
    assert recap_sharing.webhook_address(text) == text.strip()


@pytest.mark.parametrize("text", REFUSED)
def test_any_other_address_is_refused_without_being_repeated(text: str) -> None:
    with pytest.raises(InputError) as refused:
        recap_sharing.webhook_address(text)
    assert TOKEN not in str(refused.value)


@pytest.mark.parametrize("line", ["a line of text", "🦊" * 30])
async def test_of_what_is_too_long_whole_lines_are_posted_once_and_nobody_is_mentioned(
    line: str,
) -> None:
    there = Discord()
    text = "\n".join(f"{number} {line}" for number in range(400))
    async with there.at() as address:
        await recap_sharing.send(address, text)
    [body] = there.got
    description = body["embeds"][0]["description"]
    assert len(description.encode("utf-16-le")) // 2 <= recap_sharing.LONGEST
    assert description.endswith(f"{line}\n…")
    assert text.startswith(description.removesuffix("\n…"))
    assert body["allowed_mentions"] == {"parse": []}
    assert there.requests == [f"/api/webhooks/1/{TOKEN}?wait=true"]


@pytest.mark.parametrize(
    ("status", "words", "lost"),
    [
        (404, "make a new one", False),
        (302, "did not take the recap (302)", False),
        (502, "did not take the recap (502)", True),
        (429, "in a few minutes", False),
    ],
)
async def test_a_refusal_says_what_to_do(status: int, words: str, lost: bool) -> None:
    there = Discord(status, headers={"Location": "http://127.0.0.1:1/elsewhere"})
    async with there.at() as address:
        with pytest.raises(WebhookError) as refused:
            await recap_sharing.send(address, "hello")
    assert words in str(refused.value)
    assert refused.value.lost is lost
    assert len(there.got) == 1  # no redirect is followed, and nothing is sent again
    assert TOKEN not in repr(refused.value)


async def test_without_an_answer_it_may_have_been_posted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        recap_sharing, "_ANSWER_WITHIN", aiohttp.ClientTimeout(total=0.2)
    )
    there = Discord(hangs=True)
    async with there.at() as address:
        with pytest.raises(WebhookError) as lost:
            await recap_sharing.send(address, "hello")
    assert lost.value.lost
    with pytest.raises(WebhookError) as away:
        await recap_sharing.send(
            f"http://127.0.0.1:{unused_port()}/api/webhooks/1/{TOKEN}", "hello"
        )
    assert not away.value.lost
    for error in (lost.value, away.value):
        assert TOKEN not in repr(error)
        assert error.__cause__ is None
