"""Helix's channel on loopback: users, title and category, the stream, markers, clips."""

from aiohttp import web

from forgetmenot.sim.call import Call, Refused, as_broadcaster, in_channel, nothing, ok, stamp
from forgetmenot.sim.helix import Routes
from forgetmenot.sim.world import Stream, User, World

_JOINED = "2016-12-14T20:32:28Z"
_PICTURE = "https://static-cdn.jtvnw.net/jtv_user_pictures/none.png"


class Channel:
    """The handlers. `markers` and `clips` are those that were made, in order."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.markers: list[dict[str, object]] = []
        self.clips: list[dict[str, object]] = []

    def routes(self) -> Routes:
        """Method and path to handler."""
        return {
            ("GET", "users"): self.users,
            ("GET", "channels"): self.channels,
            ("PATCH", "channels"): self.change_channel,
            ("GET", "streams"): self.streams,
            ("POST", "streams/markers"): self.mark,
            ("POST", "clips"): self.clip,
            ("GET", "clips"): self.list_clips,
            ("GET", "games"): self.find_games,
            ("GET", "search/categories"): self.search_games,
        }

    async def users(self, call: Call) -> web.Response:
        """GET users: by id and login; without either, the token's own."""
        ids, logins = call.query.get("id", []), [login.lower() for login in call.query.get("login", [])]
        if len(ids) + len(logins) > 100:
            raise Refused(400, "The number of IDs and logins must not exceed 100.")
        if not ids and not logins:
            ids = [call.token.user_id]
        found = [user for user in self.world.users.values() if user.id in ids or user.login in logins]
        return ok([_user(user) for user in found])

    async def channels(self, call: Call) -> web.Response:
        """GET channels: title and category."""
        call.param("broadcaster_id")
        mine = self.world.room_id in call.query["broadcaster_id"]
        return ok([self._channel()] if mine else [])

    def _channel(self) -> dict[str, object]:
        world = self.world
        return {
            "broadcaster_id": world.room_id,
            "broadcaster_login": world.owner.login,
            "broadcaster_name": world.owner.name,
            "broadcaster_language": "en",
            "game_id": world.game_id,
            "game_name": world.game,
            "title": world.title,
            "delay": 0,
            "tags": [],
            "content_classification_labels": [],
            "is_branded_content": False,
        }

    async def change_channel(self, call: Call) -> web.Response:
        """PATCH channels: the broadcaster changes title or category."""
        as_broadcaster(self.world, call)
        call.scope("channel:manage:broadcast")
        if not call.body:
            raise Refused(400, "The request must update at least one property.")
        if "title" in call.body:
            title = call.text("title")
            if len(title) > 140:
                raise Refused(400, "The title is too long.")
            self.world.title = title
        if "game_id" in call.body:
            self._set_game(str(call.body["game_id"]))
        return nothing()

    def _set_game(self, game_id: str) -> None:
        if game_id not in ("", "0", *self.world.games):
            raise Refused(400, "The ID in game_id is not valid.")
        self.world.game_id, self.world.game = game_id, self.world.games.get(game_id, "")

    async def streams(self, call: Call) -> web.Response:
        """GET streams: the channel's, if it is live and asked for."""
        owner, stream = self.world.owner, self.world.stream
        ids, logins = call.query.get("user_id", []), call.query.get("user_login", [])
        asked = (not ids and not logins) or owner.id in ids or owner.login in [login.lower() for login in logins]
        return ok([self._stream(stream)] if stream is not None and asked else [], pagination={})

    def _stream(self, stream: Stream) -> dict[str, object]:
        world = self.world
        return {
            "id": stream.id,
            "user_id": world.room_id,
            "user_login": world.owner.login,
            "user_name": world.owner.name,
            "game_id": world.game_id,
            "game_name": world.game,
            "type": "live",
            "title": world.title,
            "viewer_count": stream.viewers,
            "started_at": stamp(stream.started_at),
            "language": "en",
            "thumbnail_url": _PICTURE,
            "tag_ids": [],
            "tags": [],
            "is_mature": False,
        }

    async def mark(self, call: Call) -> web.Response:
        """POST streams/markers: while live, by the broadcaster."""
        in_channel(self.world, call.text("user_id"))
        call.as_self(self.world.room_id, "user_id")
        call.scope("channel:manage:broadcast")
        description = str(call.body.get("description", ""))
        if len(description) > 140:
            raise Refused(400, "The string in the description field is too long.")
        stream, now = self._live("The user is not streaming live."), self.world.now()
        marker = {
            "id": self.world.new_id().replace("-", ""),
            "created_at": stamp(now),
            "description": description,
            "position_seconds": max(0, now - stream.started_at) // 1_000,
        }
        self.markers.append(marker)
        return ok([marker])

    def _live(self, otherwise: str) -> Stream:
        if self.world.stream is None:
            raise Refused(404, otherwise)
        return self.world.stream

    async def clip(self, call: Call) -> web.Response:
        """POST clips: while live."""
        in_channel(self.world, call.param("broadcaster_id"))
        call.scope("clips:edit")
        self._live("Clipping is not possible for an offline channel.")
        clip_id = f"SimClip{len(self.clips) + 1}"
        made: dict[str, object] = {"id": clip_id, "edit_url": f"https://clips.twitch.tv/{clip_id}/edit"}
        self.clips.append(made | {"creator_id": call.token.user_id, "created_at": stamp(self.world.now())})
        return ok([made], 202)

    async def list_clips(self, call: Call) -> web.Response:
        """GET clips: by id, or the channel's."""
        wanted = call.query.get("id", [])
        return ok([self._clip(clip) for clip in self.clips if not wanted or clip["id"] in wanted], pagination={})

    def _clip(self, clip: dict[str, object]) -> dict[str, object]:
        owner, creator = self.world.owner, self.world.by_id(str(clip["creator_id"])) or self.world.owner
        address = f"https://clips.twitch.tv/{clip['id']}"
        return {
            "id": clip["id"],
            "url": address,
            "embed_url": address,
            "broadcaster_id": owner.id,
            "broadcaster_name": owner.name,
            "creator_id": creator.id,
            "creator_name": creator.name,
            "video_id": "",
            "game_id": self.world.game_id,
            "language": "en",
            "title": self.world.title,
            "view_count": 0,
            "created_at": clip["created_at"],
            "thumbnail_url": _PICTURE,
            "duration": 30.0,
            "vod_offset": None,
            "is_featured": False,
        }

    async def find_games(self, call: Call) -> web.Response:
        """GET games: by id or exact name."""
        ids, names = call.query.get("id", []), [name.lower() for name in call.query.get("name", [])]
        games = self.world.games.items()
        return ok([_game(key, name) for key, name in games if key in ids or name.lower() in names], pagination={})

    async def search_games(self, call: Call) -> web.Response:
        """GET search/categories: by part of the name."""
        part = call.param("query").lower()
        found = [_game(key, name) for key, name in self.world.games.items() if part in name.lower()]
        return ok(found, pagination={})


def _user(user: User) -> dict[str, object]:
    return {
        "id": user.id,
        "login": user.login,
        "display_name": user.name,
        "type": "",
        "broadcaster_type": "",
        "description": "",
        "profile_image_url": _PICTURE,
        "offline_image_url": "",
        "view_count": 0,
        "created_at": _JOINED,
    }


def _game(game_id: str, name: str) -> dict[str, str]:
    return {"id": game_id, "name": name, "box_art_url": _PICTURE, "igdb_id": ""}
