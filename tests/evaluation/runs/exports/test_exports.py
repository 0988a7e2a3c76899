"""What an export holds, by its columns."""

import csv
import io
import json
from datetime import UTC, datetime

import pytest

from annotations.exchange import InputError, read_answers
from annotations.exchange.importing import import_answers
from annotations.models import COUNTERS, QuestionSet, Response, Worker
from evaluation.runs import exports
from evaluation.runs.exports import ChoiceError, choose_named_run, choose_named_version
from tests.annotations import world
from tests.evaluation.grading.results.world import finished, queued
from tests.problems import check_problem

pytestmark = pytest.mark.django_db


def rows_of(export, kind="csv"):
    data = b"".join(export.iterate_chunks(kind)).decode("utf-8-sig")
    if kind == "jsonl":
        return [json.loads(line) for line in data.splitlines()]
    return list(csv.DictReader(io.StringIO(data, newline="")))


def test_only_submitted_answers_are_exported_in_the_order_in_which_they_came():
    draft = world.version(world.user("rana"))
    ada = world.submission(draft)
    world.response(ada, "r2", "south").__class__.objects.update(state="submitted")
    world.response(ada, "r1", "a draft")
    (row,) = rows_of(exports.build_answers_export(draft))
    assert (row["worker"], row["question"], row["answer"], row["status"]) == (
        *("ada", "r2", "south", "text"),
    )
    assert list(row)[-13:-11] == ["crowdgrade:answers", "first_draft_at"]
    assert list(row)[-11:] == ["signals", *COUNTERS, "language", "crowdgrade:defused"]
    assert "run_id" not in row


def test_grades_of_a_run_stand_beside_and_are_read_over_by_an_import(tmp_path):
    run = finished(n_workers=4, n_questions=2)
    export = exports.build_answers_export(run.version, run)
    rows = rows_of(export, "jsonl")
    assert len(rows) == export.n_rows == 8
    first, last = rows[0], rows[-1]
    assert first["run_id"] == str(run.public_id)
    assert (first["run_score"], first["run_worker_rank"]) == (0.9, 1)
    assert (first["run_worker_support"], last["run_worker_support"]) == ("ok", "too_few")
    assert last["run_worker_rank"] is None
    lakes = QuestionSet.objects.create(owner=run.owner, name="lakes")
    path = tmp_path / "answers.csv"
    export.write_file(path, "csv")
    report = import_answers(lakes, path, create_questions=True)
    assert any("read over" in note for note in report.notes)
    copy = lakes.latest_version()
    assert rows_of(exports.build_answers_export(copy)) == rows_of(
        exports.build_answers_export(run.version)
    )
    assert not Response.objects.filter(question__version=copy).exclude(extra={}).exists()


def test_times_flags_and_cells_kept_aside_are_written_as_they_are():
    draft = world.version(world.user("rana"))
    when = datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC)
    answer = world.response(world.submission(draft))
    fields = {"started_at": when, "submitted_at": when, "work_seconds": 61.5, "rejected": True}
    extra = {"b": "=1", "a": "é"}
    Response.objects.filter(pk=answer.pk).update(state="submitted", extra=extra, **fields)
    (row,) = rows_of(exports.build_answers_export(draft))
    assert row["started_at"] == row["submitted_at"] == "2026-01-02T03:04:05.000006+00:00"
    assert (row["work_seconds"], row["rejected"]) == ("61.5", "yes")
    assert row["extra"] == '{"a": "é", "b": "=1"}'


def test_pseudonyms_are_the_same_in_a_set_and_others_in_another(tmp_path):
    owner = world.user("rana")
    first, second = world.version(owner), world.version(owner, "lakes")
    for version in (first, second):
        for worker, panel in (("ada", ""), ("ada", "Prolific"), ("ben", "")):
            world.response(world.submission(version, worker, panel))
    Response.objects.update(state="submitted", extra={"Prolific ID": "ada"})

    def names(version, **options):
        return [row["worker"] for row in rows_of(exports.build_answers_export(version, **options))]

    hidden = names(first, pseudonyms=True)
    assert len(set(hidden)) == 3
    assert all(len(name) == 18 and name.startswith("w-") for name in hidden)
    assert names(first, pseudonyms=True) == hidden
    assert set(names(second, pseudonyms=True)).isdisjoint(hidden)
    text = b"".join(
        exports.build_answers_export(first, pseudonyms=True).iterate_chunks("csv")
    ).decode()
    assert "ada" not in text
    assert names(first) == ["ada", "ada", "ben"]
    # Files know no panels: two people under one id are refused, under pseudonyms they are two.
    exports.build_answers_export(first).write_file(tmp_path / "a.csv", "csv")
    with pytest.raises(InputError) as caught:
        read_answers(tmp_path / "a.csv")
    (problem,) = caught.value.problems
    assert problem.column == "panel"
    assert "ada" in problem.reason
    exports.build_answers_export(first, pseudonyms=True).write_file(tmp_path / "b.csv", "csv")
    assert [r.worker for r in read_answers(tmp_path / "b.csv").records] == hidden


