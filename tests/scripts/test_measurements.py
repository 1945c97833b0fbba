"""The scripts that measure: their lists are sound and they print what they document."""

import json
import subprocess
import sys
from pathlib import Path

import bench_recall
import pytest
from chaos import bad, chaos
from scoring.gold import LEARN, TRAP, Note, Pattern, Said, answered, judge, judge_by_lines, read_stream
from scoring.playing import first_person, leaks

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("what", "lines", "keys"),
    [
        (
            "pairs",
            "D|r|plays chess|plays chess\nC|v|lives in Rome|lives in Oslo\n",
            {"supersede_recall", "distinct_lost"},
        ),
        ("sensitive", "harmless|plays chess\nfaith|is Muslim\n", {"recall", "precision", "false_positives"}),
    ],
)
def test_rates_come_as_one_object(tmp_path: Path, what: str, lines: str, keys: set[str]) -> None:
    file = tmp_path / "lines.txt"
    file.write_text(lines, "utf-8")
    done = measure(what, file)
    assert keys <= json.loads(done.stdout).keys()


def test_no_line_is_left_out_in_silence(tmp_path: Path) -> None:
    file = tmp_path / "lines.txt"
    file.write_text("C|v|lives in Rome|lives in Oslo\r\nC|likes tea|dislikes tea\r\n", "utf-8-sig")
    done = measure("pairs", file)
    assert json.loads(done.stdout)["supersede_recall"] == 1
    assert done.stderr.startswith("1 lines have no 4 parts")
    gone = measure("pairs", tmp_path / "gone.txt")
    assert (gone.returncode, gone.stdout, "Traceback" in gone.stderr) == (1, "", False)
    assert "gone.txt cannot be read" in gone.stderr


def measure(what: str, file: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "scripts" / "bench_memory.py"), what, str(file), "--json"]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)


TALK = {
    "sample_id": "small",
    "conversation": {"speaker_a": "Alice", "speaker_b": "Bob", "session_1_date_time": "1:56 pm on 8 May, 2023"},
    "observation": {
        "session_1_observation": {
            "Alice": [["Alice has two dogs.", "D1:1"], ["Alice plays the guitar.", "D1:2"]],
            "Bob": [["Bob works as a nurse.", "D1:3"]],
        }
    },
    "session_summary": {"session_1_summary": "Alice and Bob talk about animals and work."},
    "qa": [
        {"question": "Which pets does Alice have?", "evidence": ["D1:1"], "category": 4},
        {"question": "What is the job of Bob?", "evidence": ["D1:3"], "category": 4},
        {"question": "Which football club does Bob support?", "evidence": ["D1:1"], "category": 5},
    ],
}


def test_it_prints_tables_and_draws_charts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    data, drawn = tmp_path / "talk.json", tmp_path / "recall.svg"
    data.write_text(json.dumps([TALK]), encoding="utf-8")
    monkeypatch.setattr("sys.argv", ["bench_recall.py", str(data), "--fill", "300", "--svg", str(drawn)])
    bench_recall.main()
    printed = capsys.readouterr().out
    first = next(line for line in printed.splitlines() if line.startswith("recall: all"))
    assert first.split()[2:6] == ["2", "1", "1", "1"]
    assert "fit ≥ 0.3, recall: 1.000 of what has an answer, 0.000 of what has none" in printed
    assert "filled: notes 303" in printed
    assert drawn.read_text(encoding="utf-8").count("<polyline") >= 5


STREAM = ROOT / "scripts" / "scoring" / "stream.txt"


def test_the_stream_is_large_enough_and_each_fact_stands_in_its_line() -> None:
    stream = read_stream(STREAM)
    kinds = [mark.kind for mark in stream.marks]
    assert (len(stream.lines) >= 120, kinds.count(LEARN) >= 25, kinds.count(TRAP) >= 25) == (True, True, True)
    unsaid = [m.text for m in stream.marks if m.kind == LEARN and not m.pattern.fits(stream.lines[m.of].text)]
    assert unsaid == []


@pytest.mark.parametrize(
    ("subject", "fact", "verdict"),
    [
        ("dave", "has a cat called Miso", "fact"),
        ("erin", "favourite game is Hades", "fact"),
        ("erin", "favourite game is Celeste", "trap"),
        ("erin", "used to live in Lisbon", "true"),
        ("carol", "is learning Finnish", "wrong subject"),
        ("erin", "is an astronaut", "trap"),
        ("frank", "they are discussing their plans", "junk"),
        ("channel", "movie night is on the first Friday of every month", "fact"),
        ("carol", "does not have a cat", "true"),
    ],
)
def test_a_note_is_judged_by_the_list(subject: str, fact: str, verdict: str) -> None:
    judged = judge([Note(subject, fact)], read_stream(STREAM))
    assert judged.verdicts[0][0] == verdict
    assert judged.learned == (verdict == "fact")


def test_without_a_list_a_note_is_judged_by_the_lines() -> None:
    lines = [Said(0, "alice", "I adopted a grey cat from the shelter"), Said(1, "bob", "I play chess")]
    facts = [Note("alice", "Alice adopted a cat from the shelter"), Note("bob", "Bob plays chess")]
    notes = [Note("alice", "adopted a cat from the shelter"), Note("alice", "plays chess"), Note("bob", "is happy")]
    judged = judge_by_lines(notes, facts, lines)
    assert [verdict for verdict, _ in judged.verdicts] == ["fact", "wrong subject", "junk"]
    assert (judged.learned, judged.missed) == (1, ["bob: Bob plays chess"])


@pytest.mark.parametrize(
    ("wanted", "reply", "right"),
    [
        ("polish, czech", "You speak Czech and Polish.", True), ("polish, czech", "You speak Czech.", False),
        ("unknown", "I don't remember that.", True), ("unknown", "Her name is Ann.", False), ("unknown", "", True),
        ("hades", "", False), ("!banned", "Nice try.", True), ("!banned", "Carol is banned.", False),
    ],
)  # fmt: skip
def test_a_reply_is_right_or_not(wanted: str, reply: str, right: bool) -> None:
    assert answered(wanted, reply) is right


@pytest.mark.parametrize(
    ("text", "is_leak"),
    [
        ('{"say": "hello"}', True),
        ("Bob moved to Oslo (said by them; tags: places)", True),
        ("[id:12] likes tea", True),
        ("[000000] Bob moved to Oslo.", True),
        ("[11:04:40] mark this moment please", True),
        ("<lore> likes tea </lore>", True),
        ("Well, answer the current message in one chat line.", True),
        ("You speak Polish (and Czech).", False),
    ],
)
def test_what_should_not_be_said_is_a_leak(text: str, is_leak: bool) -> None:
    assert leaks(text, "- Answer the current message in one chat line: a sentence") is is_leak


def test_words_are_compared_by_stems() -> None:
    assert Pattern.of("plays|played, drums, !not").fits("played the drum")
    assert not Pattern.of("plays, drums, !not").fits("does not play the drums")
    assert first_person("Alice has been planning her trip", "Alice") == "I have been planning my trip"


@pytest.mark.slow
async def test_nothing_is_lost_doubled_sent_twice_or_left_behind(tmp_path: Path) -> None:
    assert bad(await chaos(tmp_path, 1, quick=True)) == {}
