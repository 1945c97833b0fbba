"""docs/PRIVACY.md says what the settings do: its table and its numbers are made from the defaults."""

from pathlib import Path

from forgetmenot.settings.schema import Settings

BEGIN, END = "<!-- retention: begin -->", "<!-- retention: end -->"
PAGE = (Path(__file__).parents[2] / "docs" / "PRIVACY.md").read_text(encoding="utf-8")


def retention_table(settings: Settings) -> str:
    """How long what is kept, as the page tells it between its marks."""
    replies = f"{settings.privacy.keep_replies_d} days"
    rows = [
        (
            "Chat messages, what the streamer says (if it may be heard), Twitch's events",
            "`events`",
            f"{settings.memory.raw_events_h:g} hours, or less: until Twitch clears them",
        ),
        (
            "Summaries of chat, recaps of streams",
            "`episodes`, `streams`",
            "kept; without quotations of more than twelve words",
        ),
        (
            "Notes about people and the channel",
            "`semantic_notes`",
            (
                "1, 3, 7 or 30 days, or kept, as each note says;"
                " one of 30 days stays for a year more as what was, found only by its words or its month"
            ),
        ),
        ("Notes that were replaced or removed", "`semantic_notes`", "kept until the viewer has them erased"),
        ("Names, and which streams a viewer attended", "`viewers`, `attendance`", "kept until the person is erased"),
        ("The bot's own replies, which notes they used, and how they were rated", "`bot_messages`", replies),
        ("Actions that were asked for, and their results", "`action_logs`", replies),
        ("Counts of model calls and tokens", "`model_calls`", replies),
        (
            "Everything about a banned account",
            "all of them",
            "hidden at once, erased after 7 days unless the ban is lifted",
        ),
        (
            "Backups of the memory, without chat and the bot's replies",
            "`backups/`",
            (
                f"the newest {settings.privacy.keep_backups}; one at each start and every day;"
                " an erasure replaces all with a new one"
            ),
        ),
        ("The log: counts and ids, never chat", "`forgetmenot.log`", "the last three files of 1 MB"),
    ]
    lines = ["| what | where | how long |", "|---|---|---|"]
    return "\n".join([*lines, *(f"| {what} | {where} | {long} |" for what, where, long in rows)])


def test_the_table_is_the_one_that_the_defaults_make() -> None:
    assert f"{BEGIN}\n{retention_table(Settings())}\n{END}" in PAGE


def test_the_text_for_viewers_has_the_same_numbers() -> None:
    words = " ".join(PAGE.replace("> ", "").split())
    assert f"deleted after {Settings().memory.raw_events_h:g} hours" in words
    assert f"replies after {Settings().privacy.keep_replies_d} days" in words
