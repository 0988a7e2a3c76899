"""The summary of a run holds, on paper, what its pages hold."""

import re

import pytest

from annotations.models import QuestionSet, Response, Worker
from evaluation.flow.parameters import REMEDIES, AqerParameters
from evaluation.models import LLMScore, Run
from evaluation.reports.remedies import NAMES
from evaluation.reports.summary import LIMITS, summary_report
from tests.evaluation.reports import world
from tests.evaluation.site.test_pages import HOSTILE, body, page

pytestmark = pytest.mark.django_db


def test_the_summary_holds_method_signature_tables_warnings_and_limits(site, rana):
    run = world.finished(owner=rana)
    Run.objects.filter(pk=run.pk).update(warnings=["Beware of <floods>"])
    text = body(site.get(page("results-summary", run)))
    assert run.signature in text
    assert "Most iterations" in text  # a setting the run did not name
    assert "Beware of &lt;floods&gt;" in text
    assert "AQER (Yahav" in text
    for name in ("w001", "w004", "r6", "model 1"):
        assert name in text
    assert len(re.findall("<svg", text)) == 8
    assert text.count("<li>") >= len(LIMITS)


def test_the_method_is_told_with_the_parameters_of_the_run(rana):
    run = world.finished(owner=rana)
    words = " ".join(summary_report(run).method)
    assert "all-MiniLM-L6-v2 (float32)" in words
    assert "after 3 iterations they settled" in words
    assert "Nothing beyond the published method" in words
    assert "400 bootstrap draws of questions (seed 0)" in words
    run.parameters = {
        "similarity": "euclidean",
        "leave_one_out": True,
        "bootstrap": 0,
        "init": "random",
        "seed": 7,
    }
    words = " ".join(summary_report(run).method)
    assert "negative Euclidean distance" in words
    assert "answers compared with the others' exemplary answer" in words
    assert "Bootstrap intervals were switched off" in words
    assert "at random (seed 7)" in words


def test_a_run_with_remedies_is_not_called_the_published_method(rana):
    run = world.finished(owner=rana)
    run.parameters = {"collapse_copies": True, "weight_cap": 0.1, "unit_length": True}
    words = " ".join(summary_report(run).method)
    assert "Nothing beyond" not in words
    assert (
        "Beyond the published method: copies collapsed, votes capped, vectors of unit length."
        in words
    )
    options = AqerParameters.options().values()
    gathered = {one.name for one in options if one.group == REMEDIES and one.gathered}
    assert gathered == set(NAMES)  # a new remedy has words here


def test_what_paper_leaves_out_is_told(site, rana):
    run = world.finished(n_workers=230, n_questions=1, n_models=0, owner=rana)
    report = summary_report(run)
    assert (len(report.workers), report.workers_left_out, report.questions_left_out) == (200, 30, 0)
    text = body(site.get(page("results-summary", run)))
    assert "30 more are in the CSV file" in text
    assert "No language model was in this run" in text


def test_texts_stay_texts(site, rana):
    run = world.finished(owner=rana)
    Response.objects.update(text=HOSTILE)
    Worker.objects.filter(external_id="w001").update(external_id=HOSTILE)
    QuestionSet.objects.update(name=HOSTILE, notice=HOSTILE)
    LLMScore.objects.filter(run=run).update(reason="missing_answers")
    text = body(site.get(page("results-summary", run)))
    assert "alert(1)" in text
    assert "<script>alert" not in text
    assert all("src=" in tag for tag in re.findall("<script[^>]*>", text))
    assert not re.search(r"\sstyle=", text)


def test_a_run_without_results_has_no_summary(site, rana):
    assert "This run is waiting" in body(site.get(page("results-summary", world.queued(rana))))


@pytest.mark.parametrize("n_workers", [5, 120])
def test_the_page_takes_a_constant_number_of_queries(
    site, rana, n_workers, django_assert_max_num_queries
):
    run = world.finished(n_workers=n_workers, owner=rana)
    with django_assert_max_num_queries(28):
        assert site.get(page("results-summary", run)).status_code == 200
