"""Replies and judgements become sums, means, averages and similarities."""

from collections import Counter

import pytest

from evaluation.eloquent.options import EloquentParameters
from evaluation.eloquent.run.evaluation import evaluate_replies, select_judged_sets
from evaluation.runs.flow.metrics import Exclusions
from tests.evaluation.eloquent.world import ALONE, ITEMS, MOTHER, RULES, judgement, reply


def found(replies=(), judgements=(), items=ITEMS, exclusions=None, **more):
    parameters = EloquentParameters(**{"embedder": "tfidf-word", "bootstrap": 20, **more})
    return evaluate_replies(
        items, replies, judgements, parameters, Exclusions() if exclusions is None else exclusions
    )


def value(findings, system, metric, group=""):
    row = findings.find_metric(system, metric, group)
    return row.value if row else "no row"


SCORES = {
    ("a", "001", "en"): 3.0,
    ("a", "001", "sv"): 1.0,
    ("a", "002", "en"): 5.0,
    ("b", "001", "en"): 2.0,
    ("b", "001", "sv"): 2.0,
    ("b", "002", "en"): 0.0,
}
JUDGED = [judgement(*key, score) for key, score in SCORES.items()]


def test_sums_are_over_items_and_languages_and_averages_over_systems():
    findings = found(judgements=JUDGED)
    assert value(findings, "a", "sum") == 3 + 1 + 5
    assert value(findings, "b", "sum") == 2 + 2 + 0
    assert value(findings, "a", "mean") == 3.0
    assert value(findings, "a", "n") == 3
    # Item 001: a (3 + 1)/2, b (2 + 2)/2; item 002: a 5, b 0.
    assert value(findings, "", "average", "item:001") == 2.0
    assert value(findings, "", "average", "item:002") == 2.5
    assert value(findings, "a", "sum", "language:en") == 8.0
    assert value(findings, "b", "mean", "language:sv") == 2.0
    assert value(findings, "a", "mean", "variation:style") == 2.0
    assert value(findings, "b", "sum", "variation:closeness") == 0.0
    assert (value(findings, "a", "rank"), value(findings, "b", "rank")) == (1, 2)
    assert value(findings, "a", "language_range") == 2.0


def test_a_language_with_one_wording_is_skipped_with_the_reason():
    exclusions = Exclusions()
    more = [*JUDGED, judgement("a", "003", "en", 4.0)]
    findings = found(judgements=more, exclusions=exclusions)
    assert value(findings, "a", "sum") == 9.0
    assert exclusions.count("fewer_than_2_variants") == 2  # 003 in English and in Scots
    assert exclusions.count("judgement_of_fewer_than_2_variants") == 1
    row = findings.find_metric("a", "sum", "item:003")
    assert (row.value, row.reason) == (None, "fewer_than_2_variants")
    reasons = {row.reason for row in findings.sets if row.item == "003"}
    assert reasons == {"fewer_than_2_variants"}


def test_sums_over_different_counts_are_not_ranked():
    findings = found(judgements=JUDGED[:-1])
    row = findings.find_metric("a", "rank")
    assert (row.value, row.reason) == (None, "different_counts")


def test_a_judgement_without_a_score_is_no_0():
    exclusions = Exclusions()
    more = [*JUDGED[:-1], judgement("b", "002", "en", None, reason="score_is_a_range")]
    findings = found(judgements=more, exclusions=exclusions)
    row = findings.find_metric("b", "sum", "item:002")
    assert (row.value, row.reason) == (None, "no_score")
    assert value(findings, "b", "mean") == 2.0
    assert exclusions.count("score_is_a_range") == 1


def test_people_stand_beside_the_judges_and_not_in_their_sums():
    people = [judgement("a", "002", "en", 1.0, "human:rana")]
    findings = found(judgements=[*JUDGED, *people])
    assert value(findings, "a", "sum") == 9.0
    assert value(findings, "a", "human_mean") == 1.0
    (pair,) = findings.agreements
    assert (pair.judge, pair.other, pair.n, pair.difference) == ("judge", "human:rana", 1, 4.0)
    alone = found(judgements=people)
    assert value(alone, "a", "sum") == 1.0


def test_repeats_and_judges_are_averaged_and_told_apart():
    judged = [
        judgement("a", "002", "en", 2.0, "small", "1"),
        judgement("a", "002", "en", 4.0, "small", "2"),
        judgement("a", "002", "en", 5.0, "large", "1"),
        judgement("a", "002", "en", 0.0, "large", "1"),  # the same repeat again
    ]
    exclusions = Exclusions()
    findings = found(judgements=judged, exclusions=exclusions)
    assert value(findings, "a", "sum") == 4.0  # (3 + 5)/2
    assert value(findings, "a", "spread") == pytest.approx(2**0.5)
    assert value(findings, "a", "sum", "judge:small") == 3.0
    assert value(findings, "a", "sum", "judge:large") == 5.0
    assert exclusions.count("repeated") == 1


