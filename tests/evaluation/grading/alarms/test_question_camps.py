"""The two camps of a divided question, from its answers to the export and its page."""

import csv
import io
import json
import re

import pytest

from annotations.models import Response
from evaluation.consensus.parameters import AqerParameters
from evaluation.grading.alarms.methods.questions import clip_separation
from evaluation.grading.results.consensus_files import write_consensus_files
from evaluation.grading.results.report.consensus import build_consensus_report
from evaluation.grading.results.report.questions import build_question_report
from evaluation.models import ExemplaryAnswer
from evaluation.runs.background import runs
from evaluation.runs.background.work import work_one_turn
from evaluation.runs.result_pages import build_question_link
from tests.annotations import world
from tests.contracts.replay import facts_of
from tests.evaluation.grading.results.world import fetched

NORTH = ("north", "north hill", "north hill lake")
SOUTH = ("south", "south farm", "south farm coast", "south farm")

CAMPS_LINE = re.compile(r'<p id="question-camps".*?</p>', re.DOTALL)


@pytest.fixture
def run(db, monkeypatch):
    """Seven workers, divided on r1 and of one mind on r2; r3 has five answers."""
    monkeypatch.setattr("evaluation.runs.background.leases.wake_process", lambda: True)
    monkeypatch.setattr("evaluation.runs.background.work.wake_process", lambda: True)
    draft = world.version(world.user("rana"), n_questions=3)
    for at, text in enumerate(NORTH + SOUTH):
        submission = world.submission(draft, f"w{at}")
        world.response(submission, "r1", text)
        world.response(submission, "r2", "the same")
        if at < 5:
            world.response(submission, "r3", text)
    Response.objects.update(state="submitted")
    queued = runs.queue_run(
        draft, draft.question_set.owner_id, AqerParameters(embedder="bow", bootstrap=0)
    )
    assert work_one_turn()
    return fetched(queued)


def test_a_run_stores_the_camps_of_each_question_and_their_nearest_answers(run):
    # Cosines of counts of words: "north" to "north hill" 1/sqrt(2), to "north hill lake" 1/sqrt(3),
    # "north hill" to "north hill lake" 2/sqrt(6); the same in the south, where "south farm" is said
    # twice; none across. The lesser mean is that of the north:
    north = (2**-0.5 + 3**-0.5 + 2 * 6**-0.5) / 3
    south = (2 * 2**-0.5 + 3**-0.5 + 4 * 6**-0.5 + 1) / 6
    assert north < south
    first, second, third = ExemplaryAnswer.objects.filter(run=run).order_by("question__position")
    assert first.separation == pytest.approx((north - 0) / (1 - 0))
    assert (first.larger_camp, first.smaller_camp) == (4, 3)
    assert first.larger_nearest.text == "south farm"
    assert first.larger_nearest.submission.worker.external_id == "w4"  # the first who says it
    assert first.smaller_nearest.text == "north hill"
    assert (second.separation, second.larger_camp, second.larger_nearest) == (0, None, None)
    assert (third.n_answers, third.separation, third.larger_camp) == (5, None, None)
    assert run.summary["question_camps"] == {
        "threshold": 0.4, "fewest_answers": 6, "tested": 2, "listed": 1, "too_few": 1,
    }  # fmt: skip


def test_the_export_has_both_camps_or_says_why_there_are_none(run, tmp_path):
    write_consensus_files(build_consensus_report(run), tmp_path)
    text = (tmp_path / "consensus.csv").read_bytes().decode("utf-8-sig")
    table = list(csv.DictReader(io.StringIO(text, newline="")))
    records = [json.loads(line) for line in (tmp_path / "consensus.jsonl").read_text().splitlines()]
    assert [row["camps_reason"] for row in table] == [
        "", "undivided", "fewer_than_6_answers",
    ]  # fmt: skip
    names = ("camp_1", "camp_1_size", "camp_2", "camp_2_size")
    assert [table[0][name] for name in names] == ["south farm", "4", "north hill", "3"]
    assert [table[1][name] for name in names] == [""] * 4
    assert records[0]["camps"] == [
        {"answer": "south farm", "size": 4},
        {"answer": "north hill", "size": 3},
    ]
    assert (records[1]["camps"], records[1]["separation"], records[2]["separation"]) == (
        None, 0, None,
    )  # fmt: skip
    page = (tmp_path / "datasheet.md").read_text()
    # Divided, of those that are looked at (with so many answers); threshold; undivided; with fewer.
    assert "1 2 6 0.4 1 1" in [facts_of(line) for line in page.splitlines()]


def test_the_page_of_a_divided_question_says_what_both_camps_say(run, client):
    first, second = run.version.questions.order_by("position")[:2]
    run.owner.is_staff = True
    run.owner.save()
    client.force_login(run.owner)
    shown = client.get(build_question_link(run, first.public_id))
    (line,) = CAMPS_LINE.findall(shown.content.decode())
    camps = re.findall(r"<bdi>(.*?)</bdi>\D*(\d+)", line)
    assert camps == [("south farm", "4"), ("north hill", "3")]
    other = client.get(build_question_link(run, second.public_id))
    assert other.status_code == 200
    assert CAMPS_LINE.findall(other.content.decode()) == []


def test_an_answer_of_a_camp_that_is_withdrawn_leaves_its_size(run):
    ExemplaryAnswer.objects.get(run=run, separation__gt=0.4).smaller_nearest.delete()
    first = next(build_consensus_report(run).iterate_rows())
    assert [(camp.size, camp.answer) for camp in first.camps] == [(4, "south farm"), (3, None)]
    assert first.camps_reason == "withdrawn"
    question = run.version.questions.get(external_id="r1")
    report = build_question_report(run, question.public_id)
    assert (report.camps, report.camps_reason) == (first.camps, "withdrawn")


def test_rounding_does_not_carry_a_separation_out_of_its_range():
    assert [clip_separation(value) for value in (1 + 1e-12, 0.5, -1e-12)] == [1, 0.5, 0]
