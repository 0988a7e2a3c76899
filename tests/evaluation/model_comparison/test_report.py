"""Models compared on a set: who is better, in which groups, on which questions, at what cost."""

import numpy as np
import pytest
from django.contrib.auth.models import User

from annotations.models import Question
from evaluation.core.messages.reasons import WHY_EMPTY
from evaluation.core.stats.inference.comparison import compare_by_group
from evaluation.grading.results.report.comparisons import read_pairs
from evaluation.model_comparison.report import (
    build_leaderboard,
    build_pair_detail,
    load_differences_page,
)
from evaluation.model_comparison.report.pair import is_answer_correct, load_correctness
from evaluation.model_comparison.report.scores import (
    Costs,
    ScoreTable,
    build_group_tables,
    iterate_related_models,
)
from evaluation.models import ExemplaryAnswer, LLMAnswerScore, LLMComparison, LLMResponse, LLMScore
from tests.evaluation.grading.results import world
from tests.evaluation.grading.results.compared import (
    SCORES,
    compared,
    model_of,
    stays_a_draft,
    with_costs,
)

pytestmark = pytest.mark.django_db

LED = "comparison.led_in_pairs"


@pytest.fixture
def rana():
    return User.objects.create(username="rana", is_staff=True)


def row_of(report, name):
    return next(row for row in report.models if row.standing.name == name)


def test_a_model_stands_by_how_many_are_better_and_worse(rana):
    report = build_leaderboard(compared(rana))
    assert [row.standing.name for row in report.models] == ["Ox 2", "Ox 1", "Elk"]
    # Elk is .3 to .19 below Ox 1 on each of 12 questions: p = 2/2^12 x 3 pairs.
    assert [(row.rank, row.n_better, row.n_worse, row.n_alike) for row in report.models] == [
        (1, 0, 1, 1),
        (1, 0, 1, 1),
        (3, 2, 0, 0),
    ]
    assert report.n_pairs == 3


def test_the_first_sentence_says_who_is_better_and_who_cannot_be_told_apart(rana):
    report = build_leaderboard(compared(rana))
    verdict = report.verdict
    assert verdict.code == "comparison.leads_some"
    names = [verdict.values[name] for name in ("leader", "behind", "next", "alike")]
    assert names == ["Ox 2", "“Elk”", "Elk", "“Ox 1”"]
    # (10 x .1 - 2 x .2) / 12 = .05 above Ox 1, and that again plus .3 - .055 above Elk.
    assert verdict.values["difference"] == pytest.approx(0.295, abs=5e-4)
    assert verdict.values["smallest"] > 0


@pytest.mark.parametrize(
    ("p", "verdict"),
    [
        ({"Ox 1": 0.01, "Elk": 0.01}, "leads_all"),
        ({"Ox 1": 0.5, "Elk": 0.5}, "leads_none"),
        ({"Ox 1": 0.5, "Elk": None}, "leads_none"),
        ({"Ox 1": None, "Elk": None}, "only_model"),
    ],
)
def test_the_verdict_follows_the_p_values(rana, p, verdict):
    run = compared(rana)
    for name, value in p.items():
        LLMComparison.objects.filter(run=run, model_a__name="Ox 2", model_b__name=name).update(
            adjusted_p_value=value
        )
    found = build_leaderboard(run).verdict
    assert (found.code, found.values["leader"]) == (f"comparison.{verdict}", "Ox 2")
    assert found.values.get("difference", 0.05) == pytest.approx(0.05)


def test_a_leader_that_loses_its_pairs_is_not_called_the_best(rana):
    run = compared(rana)
    LLMComparison.objects.filter(run=run, model_b__name="Ox 1").update(
        difference=-0.2, low=-0.3, high=-0.1, adjusted_p_value=0.001
    )
    verdict = build_leaderboard(run).verdict
    assert verdict.code == LED
    assert verdict.values == {"leader": "Ox 2", "ahead": "“Ox 1”"}


