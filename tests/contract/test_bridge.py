"""Effects of other bots, against loopback servers that behave as Streamer.bot's documents and Firebot's router say."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
from aiohttp import web

from forgetmenot.bridge import Bridge
from forgetmenot.domain import OutcomeKind
from forgetmenot.errors import SettingsError
from forgetmenot.settings.load import parse_settings
from forgetmenot.settings.schema import BridgeSettings, Settings
from tests.loopback_servers.serving import served

NOT_DONE = {OutcomeKind.UNKNOWN, OutcomeKind.REFUSED}
GUID = "4af4bdef-f396-521f-a1a5-02983ae638cb"
MORE = {"group": "None", "subaction_count": 1}
LISTS = [
    {"id": "9b1d", "name": "Fireworks", "args": []},
    {"id": "../status", "name": "Odd", "args": []},
]


@dataclass
class OtherBot:
    """A Streamer.bot and a Firebot at one port. `did`: what was run."""

    did: list[object] = field(default_factory=list)
    status: int = 200
    garbage: str = ""

    def app(self) -> web.Application:
        async def actions(_request: web.Request) -> web.Response:
            if self.garbage:
                return web.Response(text=self.garbage)
            known = [
                {"id": GUID, "name": "Confetti", "enabled": True, **MORE},
                {"id": "off-1", "name": "Old", "enabled": False, **MORE},
                # so many that the list comes in pieces
                *(
                    {"id": f"a-{number}", "name": f"Action {number}", **MORE}
                    for number in range(5_000)
                ),
            ]
            return web.json_response({"count": 2, "actions": known})

        async def act(request: web.Request) -> web.Response:
            self.did.append((await request.json())["action"])
            return web.Response(status=204)

        async def lists(_request: web.Request) -> web.Response:
            return web.json_response(LISTS)

        async def run(request: web.Request) -> web.Response:
            self.did.append(request.match_info["id"])
            return web.json_response({"status": "success"}, status=self.status)

        app = web.Application()
        app.add_routes([web.get("/GetActions", actions), web.post("/DoAction", act)])
        app.add_routes(
            [
                web.get("/api/v1/effects/preset", lists),
                web.post("/api/v1/effects/preset/{id}/run", run),
            ]
        )
        return app


@asynccontextmanager
async def running(bot: OtherBot) -> AsyncIterator[Callable[[], Settings]]:
    async with served(bot.app()) as url:
        bridge = BridgeSettings(
            streamerbot_url=url,
            streamerbot_actions=("Confetti", "Old", "Gone"),
            firebot_url=url,
            firebot_lists=("Fireworks", "Odd", "Missing"),
        )
        yield lambda: Settings(bridge=bridge)


@pytest.mark.parametrize(
    ("name", "kind", "did", "detail"),
    [
        ("Confetti", OutcomeKind.DONE, [{"id": GUID, "name": "Confetti"}], ""),
        ("Old", OutcomeKind.REFUSED, [], "no action `Old` that is switched on"),
        ("Gone", OutcomeKind.REFUSED, [], "no action `Gone`"),
        ("Fireworks", OutcomeKind.DONE, ["9b1d"], ""),
        ("Odd", OutcomeKind.REFUSED, [], "no preset effect list"),
        ("Missing", OutcomeKind.REFUSED, [], "no preset effect list"),
        ("Shut down the stream", OutcomeKind.REFUSED, [], "not listed"),
        (GUID, OutcomeKind.REFUSED, [], "not listed"),
    ],
)
async def test_only_what_the_settings_list_and_the_other_bot_has_is_run(
    name: str, kind: OutcomeKind, did: list[object], detail: str
) -> None:
    bot = OtherBot()
    async with running(bot) as settings:
        outcome = await Bridge(settings).run_effect(name)
    assert (outcome.kind, bot.did) == (kind, did)
    assert detail in outcome.detail


DEEP = "[" * 100_000 + "]" * 100_000
GARBAGE = {
    "no JSON": "<html>",
    "too deep": DEEP,
    "too deep inside": f'{{"actions": {DEEP}}}',
    "no name": '{"actions": [{"id": "Confetti"}]}',
    "a name that is a list": '{"actions": [{"id": "a", "name": ["Confetti"]}]}',
    "halves of characters": '{"actions": "\\ud800"}',
}


@pytest.mark.parametrize("garbage", GARBAGE.values(), ids=GARBAGE)
async def test_what_goes_wrong_is_told_and_nothing_is_claimed(garbage: str) -> None:
    bot = OtherBot(status=500, garbage=garbage)
    async with running(bot) as settings:
        bridge = Bridge(settings)
        assert (await bridge.run_effect("Fireworks")).kind is OutcomeKind.REFUSED
        assert (await bridge.run_effect("Confetti")).kind in NOT_DONE
    assert bot.did == ["9b1d"]
    outcome = await bridge.run_effect("Confetti")
    assert outcome.kind is OutcomeKind.FAILED
    assert "nothing answers" in outcome.detail


@pytest.mark.parametrize(
    "host",
    ["192.168.1.5:7474", "127.0.0.1.nip.io:7474", "evil.example", "127.0.0.1:1/x"],
)
@pytest.mark.parametrize("key", ["streamerbot_url", "firebot_url"])
def test_another_computer_is_refused(key: str, host: str) -> None:
    with pytest.raises(SettingsError, match="on this computer"):
        parse_settings(f'[bridge]\n{key} = "http://{host}"', "config.toml")
