"""What experts say of a run: out of the database, on the page, by REST, as tables."""

import csv

import pytest
from django.urls import reverse
from rest_framework.test import APIClient

from evaluation.experts.messages import LEVELS
from evaluation.experts.report import build_experts_report
from evaluation.models import HumanJudgement
from evaluation.runs.reports.judging import compute_sample_weights, load_judged_answers
from tests.evaluation.grading.results import world
from tests.evaluation.judging_world import drawn, expert, grade, score
from tests.evaluation.site.handles import states

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(rana):
    return world.finished(owner=rana, n_workers=6, n_questions=12, n_models=2)


@pytest.fixture
def judged(run):
    """Ed and Eve graded 40 answers each, Eve a half more; Mo settled the first."""
    ed, eve, mo = (expert(run, name)[0] for name in ("ed", "eve", "mo"))
    audit = drawn(run, 40, "question", with_models=True)
    known = {item.pk: score(run, item) for item in audit.items.all()}
    low, high = min(known.values()), max(known.values())

    def halves(item):
        return round(9 * (known[item.pk] - low) / (high - low)) / 2

    grade(audit, ed, halves)
    grade(audit, eve, lambda item: halves(item) + 0.5)
    first = audit.items.earliest("place")
    first.adjudicator = mo
    first.save()
    HumanJudgement.objects.create(response_id=first.response_id, expert=mo, grade=5)
    return audit


def test_it_says_how_far_experts_agree_and_what_everybody_is_worth(run, judged):
    found = build_experts_report(run).findings
    assert (found.experts, found.n_graded, found.n_settled) == (["ed", "eve"], 40, 1)
    by_name = {one.metric: one for one in found.agreement}
    assert by_name["alpha_nominal"].value < 0 < by_name["icc_single"].value < 1
    assert found.level == "reliable"
    assert {one.question for one in found.difficulty} <= {
        question.external_id for question in run.version.questions.all()
    }
    workers = [one for one in found.means if one.kind == "worker"]
    assert {one.name for one in workers} <= {f"w{at:03}" for at in range(1, 7)}
    assert {one.n_answers for one in found.means} == {12}
    # Worker 1 is the best in this world.
    assert max(workers, key=lambda one: one.graded).name == "w001"


@pytest.mark.slow
def test_the_page_tells_it_in_words_and_rest_and_files_in_numbers(site, run, judged):
    page = site.get(reverse("admin:results-experts", args=[run.public_id]))
    said = page.content.decode()
    assert LEVELS["reliable"] in said
    for section in ("agree", "hard", "scores", "means"):
        assert f'<h2 id="{section}"' in said
    client = APIClient()
    client.force_authenticate(run.owner)
    told = client.get(f"/api/v1/runs/{run.public_id}/results/experts/").json()
    assert (told["level"], told["n_by_two"], told["n_missing"]) == ("reliable", 40, 0)
    assert told["said"] == LEVELS["reliable"]
    found = build_experts_report(run).findings
    for name, rows in (
        ("expert-agreement", len(found.agreement) + 2),
        ("expert-difficulty", len(found.difficulty)),
        ("expert-estimates", len(found.means)),
    ):
        address = reverse("admin:results-table", kwargs={"run": run.public_id, "name": name})
        content = b"".join(site.get(address)).decode("utf-8-sig")
        assert len(list(csv.DictReader(content.splitlines()))) == rows
    assert len(told["means"]) == len(found.means)


def test_in_a_sample_with_as_many_of_each_third_grades_count_by_what_they_stand_for(run):
    """Of parts of different sizes as many were drawn of each; all of a worker's weigh alike."""
    ed = expert(run)[0]
    audit = drawn(run, 24, "grade", with_models=True)
    grade(audit, ed, lambda item: (item.place % 11) / 2)
    # 60 in the middle third in place of 24: each of these stands for as many more.
    audit.strata["middle"] = 60
    audit.save()
    judged = load_judged_answers(run, audit)
    weights = compute_sample_weights(judged, audit)
    assert len(set(weights)) > 1
    report = build_experts_report(run).findings
    for one in report.difficulty:
        mine = [
            (answer.grade, weight)
            for answer, weight in zip(judged, weights, strict=True)
            if answer.question_name == one.question and not answer.of_model
        ]
        mean = sum(mark * weight for mark, weight in mine) / sum(weight for _, weight in mine)
        assert one.difficulty == pytest.approx(1 - mean / 5)
    means = report.means
    # Scores are relied on as before: a worker is of one third, a model's answers are one part.
    assert any(one.weight > 0 for one in means)
    audit.strata = dict.fromkeys(audit.strata, 24)
    audit.save()
    assert build_experts_report(run).findings.means == means


def test_before_anybody_graded_it_says_what_to_do(site, run):
    said = site.get(reverse("admin:results-experts", args=[run.public_id])).content.decode()
    assert "no_grades" in states(said)
    assert reverse("admin:results-audit", args=[run.public_id]) in said


def test_who_still_grades_sees_nothing_of_it(site, run, rana):
    audit = drawn(run, 5, experts=[rana, expert(run)[0]])
    grade(audit, rana, lambda item: 3 if item.place else None)
    said = site.get(reverse("admin:results-experts", args=[run.public_id])).content.decode()
    assert "still_grading" in states(said)
    assert '<h2 id="hard"' not in said


def test_grades_of_answers_that_nobody_drew_say_nothing_of_the_others(run):
    user = expert(run)[0]
    for row in run.answer_scores.order_by("pk")[:20]:
        HumanJudgement.objects.create(response_id=row.response_id, expert=user, grade=3)
    found = build_experts_report(run).findings
    assert (found.means, found.without_means) == ([], "not_drawn_at_random")


def test_it_takes_as_many_queries_for_many_answers_as_for_few(
    run, judged, django_assert_max_num_queries
):
    with django_assert_max_num_queries(14):
        build_experts_report(run)