def test_benjamini_hochberg_is_over_all_pairs_of_the_run(rana):
    run = compared(rana)
    for name, value in (("Ox 1", 0.04), ("Elk", 0.03)):
        LLMComparison.objects.filter(model_a__name="Ox 2", model_b__name=name).update(p_value=value)
    LLMComparison.objects.filter(model_a__name="Ox 1").update(p_value=0.02)
    # .02 x 3/1 = .06, .03 x 3/2 = .045, .04 x 3/3 = .04; stepping up, all three are .04.
    adjusted = [pair.adjusted_p_value for pair in read_pairs(run, "benjamini-hochberg")]
    assert adjusted == pytest.approx([0.04, 0.04, 0.04])
    one = read_pairs(run, "benjamini-hochberg", model_of(run, "Elk"))
    assert [pair.first_name for pair in one] == ["Elk", "Elk"]
    assert [pair.adjusted_p_value for pair in one] == pytest.approx([0.04, 0.04])
    report = build_leaderboard(run, "benjamini-hochberg")
    assert [row.rank for row in report.models] == [1, 2, 3]


def test_versions_and_strategies_of_a_model_are_found(rana):
    report = build_leaderboard(compared(rana))
    assert [
        (entry.by, entry.pair.first_name, entry.pair.second_name) for entry in report.related
    ] == [
        ("version", "Ox 2", "Ox 1"),
        ("strategy", "Elk", "Ox 2"),  # the one with the passage less the one without
    ]
    assert report.related[0].pair.difference.value == pytest.approx(0.05)
    assert report.related[1].pair.difference.value == pytest.approx(-0.295)


def test_models_of_no_family_belong_to_none(rana):
    run = compared(rana)
    models = [row.model for row in run.llm_scores.select_related("model")]
    for model in models:
        model.family = ""
    assert list(iterate_related_models(models)) == []


def test_what_an_answer_cost_is_the_mean_of_those_that_told_it(rana):
    run = compared(rana)
    with_costs(run, "Ox 1", seconds="0.5", cost=0.002, prompt_tokens=90, completion_tokens="10")
    report = build_leaderboard(run)
    costs = row_of(report, "Ox 1").costs
    assert (costs.seconds, costs.cost, costs.tokens) == pytest.approx((0.5, 0.002, 100))
    assert costs.total_cost == pytest.approx(12 * 0.002)
    assert (costs.n_timed, costs.reason) == (12, "")
    silent = row_of(report, "Elk").costs
    assert (silent.seconds, silent.cost, silent.n_priced) == (None, None, 0)
    assert (silent.reason, silent.why) == ("cost_not_told", WHY_EMPTY["cost_not_told"])


def test_a_cost_that_is_no_number_is_none():
    found = Costs.from_answers(
        [("soon", -1, None, ""), ("2", True, "7", "nan"), (4, "inf", None, None)]
    )
    assert (found.seconds, found.n_timed) == (3, 2)  # (2 + 4) / 2
    assert (found.cost, found.n_priced, found.tokens) == (None, 0, 7)


def test_runs_say_whether_their_exemplary_answers_are_the_same(rana):
    run = compared(rana)
    other = world.Run.objects.create(
        owner=rana, version=run.version, state="done", kind="aqer",
        finished_at=run.finished_at, summary=run.summary, parameters=run.parameters,
    )  # fmt: skip
    for row in ExemplaryAnswer.objects.filter(run=run):
        row.pk, row.run = None, other
        row.save()
    elk = run.llm_scores.get(model__name="Elk").model
    LLMScore.objects.create(run=other, model=elk, score=0.4, n=12, n_answered=12)
    runs = build_leaderboard(run).runs
    assert [(entry.run, entry.same_exemplars, entry.is_shown) for entry in runs] == [
        (other.public_id, True, False),
        (run.public_id, True, True),
    ]
    assert runs[0].scores == [None, None, 0.4]
    ExemplaryAnswer.objects.filter(run=other, question__external_id="r3").update(dispersion=0.9)
    assert [entry.same_exemplars for entry in build_leaderboard(run).runs] == [False, True]


