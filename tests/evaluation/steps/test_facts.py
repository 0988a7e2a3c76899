"""Facts as a run stores them: as the files have them, once, and gone with what they are of."""

import csv
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.utils import timezone

from annotations.exchange import ColumnNames, OutputFolder
from annotations.models import Response, Worker
from evaluation.background import erasing, runs
from evaluation.background.work import work_one_turn
from evaluation.files.grading import GradingRequest
from evaluation.files.grading import graded as graded_file
from evaluation.files.tables import write_tables
from evaluation.flow.facts.records import WORKER
from evaluation.flow.parameters import AqerParameters
from evaluation.models import AnswerFact, CrowdFact, Run
from evaluation.reports.removal import hanging_on_run
from evaluation.reports.tables import answer_facts_table, facts_table
from evaluation.steps import grading
from tests.evaluation import fact_world

pytestmark = pytest.mark.django_db
PARAMETERS = {"embedder": "tfidf-char", "bootstrap": 0}


@pytest.fixture
def asked(tmp_path, django_user_model):
    return fact_world.asked(django_user_model.objects.create(username="rana"), tmp_path)


def stored(run):
    return [list(map(tuple, make(run).rows)) for make in (facts_table, answer_facts_table)]


def rows_of(path):
    with path.open(newline="") as file:
        return [tuple(row) for row in list(csv.reader(file))[1:]]


def test_a_run_stores_row_by_row_what_the_files_of_its_own_export_have(asked, tmp_path):
    run = fact_world.graded(asked)
    answers, models = tmp_path / "answers.csv", tmp_path / "models.csv"
    name = str(asked.public_id)
    call_command("export_answers", name, f"--output={answers}", verbosity=0)
    call_command("export_model_answers", name, f"--output={models}", verbosity=0)
    request = GradingRequest(
        answers, models, ColumnNames(), AqerParameters(**PARAMETERS), tmp_path / "out"
    )
    made = graded_file(request).grading.facts
    crowd = [(f.question, f.slot, f.value, f.mentions, f.of, f.state.value) for f in made.crowd]
    said = [
        (f.kind, f.name, f.question, f.slot, f.value, f.verdict.value, f.of) for f in made.answers
    ]
    with OutputFolder(tmp_path / "out") as folder:
        write_tables(folder, graded_file(request))
    assert [rows_of(tmp_path / "out" / name) for name in ("facts.csv", "answer_facts.csv")] == [
        [tuple(map(str, row)) for row in table] for table in (crowd, said)
    ]
    # Two values on each of two questions; ten people and two models on each.
    assert (len(crowd), len(said)) == (4, 24)
    assert stored(run) == [crowd, said]
    for grade in run.worker_grades.select_related("worker"):
        found = made.agreement(WORKER, grade.worker.external_id)
        kept = (grade.facts, grade.fact_agreement, grade.fact_agreement_low)
        assert kept == (found.facts, found.agreement, found.low)
    spans = {fact.key: fact.spans for fact in made.answers if fact.kind == WORKER}
    kept = run.answer_facts.filter(response__isnull=False).order_by("place")
    assert [row.spans for row in kept] == [
        [list(span) for span in spans] for spans in spans.values()
    ]


def test_a_worker_that_ends_after_the_facts_leaves_nothing_twice(asked, monkeypatch):
    undisturbed = fact_world.graded(asked)
    run = runs.queue(asked.latest_version(), asked.owner_id, AqerParameters(**PARAMETERS))
    seen = []

    def dies(turn, found, maps):
        seen.append((Run.objects.get(pk=run.pk).stage, len(found.facts.answers)))
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(grading, "save", dies)
        with pytest.raises(KeyboardInterrupt):
            work_one_turn()
    assert seen == [("facts", 24)]
    assert not AnswerFact.objects.filter(run=run).exists()
    Run.objects.filter(pk=run.pk, state="running").update(
        lease_until=timezone.now() - timedelta(seconds=1)
    )
    assert work_one_turn()
    run.refresh_from_db()
    assert run.state == Run.State.DONE
    assert stored(run) == stored(undisturbed)
    assert run.summary["facts"] == undisturbed.summary["facts"]
    # And once more from the beginning, over what is there.
    Run.objects.filter(pk=run.pk).update(state=Run.State.QUEUED, finished_at=None)
    assert work_one_turn()
    assert stored(run) == stored(undisturbed)


def test_the_option_switches_it_off_and_no_grade_is_another_one(asked):
    with_facts, without = fact_world.graded(asked), fact_world.graded(asked, facts=False)
    assert stored(without) == [[], []]
    assert with_facts.summary["facts"]["spoken"] == 2
    assert without.summary["facts"] is None
    assert set(without.exemplary_answers.values_list("facts", flat=True)) == {""}
    numbers = ("worker_id", "grade", "raw", "weight", "rank")
    assert list(with_facts.worker_grades.values_list(*numbers)) == list(
        without.worker_grades.values_list(*numbers)
    )
    assert set(without.worker_grades.values_list("facts", "fact_questions")) == {(None, None)}


def test_what_hangs_on_a_run_counts_its_facts_and_they_go_with_it(asked):
    run = fact_world.graded(asked)
    counts = hanging_on_run(run).counts
    assert (counts["facts of answers"], counts["facts of the crowd"]) == (24, 4)
    run.delete()
    assert not AnswerFact.objects.exists()
    assert not CrowdFact.objects.exists()


def test_who_is_erased_takes_along_a_value_that_nobody_else_states(asked):
    run = fact_world.graded(asked)
    # Model Small says 1857 as well; let Joe be the only one.
    AnswerFact.objects.filter(llm_response__isnull=False).delete()
    joe = Worker.objects.get(external_id="joe")
    removal = erasing.erase(joe, asked.owner_id)
    for _ in range(40):
        if erasing.step(removal).name == "ALL":
            break
        removal.refresh_from_db()
    assert not Response.objects.filter(submission__worker=joe).exists()
    assert not AnswerFact.objects.filter(run=run, value="1857").exists()
    values = CrowdFact.objects.filter(run=run).order_by("place").values_list("value", flat=True)
    assert list(values) == ["1858", "1865", "1866"]
