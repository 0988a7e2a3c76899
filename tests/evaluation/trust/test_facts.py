"""Every limit of the page "Can I trust this?", from both sides."""

import pytest

from evaluation.core.options import SITE
from evaluation.core.stats.inference.clustered import ClusteredEstimate
from evaluation.grading.alarms.messages import RESULTS
from evaluation.grading.summary import CheckResult, LengthEffect
from evaluation.trust.messages import ALWAYS
from evaluation.trust.report import facts
from evaluation.trust.report.facts import Verdict


@pytest.mark.parametrize(
    ("n", "leave_one_out", "level"),
    [
        (2, False, "bad"),
        (3, False, "bad"),
        (3, True, "care"),
        (5, False, "bad"),
        (6, False, "care"),
        (11, False, "care"),
        (12, False, "good"),
    ],
)
def test_small_crowds_are_judged_as_simulations_went(n, leave_one_out, level):
    assert facts.build_workers_fact(n, leave_one_out).level == level


@pytest.mark.parametrize(
    ("questions", "level", "words"),
    [
        ({6: 9, 2: 1}, "good", "1 of 10 questions"),  # a tenth is not more than a tenth
        ({6: 8, 2: 2}, "care", "2 of 10 questions"),
        ({5: 3}, "care", "has 5 answers."),
        ({9: 4, 2: 6}, "bad", "6 of 10 questions"),
        ({2: 2, 3: 1}, "bad", "has 2 answers;"),
        ({1: 1}, "bad", "has 1 answer;"),
        ({}, "bad", "has 0 answers."),
    ],
)
def test_thin_questions_are_counted(questions, level, words):
    fact = facts.build_answers_fact(questions)
    assert (fact.level, words in SITE.format_message(fact.said)) == (level, True), (
        SITE.format_message(fact.said)
    )


@pytest.mark.parametrize(
    ("n", "supported", "level"),
    [(10, 10, "good"), (10, 9, "good"), (10, 8, "care"), (10, 5, "care"), (10, 4, "bad")],
)
def test_workers_without_a_rank_are_judged_by_their_share(n, supported, level):
    assert facts.build_support_fact(n, supported).level == level


@pytest.mark.parametrize(
    ("correlation", "level"),
    [(0.7, "good"), (0.701, "care"), (-0.701, "care"), (0.0, "good"), (None, "unknown")],
)
def test_a_ranking_is_one_by_length_above_a_correlation_of_7(correlation, level):
    reason = "too_few_ranked_workers" if correlation is None else None
    fact = facts.build_length_fact(LengthEffect(correlation, 7, reason))
    assert (fact.level, fact.needed) == (level, 8 if correlation is None else None)
    assert facts.build_length_fact(None) is None
    assert facts.build_length_fact(LengthEffect(None, 9, "no_spread")).level == "good"


@pytest.mark.parametrize(
    ("agreement", "level"),
    [(None, "unknown"), (0.79, "bad"), (0.8, "care"), (0.89, "care"), (0.9, "good")],
)
def test_a_ranking_is_as_stable_as_its_draws(agreement, level):
    assert facts.build_stability_fact(agreement).level == level


@pytest.mark.parametrize(
    ("counts", "level"),
    [
        (None, "unknown"),
        ({}, "good"),
        ({"info": 2}, "good"),
        ({"notice": 1}, "care"),
        ({"notice": 1, "alarm": 2}, "bad"),
    ],
)
def test_the_worst_alarm_decides(counts, level):
    assert facts.build_alarms_fact(counts).level == level


def test_a_silent_run_is_not_called_free_of_copies():
    assert "does not prove" in SITE.format_message(facts.build_alarms_fact({}).said)


COPIES = CheckResult("copies", None, 0.5, False, "no_pair_shares_10_questions")
CAMPS = CheckResult("two_camps", 1.0, 3.0, False)


@pytest.mark.parametrize(
    ("counts", "level", "result"),
    [
        ({}, "unknown", "not_enough_data"),
        ({"dismissed": 1}, "unknown", "not_enough_data"),
        ({"answered": 1}, "unknown", "not_enough_data"),
        ({"notice": 1}, "care", "problem"),
        ({"alarm": 1}, "bad", "problem"),
    ],
)
def test_a_check_for_groups_that_did_not_run_is_never_good(counts, level, result):
    fact = facts.build_alarms_fact(counts, [COPIES, CAMPS])
    assert (fact.level, fact.result) == (level, result)
    assert fact.values["unchecked"] == [("copies", "no_pair_shares_10_questions")]
    assert fact.needed == (10 if level == "unknown" else None)