def test_models_that_answered_after_the_run_are_named(rana):
    run = compared(rana)
    assert build_leaderboard(run).unscored == []
    LLMScore.objects.filter(run=run, model__name="Elk").delete()
    assert build_leaderboard(run).unscored == ["Elk"]


def test_scores_stand_in_the_order_of_models_and_questions(rana):
    run = compared(rana)
    table = ScoreTable.from_run(run)
    assert [model.name for model in table.models] == list(SCORES)
    assert table.scores == pytest.approx(np.array(list(SCORES.values())))
    LLMAnswerScore.objects.filter(run=run, llm_response__question__external_id="r2").update(
        score=None, reason="no_exemplar"
    )
    assert ScoreTable.from_run(run).scores[:, 1].tolist() == pytest.approx(
        [float("nan")] * 3, nan_ok=True
    )


def test_groups_have_their_means_and_say_if_they_are_small(rana):
    run = compared(rana)
    (table,) = build_group_tables(ScoreTable.from_run(run))  # there is one language, and no passage
    assert (table.by, [group.name for group in table.groups]) == ("category", ["north", "south"])
    north, south = table.groups
    assert (north.n_questions, north.is_small, south.n_questions, south.is_small) == (
        10, False, 2, True,
    )  # fmt: skip
    best = [model for model in south.models if model.score.value == south.best]
    assert [(model.name, model.n) for model in best] == [("Ox 1", 2)]
    assert south.best == pytest.approx(0.71)  # (.70 + .72) / 2
    assert table.n_small == 1


def test_a_pair_is_told_group_by_group(rana):
    run = compared(rana)
    detail, _ = build_pair_detail(run, model_of(run, "Ox 2"), model_of(run, "Ox 1"))
    assert (detail.n_first, detail.n_second, detail.n_equal) == (10, 2, 0)
    assert (detail.relation, detail.newer_first) == ("version", True)
    assert detail.verdict.code == "comparison.pair_alike"
    assert [detail.verdict.values[name] for name in ("first", "second")] == ["Ox 2", "Ox 1"]
    (grouping,) = detail.groupings
    north, south = grouping.groups
    assert (north.difference.value, south.difference.value) == pytest.approx((0.1, -0.2))
    # All 10 questions say the same: p = 2/2^10, twice that after Holm. Two say nothing: p = 2/4.
    assert north.adjusted_p_value == pytest.approx(2 * 2 / 2**10)
    assert (north.better, south.better) == (1, 0)
    expected = compare_by_group(SCORES["Ox 2"], SCORES["Ox 1"], ["north"] * 10 + ["south"] * 2)
    assert north.difference.low == pytest.approx(expected[0].low)
    turned, _ = build_pair_detail(run, model_of(run, "Ox 1"), model_of(run, "Ox 2"))
    assert (turned.n_first, turned.newer_first) == (2, False)
    assert turned.groupings[0].groups[0].better == 2


def test_questions_come_largest_difference_first_page_by_page(rana):
    run = compared(rana)
    pair = model_of(run, "Ox 2"), model_of(run, "Ox 1")
    table = ScoreTable.from_run(run)
    page = load_differences_page(run, table, *pair, size=3)
    assert [question.name for question in page.questions] == ["r11", "r12", "r1"]
    assert [question.difference for question in page.questions] == pytest.approx([-0.2, -0.2, 0.1])
    assert (page.total, page.next) == (12, 3)
    question = page.questions[0]
    # Texts of the world were written before the models had their names.
    assert (question.first_text, question.second_text) == ("model 1 on r11", "model 0 on r11")
    assert question.nearest == "river r11 runs north, says w001"
    last = load_differences_page(run, table, *pair, start=9, size=3)
    assert (last.start, len(last.questions), last.next) == (9, 3, None)
    worse = load_differences_page(run, table, *pair, order="second")
    assert ([question.name for question in worse.questions], worse.total) == (["r11", "r12"], 2)
    assert load_differences_page(run, table, *pair, order="first").total == 10
    with pytest.raises(KeyError):
        load_differences_page(run, table, *pair, order="best")


