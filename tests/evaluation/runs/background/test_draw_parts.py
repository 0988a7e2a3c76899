"""A bootstrap that takes longer than a turn goes on in the next one, and nothing changes by it."""

import pytest
from django.contrib.auth.models import User

from annotations.models import Question, QuestionSet, Response, Submission, Worker
from evaluation.consensus.methods import resampling
from evaluation.grading.storage import draws
from evaluation.models import DrawPart, Run, WorkerGrade
from evaluation.runs.background.work import work_one_turn

pytestmark = pytest.mark.django_db

WORDS = ["red", "green", "blue", "black", "white", "brown", "grey", "pink", "gold", "teal"]
COLUMNS = ("worker_id", "raw", "raw_low", "raw_high", "rank", "rank_low", "rank_high")


@pytest.fixture(autouse=True)
def short_turns(monkeypatch):
    monkeypatch.setattr("evaluation.runs.background.work.wake_process", lambda: True)
    # 5 workers and 8 questions, so 40 cells: ten draws at once, two chunks of a run of 20.
    monkeypatch.setattr(resampling, "AT_ONCE", 400)


@pytest.fixture
def version():
    owner = User.objects.create(username="rita")
    version = QuestionSet.objects.create(owner=owner, name="colours").draft()
    questions = [
        Question.objects.create(version=version, external_id=f"q{j}", text="?", position=j)
        for j in range(8)
    ]
    for i in range(5):
        worker = Worker.objects.create(owner=owner, external_id=f"w{i}")
        submission = Submission.objects.create(
            version=version, worker=worker, state="submitted", source="imported"
        )
        for j, question in enumerate(questions):
            # The higher i, the more often a worker says something of its own.
            own = WORDS[i] if (i * 3 + j) % 6 < i else "the same"
            Response.objects.create(
                submission=submission,
                question=question,
                text=f"{own} {WORDS[j]}",
                state="submitted",
                status="text",
            )
    return version


def queue(version):
    parameters = {"embedder": "tfidf-word", "bootstrap": 20, "leave_one_out": True}
    return Run.objects.create(
        owner=version.question_set.owner, version=version, parameters=parameters
    )


def grades(run):
    return list(WorkerGrade.objects.filter(run=run).order_by("worker").values_list(*COLUMNS))


def test_a_run_in_three_turns_has_the_numbers_of_a_run_in_one(version):
    whole, parted = queue(version), queue(version)
    assert work_one_turn()
    seen = []
    for _ in range(3):
        assert work_one_turn(seconds=0)
        parted.refresh_from_db()
        seen.append((parted.state, DrawPart.objects.filter(run=parted).count()))
    # A turn whose time is up computes one chunk and puts it aside; the third has nothing to draw.
    assert seen == [("queued", 1), ("queued", 2), ("done", 0)]
    assert parted.crashes == 0
    assert grades(parted) == grades(whole)
    assert None not in grades(whole)[0]


def test_draws_of_other_answers_are_thrown_away(version):
    run = queue(version)
    work_one_turn(seconds=0)
    before = DrawPart.objects.get(run=run).input_hash
    Response.objects.filter(pk=Response.objects.first().pk).update(text="something else")
    work_one_turn(seconds=0)
    after = DrawPart.objects.get(run=run)
    assert (after.first, after.n_draws) == (0, 10)
    assert after.input_hash != before


@pytest.mark.medium
def test_a_part_is_split_where_the_database_would_not_take_it_whole(version, monkeypatch):
    monkeypatch.setattr(draws, "LARGEST", 5 * 8 * 4)  # four draws of five workers
    run = queue(version)
    work_one_turn(seconds=0)
    parts = DrawPart.objects.filter(run=run).values_list("first", "n_draws")
    assert list(parts) == [(0, 4), (4, 4), (8, 2)]
    while work_one_turn(seconds=0):
        pass
    whole = queue(version)
    work_one_turn()
    assert grades(run) == grades(whole)


@pytest.mark.parametrize("lost", [0, 4, 8])
def test_after_a_part_that_is_lost_the_draws_are_made_again(version, monkeypatch, lost):
    whole = queue(version)
    work_one_turn()
    monkeypatch.setattr(draws, "LARGEST", 5 * 8 * 4)  # parts of 4, 4 and 2 draws
    run = queue(version)
    work_one_turn(seconds=0)
    assert DrawPart.objects.filter(run=run, first=lost).delete()[0] == 1
    while work_one_turn(seconds=0):
        pass
    assert grades(run) == grades(whole)