def test_what_is_exported_is_what_one_may_see():
    run = finished(n_workers=3, n_questions=2)
    otto = world.user("otto", is_staff=True)
    for export in (
        exports.build_answers_export,
        exports.build_model_answers_export,
        exports.build_questions_export,
        exports.build_passages_export,
    ):
        assert list(export(run.version, user=otto).rows()) == []
        assert export(run.version, user=run.owner).n_rows == export(run.version).n_rows


def test_the_run_is_the_latest_that_is_done_or_the_one_that_is_named():
    run = finished()
    version = run.version
    assert choose_named_run(version, "latest") == run
    assert choose_named_run(version, str(run.public_id)) == run
    with pytest.raises(ChoiceError) as caught:
        choose_named_run(version, "nonsense")
    assert (caught.value.code, caught.value.values["wanted"]) == ("no_run", "nonsense")
    other = queued(world.user("otto"))
    with pytest.raises(ChoiceError) as caught:
        choose_named_run(version, str(other.public_id))
    assert caught.value.code == "no_run"
    with pytest.raises(ChoiceError) as caught:
        choose_named_run(other.version, "latest")
    assert caught.value.code == "no_done_run"
    with pytest.raises(ChoiceError) as caught:
        choose_named_run(other.version, str(other.public_id))
    assert caught.value.code == "run_without_results"
    with pytest.raises(ChoiceError) as caught:
        choose_named_version(version.question_set, 7)
    assert caught.value.code == "no_version"
    assert (caught.value.values["number"], caught.value.values["known"]) == (7, "1")


def export_of(tmp_path, *cells):
    """One row of an export, its further cells changed."""
    path = tmp_path / "e.jsonl"
    row = {"worker": "ada", "question": "r1", "answer": "north", "crowdgrade:answers": 1}
    path.write_text(json.dumps(row | dict(cells)) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("column", "cell"),
    [
        ("rejected", "perhaps"),
        ("started_at", "yesterday"),
        ("submitted_at", "2026-01-01T00:00:00"),  # without a zone
        ("work_seconds", "-1"),
        ("session_state", "lost"),
        ("status", "empty"),
        ("extra", "[1]"),
    ],
)
def test_a_cell_of_an_export_that_cannot_be_read_is_told_with_its_place(tmp_path, column, cell):
    with pytest.raises(InputError) as caught:
        read_answers(export_of(tmp_path, (column, cell)))
    (problem,) = caught.value.problems
    assert (problem.line, problem.column) == (1, column)


def test_in_an_ordinary_file_such_columns_are_kept_aside(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("worker,question,answer,status,rejected\nada,r1,x,APPROVED,no\n")
    file = read_answers(path)
    assert file.get_extra_cells(file.records[0]) == {"status": "APPROVED", "rejected": "no"}
    assert file.records[0].facts is None


@pytest.mark.parametrize(
    ("column", "stored", "other"),
    [
        ("started_at", "2026-01-01T10:00:00Z", "2026-01-01T10:00:01Z"),
        ("submitted_at", "2026-01-01T11:00:00Z", "2026-01-02T11:00:00Z"),
        ("work_seconds", "12.5", "13"),
    ],
)
def test_another_time_contradicts_what_is_stored_and_none_does_not(tmp_path, column, stored, other):
    rivers = world.version(world.user("rana")).question_set
    import_answers(rivers, export_of(tmp_path, (column, stored)))
    before = Response.objects.values().get()
    with pytest.raises(InputError) as caught:
        import_answers(rivers, export_of(tmp_path, (column, other)))
    (problem,) = caught.value.problems
    check_problem(problem, "stored_answer_differs", line=1, what="time")
    for silent in ((column, stored), (column, "")):
        assert import_answers(rivers, export_of(tmp_path, silent)).n_unchanged == 1
    assert Response.objects.values().get() == before
    # Where nothing is stored, a time is as much something else.
    Response.objects.update(**{column: None})
    with pytest.raises(InputError) as caught:
        import_answers(rivers, export_of(tmp_path, (column, stored)))
    assert [one.code for one in caught.value.problems] == ["stored_answer_differs"]


def test_another_flag_is_refused_unless_flags_are_to_be_updated(tmp_path):
    draft = world.version(world.user("rana"))
    world.response(world.submission(draft))
    Response.objects.update(state="submitted")
    path = export_of(tmp_path, ("rejected", "yes"))
    with pytest.raises(InputError) as caught:
        import_answers(draft.question_set, path)
    (problem,) = caught.value.problems
    check_problem(problem, "stored_flag_differs", line=1)
    assert "--update-flags" in str(caught.value)
    report = import_answers(draft.question_set, path, update_flags=True)
    assert (report.n_unchanged, report.n_reflagged, report.changed) == (1, 1, True)
    assert Response.objects.get().rejected
    assert not import_answers(draft.question_set, path, update_flags=True).changed
    assert Worker.objects.count() == 1
