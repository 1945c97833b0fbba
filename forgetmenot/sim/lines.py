"""The lines of Twitch's IRC as the loopback writes them. Pure.

Tags follow Twitch's documentation and recorded lines; nothing here was checked against a live connection.
"""

from collections.abc import Mapping

from forgetmenot.sim.world import Said, User, World

HOST = "tmi.twitch.tv"
_ESCAPES = str.maketrans({";": r"\:", " ": r"\s", "\\": "\\\\", "\r": r"\r", "\n": r"\n"})


def tagged(tags: Mapping[str, object], rest: str) -> str:
    """A line with its tags in front, values escaped as IRCv3 has it."""
    joined = ";".join(f"{key}={str(value).translate(_ESCAPES)}" for key, value in tags.items())
    return f"@{joined} {rest}" if joined else rest


def prefix(login: str) -> str:
    """`:login!login@login.tmi.twitch.tv`."""
    return f":{login}!{login}@{login}.{HOST}"


def welcome(login: str) -> list[str]:
    """What Twitch says to a connection that is let in."""
    texts = {
        "001": "Welcome, GLHF!",
        "002": f"Your host is {HOST}",
        "003": "This server is rather new",
        "004": "-",
        "375": "-",
        "372": "You are in a maze of twisty passages, all alike.",
        "376": ">",
    }
    return [f":{HOST} {number} {login} :{text}" for number, text in texts.items()]


def global_user_state(user: User) -> str:
    """GLOBALUSERSTATE of who has signed in."""
    tags = {"badge-info": "", "badges": "", "color": user.color, "display-name": user.name}
    return tagged(tags | {"emote-sets": "0", "user-id": user.id, "user-type": ""}, f":{HOST} GLOBALUSERSTATE")


def user_state(world: World, user: User) -> str:
    """USERSTATE of who has joined."""
    badges = world.badges_of(user)
    mod = int("moderator/1" in badges)
    tags = {"badge-info": "", "badges": ",".join(badges), "color": user.color, "display-name": user.name}
    tags |= {"emote-sets": "0", "mod": str(mod), "subscriber": "0", "user-type": "mod" if mod else ""}
    return tagged(tags, f":{HOST} USERSTATE #{world.owner.login}")


def room_state(world: World) -> str:
    """ROOMSTATE in full."""
    rules = world.rules
    followers = (rules.follower_mode_duration or 0) if rules.follower_mode else -1
    tags = {
        "emote-only": int(rules.emote_mode),
        "followers-only": followers,
        "r9k": int(rules.unique_chat_mode),
        "room-id": world.room_id,
        "slow": (rules.slow_mode_wait_time or 30) if rules.slow_mode else 0,
        "subs-only": int(rules.subscriber_mode),
    }
    return tagged(tags, f":{HOST} ROOMSTATE #{world.owner.login}")


def joined(login: str, channel: str) -> list[str]:
    """What follows a JOIN, before the states."""
    return [
        f"{prefix(login)} JOIN #{channel}",
        f":{login}.{HOST} 353 {login} = #{channel} :{login}",
        f":{login}.{HOST} 366 {login} #{channel} :End of /NAMES list",
    ]


def notice(text: str, *, channel: str = "*", msg_id: str = "") -> str:
    """NOTICE; the server's own when the channel is "*"."""
    target = channel if channel == "*" else f"#{channel}"
    return tagged({"msg-id": msg_id} if msg_id else {}, f":{HOST} NOTICE {target} :{text}")


def _person_tags(world: World, user: User, badges: tuple[str, ...]) -> dict[str, object]:
    names = {badge.partition("/")[0]: badge.partition("/")[2] for badge in badges}
    subscriber = "subscriber" in names or "founder" in names
    tags: dict[str, object] = {
        "badge-info": f"subscriber/{names['subscriber']}" if "subscriber" in names else "",
        "badges": ",".join(badges),
        "color": user.color,
        "display-name": user.name,
        "emotes": "",
        "flags": "",
        "mod": int("moderator" in names),
        "room-id": world.room_id,
        "subscriber": int(subscriber),
        "turbo": 0,
        "user-id": user.id,
        "user-type": "mod" if "moderator" in names else "",
    }
    return tags | ({"vip": 1} if "vip" in names else {})


def privmsg(world: World, said: Said) -> str:
    """PRIVMSG with all the tags of a viewer's client."""
    tags = _person_tags(world, said.user, said.badges)
    tags |= {"first-msg": int(said.first), "id": said.id, "returning-chatter": 0, "tmi-sent-ts": said.at}
    if said.bits:
        tags["bits"] = said.bits
    text = said.text
    if said.reply_to is not None:
        tags |= _reply_tags(said.reply_to)
        text = f"@{said.reply_to.user.name} {text}"
    if said.source_room:
        tags |= {"source-room-id": said.source_room, "source-id": f"{said.id}-source", "source-badges": ""}
    tags |= said.extra
    text = f"\x01ACTION {text}\x01" if said.me else text
    return tagged(tags, f"{prefix(said.user.login)} PRIVMSG #{world.owner.login} :{text}")


def _reply_tags(parent: Said) -> dict[str, object]:
    root = parent.reply_to or parent
    return {
        "reply-parent-display-name": parent.user.name,
        "reply-parent-msg-body": parent.text,
        "reply-parent-msg-id": parent.id,
        "reply-parent-user-id": parent.user.id,
        "reply-parent-user-login": parent.user.login,
        "reply-thread-parent-msg-id": root.id,
        "reply-thread-parent-user-login": root.user.login,
    }


def user_notice(world: World, said: Said, kind: str, system: str, parameters: Mapping[str, object]) -> str:
    """USERNOTICE: a sub, a gift, a raid, an announcement. `said.text` is what the person added, if anything."""
    tags = _person_tags(world, said.user, said.badges)
    tags |= {"id": said.id, "login": said.user.login, "msg-id": kind, "system-msg": system, "tmi-sent-ts": said.at}
    tags |= {f"msg-param-{key}": value for key, value in parameters.items()} | dict(said.extra)
    text = f" :{said.text}" if said.text else ""
    return tagged(tags, f":{HOST} USERNOTICE #{world.owner.login}{text}")


def clear_message(world: World, said: Said) -> str:
    """CLEARMSG: one message is gone."""
    tags = {"login": said.user.login, "room-id": "", "target-msg-id": said.id, "tmi-sent-ts": world.now()}
    return tagged(tags, f":{HOST} CLEARMSG #{world.owner.login} :{said.text}")


def clear_chat(world: World, user: User | None, seconds: int | None) -> str:
    """CLEARCHAT: a timeout (seconds), a ban (None), or the whole chat (no user)."""
    tags: dict[str, object] = {"room-id": world.room_id, "tmi-sent-ts": world.now()}
    if user is None:
        return tagged(tags, f":{HOST} CLEARCHAT #{world.owner.login}")
    tags = ({"ban-duration": seconds} if seconds is not None else {}) | tags | {"target-user-id": user.id}
    return tagged(tags, f":{HOST} CLEARCHAT #{world.owner.login} :{user.login}")
