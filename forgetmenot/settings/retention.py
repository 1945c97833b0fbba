"""How long what is kept, as a table of docs/PRIVACY.md: made from the settings, so that it cannot go stale."""

from forgetmenot.settings.schema import Settings

BEGIN, END = "<!-- retention: begin -->", "<!-- retention: end -->"
"""What the table stands between in the page."""


def retention_table(settings: Settings) -> str:
    """The table in Markdown, without its marks."""
    replies = f"{settings.privacy.keep_replies_d} days"
    rows = [
        ("Chat messages", "`events`", f"{settings.memory.raw_events_h:g} hours, or less: until Twitch clears them"),
        (
            "Summaries of chat, recaps of streams",
            "`episodes`, `streams`",
            "kept; without quotations of eight words or more",
        ),
        ("Notes about people and the channel", "`semantic_notes`", "1, 3, 7 or 30 days, or kept, as each note says"),
        ("Notes that were replaced or taken back", "`semantic_notes`", "kept until their subject has them erased"),
        ("Names, and which streams somebody came to", "`viewers`, `attendance`", "kept until the person is erased"),
        ("The bot's own replies, and which notes they used", "`bot_messages`", replies),
        ("What it was asked to do, and what came of it", "`action_logs`", replies),
        ("Counts of model calls and their tokens", "`model_calls`", replies),
        (
            "Everything about a banned account",
            "all of them",
            "hidden at once, erased after 7 days unless the ban is lifted",
        ),
        (
            "Copies of the memory, without chat and the bot's replies",
            "`backups/`",
            f"the newest {settings.privacy.keep_backups}; one at each start, and all are made anew after an erasure",
        ),
        ("The log: counts and ids, never chat", "`forgetmenot.log`", "the last three files of 1 MB"),
    ]
    lines = ["| what | where | how long |", "|---|---|---|"]
    return "\n".join([*lines, *(f"| {what} | {where} | {long} |" for what, where, long in rows)])
