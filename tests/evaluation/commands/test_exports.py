"""The doors out of the database: what they say, and what they refuse."""

import json

import pytest

from annotations.models import Response
from tests.annotations import world
from tests.contracts.replay import facts_of
from tests.evaluation.commands.running import called as manage
from tests.evaluation.grading.results.world import finished

pytestmark = pytest.mark.django_db


def test_answers_are_written_with_the_grades_of_the_latest_run(tmp_path):
    run = finished(n_workers=3, n_questions=2)
    path = tmp_path / "answers.csv"
    done = manage("export_answers", "rivers", "--output", path, "--run", "latest")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"6 answers of rivers, version 1 written to {path}: ")
    assert str(run.public_id) in path.read_text(encoding="utf-8-sig")
    again = manage("import_answers", "rivers", path)
    assert "6 0 6 0" in [facts_of(line) for line in again.out.splitlines()]


def test_the_format_may_be_named(tmp_path):
    finished(n_workers=3, n_questions=2)
    path = tmp_path / "answers.txt"
    refused = manage("export_answers", "rivers", "--output", path)
    assert refused.code == 2
    assert refused.refusals == (f"{path.name}, ending_not_writable",)
    assert not path.exists()
    assert manage("export_answers", "rivers", "--output", path, "--format=jsonl").code == 0
    assert json.loads(path.read_text().splitlines()[0])["worker"] == "w001"


def test_questions_and_answers_of_models_have_doors_of_their_own(tmp_path):
    finished(n_workers=3, n_questions=2)
    questions, passages = tmp_path / "q.tsv", tmp_path / "p.tsv"
    done = manage("export_questions", "rivers", "--output", questions, "--passages", passages)
    assert (done.code, questions.exists(), passages.exists()) == (0, True, True)
    done = manage("export_model_answers", "rivers", "--output", tmp_path / "m.xlsx")
    assert done.out.startswith("4 model answers")


@pytest.mark.parametrize(
    ("arguments", "refusals", "named"),
    [
        (["export_answers", "rivers", "--run", "latest"], ("no_done_run",), "rivers, version 1 "),
        (["export_answers", "rivers", "--run", "x"], ("no_run",), " x:"),
        (["export_answers", "rivers", "--in-version", "9"], ("no_version",), " 9; there is: 1"),
        (["export_answers", "lakes"], ("set_unknown",), " 'lakes'; there is: rivers"),
        (["export_consensus", "rivers"], ("no_done_run",), "rivers, version 1 "),
    ],
)
def test_what_cannot_be_exported_is_refused_and_nothing_is_written(
    tmp_path, arguments, refusals, named
):
    world.version(world.user("rana"))
    refused = manage(*arguments, "--output", tmp_path / "out.csv")
    assert (refused.code, refused.refusals) == (2, refusals)
    assert named in refused.err
    assert list(tmp_path.iterdir()) == []


def test_a_text_that_no_format_holds_leaves_the_old_file_alone(tmp_path):
    draft = world.version(world.user("rana"))
    world.response(world.submission(draft))
    Response.objects.update(state="submitted", text="x" * 40_000)
    path = tmp_path / "answers.xlsx"
    path.write_bytes(b"old")
    refused = manage("export_answers", "rivers", "--output", path)
    assert refused.code == 2
    assert "40,000 characters" in refused.err
    assert path.read_bytes() == b"old"


def test_the_consensus_is_written_with_its_datasheet(tmp_path):
    finished(n_workers=3, n_questions=2)
    done = manage("export_consensus", "rivers", "--output", tmp_path / "out")
    assert done.code == 0
    assert len(done.out.splitlines()) == 2  # the second one asks for a licence
    assert (tmp_path / "out" / "datasheet.md").exists()
