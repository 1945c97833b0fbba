"""When each sentence of a summary was said: the right line, or none; and from there to the prompt."""

from forgetmenot.domain import EventKind, Line, Role
from forgetmenot.durations import MINUTE
from forgetmenot.memory.sentence_times import times_of_sentences
from forgetmenot.text.words import sentences_of

ALICE = "1"
BOB = "2"


def line(
    minute: int,
    viewer_id: str,
    text: str,
    *,
    system_text: str = "",
    from_bot: bool = False,
) -> Line:
    return Line(
        seq=minute,
        id=str(minute),
        stream_id=1,
        viewer_id=viewer_id,
        kind=EventKind.MESSAGE,
        text=text,
        system_text=system_text,
        role=Role.VIEWER,
        addressed=False,
        from_bot=from_bot,
        at=minute * MINUTE,
    )


WINDOW = (
    line(1, ALICE, "my parrot says pog now"),
    line(2, BOB, "blame the ladder"),
    line(3, ALICE, "blame the ladder"),
    line(4, BOB, "the van has failed its inspection"),
    line(5, ALICE, "that parrot of yours"),
    line(6, BOB, "", system_text="12 raiders from Knitters have joined!"),
    line(7, BOB, "a parrot learned German", from_bot=True),
)


def minutes(summary: str) -> list[int]:
    return [at // MINUTE for at in times_of_sentences(summary, WINDOW)]


def test_a_sentence_has_the_time_of_the_line_that_it_shares_most_with() -> None:
    summary = "<@1>'s parrot learned to say pog. <@2>'s old van failed its inspection. Raiders of the Knitters joined."
    assert minutes(summary) == [1, 4, 6]


def test_of_equal_lines_it_is_that_of_whom_it_names_else_the_first() -> None:
    assert minutes("<@1> blamed the ladder. Chat blamed the ladder.") == [3, 2]


def test_what_no_line_fits_well_has_no_time() -> None:
    assert minutes("Chat cheered. A parrot flew by. <@2> was happy.") == [0, 0, 0]


def test_there_is_a_time_for_each_sentence_of_any_summary() -> None:
    for summary in ("", "One", "One. Two! Three?", "日本語です。二つ目。"):
        assert len(times_of_sentences(summary, WINDOW)) == len(sentences_of(summary))
        assert times_of_sentences(summary, ()) == (0,) * len(sentences_of(summary))