def test_a_thing_that_tells_no_questions_apart_makes_no_groups(rana):
    run = compared(rana)
    Question.objects.filter(version=run.version).update(category="all")
    assert build_group_tables(ScoreTable.from_run(run)) == []
    assert build_pair_detail(run, model_of(run, "Elk"), model_of(run, "Ox 1"))[0].groupings == []


def test_models_that_were_not_compared_are_no_pair(rana):
    run = compared(rana)
    LLMComparison.objects.filter(run=run).delete()
    assert build_pair_detail(run, model_of(run, "Elk"), model_of(run, "Ox 1")) is None


def test_the_leaderboard_takes_a_constant_number_of_queries(rana, django_assert_max_num_queries):
    run = compared(rana)
    with django_assert_max_num_queries(14):
        build_leaderboard(run)


def keyed(run, **answers):
    """Make the first three questions ones with a key, answered as told."""
    of_run = Question.objects.filter(version=run.version)
    of_run.filter(external_id__in=["r1", "r2"]).update(
        kind="choice", choices=["north", "south", "east"], accepted_answers=["south"]
    )
    of_run.filter(external_id="r3").update(kind="extractive", accepted_answers=["The Rhine"])
    for name, texts in answers.items():
        for question, text in zip(("r1", "r2", "r3"), texts, strict=True):
            row = LLMResponse.objects.filter(
                model__name=name.replace("_", " "), question__external_id=question
            )
            row.update(text=text, status="text" if text else "refused")


def test_right_and_wrong_are_told_where_there_is_a_key(rana, monkeypatch):
    stays_a_draft(monkeypatch)
    run = compared(rana)
    pair = model_of(run, "Ox 2"), model_of(run, "Ox 1")
    assert load_correctness(run, *pair) is None
    # A letter, a text, a span without its article; a wrong choice, a refusal, another river.
    keyed(run, Ox_2=("B", "South.", "rhine"), Ox_1=("north", "", "the Rhone"))
    found = load_correctness(run, *pair)
    assert (found.n, found.first_right, found.second_right) == (3, 3, 0)
    assert (found.only_first, found.only_second) == (["r1", "r2", "r3"], [])
    assert found.p_value == pytest.approx(2 / 2**3)  # of 3 discordant pairs, all one way
    turned = load_correctness(run, *reversed(pair))
    assert (turned.n_only_first, turned.n_only_second) == (0, 3)
    assert build_pair_detail(run, *pair)[0].right == found


def test_a_key_that_is_no_choice_and_an_answer_that_failed_are_left_out(rana, monkeypatch):
    stays_a_draft(monkeypatch)
    run = compared(rana)
    pair = model_of(run, "Ox 2"), model_of(run, "Ox 1")
    keyed(run, Ox_2=("B", "B", "Rhine"), Ox_1=("B", "A", "Rhine"))
    Question.objects.filter(external_id="r2").update(accepted_answers=["west"])
    LLMResponse.objects.filter(model__name="Ox 1", question__external_id="r3").update(
        status="error"
    )
    found = load_correctness(run, *pair)
    assert (found.n, found.first_right, found.second_right, found.p_value) == (1, 1, 1, 1)


def test_several_right_choices_have_to_be_named_all():
    question = Question(kind="choice", choices=["a fox", "a hen", "an owl"])
    question.accepted_answers = ["a fox", "C"]
    said = {"A, C": True, "a fox and an owl": True, "A": False, "A, B, C": False, "": False}
    assert {text: is_answer_correct(question, text) for text in said} == said


def test_copied_answers_say_nothing_of_the_cost(rana):
    run = compared(rana)
    with_costs(run, "Elk", seconds=2, cost=0.5)
    first = LLMResponse.objects.filter(model__name="Elk").order_by("pk").first()
    LLMResponse.objects.filter(pk=first.pk).update(
        extra={"seconds": 2, "cost": 0.0, "copied": True}
    )
    costs = row_of(build_leaderboard(run), "Elk").costs
    assert (costs.cost, costs.n_priced) == (0.5, 11)