def test_other_checks_without_data_leave_the_check_for_groups_good():
    leverage = CheckResult("leverage", None, 0.75, False, "too_few_ranked_workers")
    fact = facts.build_alarms_fact({}, [CAMPS, leverage])
    assert (fact.result, fact.values) == ("good", {})


@pytest.mark.parametrize(
    ("fact", "result", "needed"),
    [
        (facts.build_workers_fact(12, False), "good", None),
        (facts.build_workers_fact(2, False), "problem", None),
        (facts.build_workers_fact(7, False), "problem", None),
        (facts.build_convergence_fact(None, 1), "not_enough_data", 3),
        (facts.build_stability_fact(None), "not_applicable", None),
        (facts.build_alarms_fact(None), "not_applicable", None),
        (facts.build_language_fact("", of_words=True), "not_applicable", None),
        (facts.build_language_fact("m", is_known=False), "not_applicable", None),
        (facts.build_experts_fact(ClusteredEstimate()), "not_enough_data", 20),
    ],
)
def test_every_fact_has_one_of_four_results(fact, result, needed):
    assert (fact.result, fact.needed) == (result, needed)
    assert (fact.word == RESULTS[result]) == (result not in ("problem",))


def test_what_does_not_apply_is_not_counted_among_the_checks():
    verdict = Verdict.from_facts(
        [facts.build_alarms_fact({}), facts.build_language_fact("", of_words=True)]
    )
    assert (verdict.level, verdict.text.values) == ("good", {"count": 1, "all": 1})


def agreement(n, value, low=None, high=None):
    return ClusteredEstimate(value, low, high, n, n_clusters=n)


@pytest.mark.parametrize(
    ("found", "level", "case"),
    [
        (agreement(0, None), "unknown", "nobody"),
        (agreement(19, 1.0, 0.9, 1.0), "unknown", "too_few"),
        (agreement(20, None), "unknown", "no_spread"),
        (agreement(20, 0.5, 0.2, 0.8), "good", "agree"),
        (agreement(20, 0.5, 0.19, 0.8), "care", "unsure"),
        (agreement(20, 0.5), "care", "unsure"),  # of a single question
        (agreement(20, 0.49, 0.3, 0.6), "care", "differ"),
        (agreement(20, 0.2, -0.1, 0.5), "care", "differ"),
        (agreement(20, 0.19, -0.1, 0.5), "bad", "differ"),
    ],
)
def test_agreement_with_experts_is_judged_with_its_interval(found, level, case):
    fact = facts.build_experts_fact(found)
    assert (fact.level, fact.case) == (level, case)


def test_it_is_said_who_graded_what_and_how_far_the_experts_agree_themselves():
    said = facts.build_experts_fact(agreement(1000, 0.62, 0.25, 0.8), False, 2, 0.39, True).said
    assert said.code == "experts.agree.said"
    assert [said.values[name] for name in ("count", "sampled", "experts")] == [1000, True, 2]
    assert [said.values[name] for name in ("correlation", "low", "high")] == [0.62, 0.25, 0.8]
    assert (said.values["kappa"], said.values["apart"]) == (0.39, True)
    said = facts.build_experts_fact(agreement(30, 0.62, 0.1, 0.8), False, 2, 0.4).said
    assert (said.code, said.values["apart"]) == ("experts.unsure.said", False)
    said = facts.build_experts_fact(agreement(1, None)).said
    assert (said.code, said.values["count"]) == ("experts.no_spread.said", 1)


def test_judgements_that_chose_the_ranking_do_not_confirm_it():
    fact = facts.build_experts_fact(agreement(30, 0.99, 0.9, 1.0), True)
    assert fact.level == "unknown"
    assert "0.99" not in SITE.format_message(fact.said)


def test_a_verdict_counts_the_facts_of_its_level_and_never_promises_truth():
    good, bad = facts.build_alarms_fact({}), facts.build_alarms_fact({"alarm": 1})
    care, unknown = facts.build_alarms_fact({"notice": 1}), facts.build_alarms_fact(None)
    for found, level, count in (
        ([bad, bad, good], "bad", 2),
        ([care, unknown, good], "care", 1),
        ([unknown, good], "unknown", 1),
        ([good], "good", 1),
    ):
        verdict = Verdict.from_facts(found)
        assert verdict.level == level
        assert verdict.text.code == f"verdict.{level}.text"
        assert verdict.text.values == {"count": count, "all": len(found)}
        assert ALWAYS in SITE.format_message(verdict.text)
