"""A file that was read is kept and opened again, and comes in as if it had just been read."""

import csv
from datetime import UTC, datetime

import pytest

from annotations.exchange.importing import import_answers
from annotations.exchange.importing.answers import stage_answers, store_staged_answers
from annotations.exchange.importing.mturk import StagedBatch, stage_batch, store_batch
from annotations.exchange.importing.stage import Stage
from annotations.exchange.records import AnswerFacts
from annotations.models import Question, Response, Submission, Worker
from tests.annotations import world
from tests.annotations.exchange.importing.test_mturk import THREE, batch
from tests.problems import raises_problem

pytestmark = pytest.mark.django_db

# An export of ours: two panels, flags, times and two sessions, of which Ada's is told in two rows.
EXPORT = [
    {
        "worker": "ada", "question": "r1", "answer": "north", "panel": "prolific",
        "rejected": "true", "started_at": "2026-01-02T03:04:05+00:00",
        "submitted_at": "2026-01-02T03:05:05+00:00", "work_seconds": "61.5",
        "session_state": "submitted", "session_started_at": "2026-01-02T03:00:00+00:00",
        "session_last_seen_at": "2026-01-02T03:06:00+00:00",
        "session_submitted_at": "2026-01-02T03:07:00+00:00", "mood": "glad", "language": "pt-BR",
    },
    {
        "worker": "ada", "question": "r2", "answer": "", "panel": "prolific",
        "session_state": "returned", "session_started_at": "2026-01-02T02:00:00+00:00",
        "session_last_seen_at": "2026-01-02T03:30:00+00:00",
        "session_submitted_at": "2026-01-02T03:40:00+00:00",
    },
    {"worker": "ben", "question": "r1", "answer": " South ", "mood": "tired"},
    {"worker": "ben", "question": "r1", "answer": " South ", "mood": "tired"},
]  # fmt: skip


def export(folder):
    path = folder / "export.csv"
    names = [*EXPORT[0], "crowdgrade:answers"]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        writer.writerows({**row, "crowdgrade:answers": "1"} for row in EXPORT)
    return path


@pytest.fixture
def rivers():
    return world.version(world.user("rana")).question_set


def rows():
    """All that an import of answers stores, without keys and the time of storing."""
    answers = Response.objects.order_by("pk").values_list(
        *("submission__worker__panel", "submission__worker__external_id"),
        *("question__external_id", "text", "status", "state", "rejected", "started_at"),
        *("submitted_at", "work_seconds", "extra", "revision"),
    )
    sessions = Submission.objects.order_by("pk").values_list(
        *("worker__panel", "worker__external_id", "state", "source"),
        *("started_at", "last_seen_at", "submitted_at"),
    )
    questions = Question.objects.order_by("pk").values_list("external_id", "text", "metadata")
    return list(answers), list(sessions), list(questions)


def at(hour, minute, second=0):
    return datetime(2026, 1, 2, hour, minute, second, tzinfo=UTC)


def test_times_flags_panels_and_sessions_of_an_export_are_stored(rivers, tmp_path):
    report = import_answers(rivers, export(tmp_path))
    answers, sessions, _ = rows()
    assert answers == [
        (
            "prolific", "ada", "r1", "north", "text", "submitted", True, at(3, 4, 5), at(3, 5, 5),
            61.5, {"mood": "glad"}, 1,
        ),
        ("prolific", "ada", "r2", "", "empty", "submitted", False, None, None, None,
         {"mood": ""}, 1),
        ("", "ben", "r1", " South ", "text", "submitted", False, None, None, None,
         {"mood": "tired"}, 1),
    ]  # fmt: skip
    languages = Response.objects.order_by("pk").values_list("language", flat=True)
    assert list(languages) == ["pt-BR", "", ""]
    # The first state that is told, the earliest start, the latest sign of life and end.
    assert sessions == [
        ("prolific", "ada", "submitted", "imported", at(2, 0), at(3, 30), at(3, 40)),
        ("", "ben", "submitted", "imported", None, None, None),
    ]
    assert (report.n_rows, report.n_new, report.n_repeated) == (4, 3, 1)
    assert (report.n_empty, report.n_rejected, report.kept_aside) == (1, 1, ("mood",))


def test_a_stage_that_was_kept_is_the_one_that_was_read(rivers, tmp_path):
    with stage_answers(export(tmp_path), panel="own") as read:
        read.save(tmp_path / "kept.sqlite")
        with Stage.load(tmp_path / "kept.sqlite") as opened:
            assert opened.file == read.file
            assert opened.workers == read.workers
            assert opened.questions == read.questions
            assert opened.n_repeated == read.n_repeated == 1
            assert list(opened.iterate_new_answers()) == list(read.iterate_new_answers())
            for number, name in enumerate(["r1", "r2"]):
                assert (
                    opened.find_question_position(name)
                    == read.find_question_position(name)
                    == number
                )
            assert opened.find_question_position("r3") is None
            for found in (opened, read):
                assert found.find_answer(0, 0).text == "north"
                assert found.find_answer(1, 1) is None
    assert [(w.panel, w.name, w.line) for w in read.workers] == [
        ("prolific", "ada", 2), ("own", "ben", 4),
    ]  # fmt: skip
    assert (read.file.name, read.file.n_rows, read.file.kept_aside) == ("export.csv", 4, ["mood"])