def test_unknown_items_and_languages_are_counted():
    exclusions = Exclusions()
    wrong = [judgement("a", "9", "en", 1.0), judgement("a", "001", "fi", 1.0)]
    findings = found(judgements=wrong, exclusions=exclusions)
    assert findings.systems == ()
    assert exclusions.count("unknown_item") == exclusions.count("unknown_language") == 1


def test_items_may_be_judged_as_a_whole():
    findings = found(judgements=[judgement("a", "001", "", 4.0), judgement("a", "002", "", 3.0)])
    assert value(findings, "a", "sum") == 7.0
    assert value(findings, "", "average", "item:001") == 4.0
    assert [(row.item, row.language) for row in findings.sets][:2] == [("001", ""), ("002", "")]
    exclusions = Exclusions()
    found(judgements=[judgement("a", "003", "", 4.0)], exclusions=exclusions)
    assert exclusions.count("judgement_of_fewer_than_2_variants") == 1  # one wording a language


def test_equal_replies_are_similar_and_no_answers_are_not():
    # 002: two equal answers, similarity 1. 001 in English: two equal answers and an empty one,
    # 1 of 3 pairs; in Swedish: one answer and one ERROR, which is missing.
    replies = [
        *(reply("a", MOTHER, place, "dear mother") for place in (0, 1)),
        *(reply("a", RULES, place, "eleven a side") for place in (0, 1)),
        reply("a", RULES, 3, "", "empty"),
        reply("a", RULES, 2, "elva"),
        reply("a", RULES, 4, "", "error"),
    ]
    exclusions = Exclusions()
    findings = found(replies, exclusions=exclusions)
    assert value(findings, "a", "similarity", "item:002") == pytest.approx(1.0)
    assert value(findings, "a", "similarity", "language:en") == pytest.approx((1 + 1 / 3) / 2)
    assert value(findings, "a", "similarity_answered", "language:en") == pytest.approx(1.0)
    assert value(findings, "a", "no_answer_rate") == pytest.approx(1 / 6)
    swedish = next(row for row in findings.sets if (row.item, row.language) == ("001", "sv"))
    assert (swedish.n_replies, swedish.similarity) == (1, None)
    assert swedish.similarity_reason == swedish.reason == "fewer_than_2_replies"
    assert exclusions.count("error") == 1
    assert exclusions.count("no_reply") == 2  # item 003


def test_replies_are_compared_across_languages_too():
    replies = [reply("a", RULES, 0, "one two"), reply("a", RULES, 2, "one two")]
    findings = found(replies)
    assert value(findings, "a", "similarity_across_languages") == pytest.approx(1.0)
    row = found([reply("a", MOTHER, 0)]).find_metric("a", "similarity_across_languages")
    assert (row.value, row.reason) == (None, "one_language")


def test_a_judge_gets_sets_of_two_replies_and_more():
    replies = [
        reply("a", RULES, 3),
        reply("a", RULES, 0),
        reply("a", RULES, 2),
        reply("a", MOTHER, 0),
        reply("a", MOTHER, 1, "", "error"),
        reply("b", MOTHER, 1, "", "refused"),
        reply("b", MOTHER, 0),
        reply("b", ALONE, 0),
    ]
    sets = select_judged_sets(ITEMS, replies)
    assert {key: [one.place for one in of_set] for key, of_set in sets.items()} == {
        ("a", "001", "en"): [0, 3],
        ("b", "002", "en"): [0, 1],
    }


def test_intervals_draw_items_and_not_sets():
    # One item in two languages is one cluster: no interval. Two items: one.
    one = found(judgements=JUDGED[:2], items=(RULES,))
    assert one.find_metric("a", "mean").reason == "fewer_than_2_items"
    two = found(judgements=JUDGED).find_metric("a", "mean")
    assert two.low <= two.value <= two.high
    assert found(judgements=JUDGED, bootstrap=0).find_metric("a", "mean").reason == "no_draws"


def test_systems_are_compared_on_items():
    (pair,) = found(judgements=JUDGED).comparisons
    # Item 001: 2 - 2, item 002: 5 - 0.
    assert (pair.n, pair.difference) == (2, 2.5)


def test_every_number_that_is_missing_has_a_reason():
    findings = found([reply("a", RULES, 0)], JUDGED[:1])
    for row in findings.metrics:
        assert (row.value is None) <= (row.reason is not None), row
    assert max(Counter((r.system, r.group, r.metric) for r in findings.metrics).values()) == 1
