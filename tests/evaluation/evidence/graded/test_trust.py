"""Which method to trust: chosen on one half of the questions, told by the other."""

from dataclasses import replace

import numpy as np
import pytest

from evaluation.evidence.baselines import METHODS, Method
from evaluation.evidence.graded.crowds import GradedCrowds, TooFewGradesError
from evaluation.evidence.graded.trust import compare_methods_on_grades, find_run_options
from evaluation.evidence.method_comparison import draw_choosing_half
from tests.evaluation.evidence.graded.answers import WORDS, corpus_of, of_nobody, of_workers, some

SEEDS = range(1000, 1004)
DIGITS = "0123456789"


def noisy(name: str, noise: float, kind: str = "baseline") -> Method:
    """A method that counts right words and adds noise, the same for a worker in all crowds."""
    apart = np.random.default_rng(len(name)).normal(size=500)

    def score(crowd):
        right = [sum(w.rstrip(DIGITS) in WORDS for w in t.split()) for t in crowd.corpus.texts]
        values = crowd.compute_worker_means(np.array(right, dtype=float)[crowd.rows])
        return values + noise * apart[: crowd.n_workers]

    return Method(name, score, kind)


@pytest.fixture
def crowds():
    return GradedCrowds.from_answers(of_workers(40, 12))


def tried(crowds, methods, **more):
    return compare_methods_on_grades(crowds, corpus_of(crowds), methods, SEEDS, **more)


def test_a_method_that_is_better_on_both_halves_is_trusted_with_its_lead(crowds):
    found = tried(crowds, [noisy("aqer", 9.0, "aqer"), noisy("good", 0.1)])
    assert (found.verdict, found.method, found.rival) == ("better", "good", "aqer")
    rows = {row.name: row for row in found.rows}
    assert found.lead.low > 0
    # The lead is the difference of the two correlations on the half that was held out.
    assert found.lead.value == pytest.approx(rows["good"].held.value - rows["aqer"].held.value)
    assert rows["good"].held.low < rows["good"].held.value < rows["good"].held.high


def test_the_default_is_trusted_where_it_beats_the_next_best(crowds):
    found = tried(crowds, [noisy("aqer", 0.1, "aqer"), noisy("poor", 9.0)])
    assert (found.verdict, found.method, found.rival) == ("default", "aqer", "poor")
    assert found.lead.low > 0


def test_methods_that_are_equally_good_cannot_be_told_apart(crowds):
    found = tried(crowds, [noisy("aqer", 1.0, "aqer"), noisy("another", 1.0)])
    assert (found.verdict, found.method) == ("apart", "aqer")
    assert found.lead.low <= 0 <= found.lead.high


def test_a_second_name_of_the_default_is_no_rival(crowds):
    twin = Method("twin", noisy("aqer", 0.1).score)
    found = tried(crowds, [noisy("aqer", 0.1, "aqer"), twin, noisy("poor", 9.0)])
    assert found.rival == "poor"


def test_what_knows_right_answers_is_never_chosen(crowds):
    found = tried(
        crowds, [noisy("aqer", 9.0, "aqer"), noisy("key", 0.0, "supervised"), noisy("ok", 0.2)]
    )
    assert found.best == "ok"


def test_who_is_best_on_one_half_by_chance_is_found_out_on_the_other(crowds):
    half = set(np.flatnonzero(draw_choosing_half(12, 0)).tolist())
    good, poor = noisy("good", 0.1).score, noisy("poor", 99.0).score

    def lucky(crowd):
        return (good if set(crowd.questions.tolist()) == half else poor)(crowd)

    found = tried(crowds, [noisy("aqer", 2.0, "aqer"), Method("lucky", lucky)])
    rows = {row.name: row for row in found.rows}
    assert rows["lucky"].choosing > 0.9
    assert (found.best, found.verdict, found.method) == ("lucky", "apart", "aqer")
    assert found.lead.value == pytest.approx(rows["lucky"].held.value - rows["aqer"].held.value)
    assert found.lead.low < 0


def test_the_halves_share_no_question_and_the_table_has_both(crowds):
    found = tried(crowds, some("aqer", "f1"))
    assert [row.setting for row in found.table] == ["workers"] * 2 + ["workers-heldout"] * 2
    half = draw_choosing_half(12, 0)
    corpus = corpus_of(crowds)
    assert sorted(found.choice.questions) == sorted(corpus.labels[half].tolist())
    assert found.held == 6


def test_three_questions_are_too_few_to_part():
    found = tried(GradedCrowds.from_answers(of_nobody(24, 3)), some("aqer", "f1"))
    assert (found.verdict, found.held, found.choice) == ("small", 0, None)
    assert found.rows[0].full.value is not None
    assert found.rows[0].held.value is None


def test_four_workers_give_no_interval_and_no_verdict():
    found = tried(GradedCrowds.from_answers(of_workers(4, 24)), some("aqer", "f1"))
    assert (found.verdict, found.compared) == ("small", 4)
    assert found.rows[0].full.low is None


def test_workers_who_are_all_equally_good_cannot_tell_methods_apart():
    same = [replace(one, grade=float(int(one.question[1:]) % 2)) for one in of_workers(6, 12)]
    with pytest.raises(TooFewGradesError) as caught:
        tried(GradedCrowds.from_answers(same), some("aqer", "f1"))
    assert caught.value.message.code == "graded.no_spread"


def test_what_was_put_aside_is_not_computed_again(crowds):
    calls = []

    def counted(crowd):
        calls.append(1)
        return METHODS["f1"].score(crowd)

    aside = {}
    methods = [*some("aqer"), Method("f1", counted)]
    first = tried(crowds, methods, scores=aside)
    assert len(calls) == 3
    again = tried(crowds, methods, scores=aside)
    assert len(calls) == 3
    assert again.rows == first.rows


def test_progress_counts_every_method_on_every_part(crowds):
    told = []
    tried(crowds, some("aqer", "f1"), on_step=lambda done, total: told.append((done, total)))
    assert told == [(n, 6) for n in range(1, 7)]


def test_options_of_a_run_are_those_of_the_variant():
    assert find_run_options("aqer") == {}
    assert find_run_options("tfidf_char+discrimination") == {
        "embedder": "tfidf-char",
        "discrimination": "on",
    }
    assert find_run_options("hybrid") is None
    assert find_run_options("bleu4") is None