def test_a_stage_can_be_kept_twice_and_goes_on_after_it(tmp_path):
    with stage_answers(export(tmp_path)) as stage:
        stage.save(tmp_path / "one.sqlite")
        stage.mark_as_stored([0])
        stage.save(tmp_path / "two.sqlite")
        assert stage.count_answers("is_new") == 2
    for name, n_new in (("one", 3), ("two", 2)):
        with Stage.load(tmp_path / f"{name}.sqlite") as opened:
            assert (opened.count_answers(), opened.count_answers("is_new")) == (3, n_new)
            opened.mark_all_as_new()
            assert opened.count_answers("is_new") == 3


def test_an_opened_stage_comes_in_as_the_file_does(rivers, tmp_path):
    path = export(tmp_path)
    with stage_answers(path) as stage:
        stage.save(tmp_path / "kept.sqlite")
    with Stage.load(tmp_path / "kept.sqlite") as opened:
        dry = store_staged_answers(rivers, opened, dry_run=True)
        assert rows()[0] == []
        report = store_staged_answers(rivers, opened)
        again = store_staged_answers(rivers, opened)
    through = rows()
    assert dry.as_dict() == {**report.as_dict(), "dry_run": True}
    assert (again.n_new, again.n_unchanged, again.changed) == (0, 3, False)
    Submission.objects.all().delete()
    Worker.objects.all().delete()
    direct = import_answers(rivers, path)
    assert rows() == through
    # The version is published by the first import only.
    assert {**report.as_dict(), "notes": report.notes[1:]} == direct.as_dict()


def test_an_opened_batch_comes_in_as_the_file_does(tmp_path):
    lakes = world.version(world.user("rana"), "lakes", n_questions=0).question_set
    path = batch(tmp_path, *THREE)
    with stage_batch(path, question_template="${Answer} of: $sentence") as stage:
        stage.save(tmp_path / "kept.sqlite")
        with StagedBatch.load(tmp_path / "kept.sqlite") as opened:
            assert opened.asked == stage.asked
            assert (opened.panel, opened.header) == (stage.panel, stage.header)
            assert list(opened.iterate_new_answers()) == list(stage.iterate_new_answers())
            report = store_batch(lakes, opened)
    assert (report.n_new, report.created["questions"], report.dry_run) == (6, 4, False)
    answers, sessions, questions = rows()
    assert questions[0] == (
        "3XA:translation", "translation of: Guten Tag",
        {"Input.sentence": "Guten Tag", "Input.tone of voice": "formal"},
    )  # fmt: skip
    assert answers[0][:4] == ("MTurk", "W1", "3XA:translation", "Good day")
    assert sessions[0][4] == datetime(2023, 11, 15, 17, 11, 32, tzinfo=UTC)


def test_a_flag_in_one_of_two_equal_rows_only_is_a_contradiction(tmp_path):
    path = tmp_path / "export.csv"
    path.write_text(
        "worker,question,answer,rejected,crowdgrade:answers\n"
        "ada,r1,north,true,1\nada,r1,north,false,1\nben,r1,up,true,1\nben,r1,up,true,1\n",
        "utf-8",
    )
    with raises_problem("rejection_differs", line=3, name="ada", question="r1", first_line=2):
        stage_answers(path)


@pytest.mark.parametrize("first", [0, 1])
def test_the_way_of_a_worker_is_told_whatever_the_order_of_the_rows(first):
    from annotations.exchange.importing.stage import StagedWorker

    facts = [
        AnswerFacts(
            session_state="submitted", session_started_at=at(3, 0), session_last_seen_at=at(3, 6)
        ),
        AnswerFacts(session_started_at=at(2, 0), session_submitted_at=at(3, 40)),
    ]
    worker = StagedWorker("", "ada", 2)
    for one in (facts[first], facts[1 - first], AnswerFacts()):
        worker.add_session_facts(one)
    assert worker.state == "submitted"
    times = (worker.started_at, worker.last_seen_at, worker.submitted_at)
    assert times == (at(2, 0), at(3, 6), at(3, 40))
    assert StagedWorker.from_list(worker.to_list()) == worker
    empty = StagedWorker("p", "ben", 3)
    assert StagedWorker.from_list(empty.to_list()) == empty
