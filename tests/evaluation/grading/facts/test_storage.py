"""Facts as a run stores them: as the files have them, once, and gone with what they are of."""

import csv
import re
from collections import Counter
from datetime import timedelta

import numpy as np
import pytest
from django.core.management import call_command
from django.utils import timezone

from annotations.exchange import ColumnNames, OutputFolder
from annotations.models import Response, Worker
from evaluation.consensus.parameters import AqerParameters
from evaluation.core.backends.cross_encoder import ContradictionModel
from evaluation.deletion.storage import erasing
from evaluation.deletion.storage.record import find_run_dependents, list_rows_of_run
from evaluation.grading.facts.report import read_facts_of_answers, read_question_facts
from evaluation.grading.facts.run.reading import WORKER
from evaluation.grading.files.grading import GradingRequest
from evaluation.grading.files.grading import grade_files as graded_file
from evaluation.grading.files.tables import write_tables
from evaluation.grading.results.report.tables import build_answer_facts_table, build_facts_table
from evaluation.grading.storage import running as grading
from evaluation.models import AnswerFact, CrowdFact, Run
from evaluation.runs.background import runs
from evaluation.runs.background.work import work_one_turn
from tests.evaluation import fact_world

pytestmark = pytest.mark.django_db
YEAR = re.compile(r"\d{4}")
PARAMETERS = {"embedder": "tfidf-char", "bootstrap": 0}


@pytest.fixture
def asked(tmp_path, django_user_model):
    return fact_world.asked(django_user_model.objects.create(username="rana"), tmp_path)


def stored(run):
    return [
        list(map(tuple, make(run).rows)) for make in (build_facts_table, build_answer_facts_table)
    ]


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
        found = made.get_agreement(WORKER, grade.worker.external_id)
        kept = (grade.facts, grade.fact_agreement, grade.fact_agreement_low)
        assert kept == (found.facts, found.agreement, found.low)
    spans = {fact.key: fact.spans for fact in made.answers if fact.kind == WORKER}
    kept = run.answer_facts.filter(response__isnull=False).order_by("place")
    assert [row.spans for row in kept] == [
        [list(span) for span in spans] for spans in spans.values()
    ]


def test_a_worker_that_ends_after_the_facts_leaves_nothing_twice(asked, monkeypatch):
    undisturbed = fact_world.graded(asked)
    run = runs.queue_run(asked.latest_version(), asked.owner_id, AqerParameters(**PARAMETERS))
    seen = []

    def dies(turn, found, maps):
        seen.append((Run.objects.get(pk=run.pk).stage, len(found.facts.answers)))
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(grading, "save_results", dies)
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
    by_worker = with_facts.worker_grades.order_by("worker_id").values_list(*numbers)
    assert list(by_worker) == list(
        without.worker_grades.order_by("worker_id").values_list(*numbers)
    )
    assert set(without.worker_grades.values_list("facts", "fact_questions")) == {(None, None)}


def test_what_hangs_on_a_run_counts_its_facts_and_they_go_with_it(asked):
    run = fact_world.graded(asked)
    counts = find_run_dependents(run).counts
    names = {rows.model: name for name, rows in list_rows_of_run([run.pk])}
    assert (counts[names[AnswerFact]], counts[names[CrowdFact]]) == (24, 4)
    run.delete()
    assert not AnswerFact.objects.exists()
    assert not CrowdFact.objects.exists()


def test_who_is_erased_takes_along_a_value_that_nobody_else_states(asked):
    run = fact_world.graded(asked)
    # Model Small says 1857 as well; let Joe be the only one.
    AnswerFact.objects.filter(llm_response__isnull=False).delete()
    joe = Worker.objects.get(external_id="joe")
    removal = erasing.request_erasure(joe, asked.owner_id)
    for _ in range(40):
        if erasing.erase_batch(removal).name == "ALL":
            break
        removal.refresh_from_db()
    assert not Response.objects.filter(submission__worker=joe).exists()
    assert not AnswerFact.objects.filter(run=run, value="1857").exists()
    values = CrowdFact.objects.filter(run=run).order_by("place").values_list("value", flat=True)
    assert list(values) == ["1858", "1865", "1866"]


class Script:
    """An entailment model that finds that two texts contradict each other if their years differ."""

    name, revision = "script", "1"

    def compute_contradictions(self, pairs, progress=None):
        years = [tuple(YEAR.findall(text) for text in pair) for pair in pairs]
        apart = np.array([float(one != other) for one, other in years])
        return apart, 1.0 - apart


@pytest.fixture
def by_meaning(asked, monkeypatch, settings):
    settings.OFFERED_MODELS = frozenset({"script"})
    monkeypatch.setattr(ContradictionModel, "load", lambda name: Script())
    return fact_world.graded(asked, nli="script")


def test_what_an_entailment_model_says_is_stored_and_told_of_the_answer(by_meaning):
    rows = AnswerFact.objects.filter(run=by_meaning, slot="meaning")
    # On the first question one of ten and a model say another year; on the second 3 of ten do,
    # and 2 others, of 9, are fewer than a quarter.
    said = Counter(rows.values_list("question__external_id", "verdict"))
    assert said == {
        ("cable", "agrees"): 10, ("cable", "contradicts"): 2,
        ("ship", "agrees"): 9, ("ship", "contradicts"): 3, ("why", "agrees"): 10,
    }  # fmt: skip
    assert by_meaning.summary["facts"]["meaning"]["contradicts"] == 5
    # The counts of facts read are those of a run without the model.
    assert by_meaning.summary["facts"]["agreed"] == 1
    joe = rows.get(response__submission__worker__external_id="joe", question__external_id="cable")
    (told,) = [
        one.said
        for one in read_facts_of_answers(by_meaning, [joe.response_id])[0][joe.response_id]
        if one.slot == "meaning"
    ]
    claim = fact_world.said("cable", "1858")
    assert told.code == "meaning.contradicts"
    expected = {"crowd": claim, "value": "1.000", "n_crowd": 9, "of": 9}
    assert told.values.items() >= expected.items()
    # Neither the page of the question nor the export of what people agree on has the claim.
    exemplar = by_meaning.exemplary_answers.get(question__external_id="cable")
    assert [fact.value for fact in read_question_facts(by_meaning, exemplar).agreed] == ["1858"]


def test_a_claim_goes_with_the_person_whose_text_it_is(by_meaning):
    claim = CrowdFact.objects.get(run=by_meaning, slot="meaning", question__external_id="cable")
    CrowdFact.objects.filter(pk=claim.pk).update(value="only Joe wrote this sentence")
    AnswerFact.objects.filter(run=by_meaning, slot="meaning").update(
        crowd="only Joe wrote this sentence"
    )
    joe = Worker.objects.get(external_id="joe")
    answer = Response.objects.filter(submission__worker=joe).first()
    Response.objects.filter(pk=answer.pk).update(text="only Joe wrote this sentence")
    removal = erasing.request_erasure(joe, by_meaning.version.question_set.owner_id)
    for _ in range(60):
        if erasing.erase_batch(removal).name == "ALL":
            break
        removal.refresh_from_db()
    claim.refresh_from_db()
    assert claim.value == "(erased)"
    rows = AnswerFact.objects.filter(run=by_meaning, slot="meaning")
    assert set(rows.values_list("crowd", flat=True)) == {"(erased)"}
