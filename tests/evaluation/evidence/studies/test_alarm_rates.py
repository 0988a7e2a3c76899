"""The rates of the alarms: what is counted, and that the alarms keep what is promised of them."""

import numpy as np
import pytest

from evaluation.core.stats.simulation import build_correlated_weak_groups, build_honest_groups
from evaluation.evidence.corpus import CorpusVectors
from evaluation.evidence.data_sets import GradedAnswers
from evaluation.evidence.studies.alarm_rates import (
    HEADER,
    N_SETTINGS,
    RINGING,
    RaisedAlarms,
    StudentCrowds,
    _names_exactly,
    edit_lightly,
    inspect_simulated_crowd,
)
from tests.evaluation.commands.crowd import summary_of, table
from tests.evaluation.commands.running import manage


def test_a_simulated_crowd_is_told_by_the_numbers_of_its_workers():
    told = inspect_simulated_crowd(build_correlated_weak_groups(0.7), 10, seed=5)
    camps = [frozenset(range(10)), frozenset(range(10, 20))]
    assert "two_camps" in told.raised
    assert _names_exactly(told, "two_camps", camps)
    assert not _names_exactly(told, "two_camps", camps[:1])
    assert not _names_exactly(told, "copies", camps)


def test_notices_are_no_ring():
    notice = RaisedAlarms._from_triples(
        [("copies", "notice", map(int, "12")), ("dont_know", "notice", map(int, "3"))]
    )
    assert (notice.raised, notice.partly_copied) == (frozenset(), True)


def test_a_light_edit_changes_a_text_a_little():
    rng = np.random.default_rng(0)
    text = "a stack gives out first what was put on it last and a queue what came first"
    edited = [edit_lightly(text, rng) for _ in range(20)]
    assert all(one != text for one in edited)
    words = set(text.split())
    assert all(len(words & set(one.lower().split())) >= len(words) - 3 for one in edited)
    assert edit_lightly("", rng) in {"", "I think"}


def corpus(n_questions=12, answers=20):
    """Answers of six of ten words of a question each, and what an expert gave them."""
    rng = np.random.default_rng(1)
    texts, questions = [], []
    for question in range(n_questions):
        words = [f"q{question}word{letter}" for letter in "abcdefghij"]
        for answer in range(answers):
            own = f"answer{question}of{answer}"
            texts.append(" ".join([*rng.choice(words, 6, replace=False), own]))
            questions.append(f"q{question}")
    return GradedAnswers(texts, np.array(questions), rng.uniform(0, 5, len(texts)))


@pytest.mark.parametrize("edited", [False, True], ids=["pasted", "edited"])
@pytest.mark.parametrize("embedder", ["tfidf-char", "tfidf-word", "bow"])
@pytest.mark.long
def test_copies_are_found_among_vectors_that_count_words_too(embedder, edited):
    answers = corpus()
    dealer = StudentCrowds(answers, CorpusVectors(answers.texts), embedder)
    for seed in range(3):
        told, groups = dealer.inspect_copying_crowd(10, 12, edited, seed)
        assert told.groups["copies"] == groups
        assert len(groups[0]) == 4
    told, groups = dealer.inspect_honest_crowd(10, 12, 0)
    assert ("copies" in told.raised, groups) == (False, [])


@pytest.mark.parametrize("embedder", ["tfidf-char", "bow"])
def test_further_texts_stand_in_the_space_that_the_corpus_taught(embedder):
    texts = corpus().texts
    vectors = CorpusVectors(texts)
    again = vectors.embed_further_texts(embedder, [texts[7], "nothing of it", texts[3]])
    rows = vectors.embed_texts(embedder)
    assert again.shape == (3, rows.shape[1])
    np.testing.assert_array_equal(again[[0, 2]].toarray(), rows[[7, 3]].toarray())


@pytest.mark.long
def test_simulated_weak_workers_who_err_together_ring_in_nineteen_of_twenty_runs():
    for share in (0.5, 0.7):
        for rho in (0.7, 0.8, 0.9):
            rang = [
                bool(
                    inspect_simulated_crowd(
                        build_correlated_weak_groups(rho, share), 10, 5000 + s
                    ).raised
                )
                for s in range(40)
            ]
            assert np.mean(rang) >= 0.95


@pytest.mark.long
def test_simulated_honest_crowds_ring_in_one_of_twenty_at_most():
    rang = [
        bool(inspect_simulated_crowd(build_honest_groups(m), n, 6000 + seed).raised)
        for m in (12, 20, 30, 60)
        for n in (10, 25)
        for seed in range(20)
    ]
    assert np.mean(rang) <= 0.05


@pytest.mark.long
@pytest.mark.data
@pytest.mark.model
def test_copies_are_named_exactly_and_dealt_and_real_crowds_are_silent(data_folder, tmp_path):
    output = tmp_path / "out"
    ran = manage(
        *("reproduce", "alarms", "--data", data_folder, "--output", output),
        *("--repetitions=3", "--seed=7000"),
    )
    assert (ran.code, ran.err) == (0, "")
    rows = {row["setting"]: row for row in table(output / "table.csv")}
    assert len(rows) == N_SETTINGS + 4
    assert list(rows["honest, all"]) == list(HEADER)
    assert float(rows["honest, all"]["any"]) <= 0.05
    for name, row in rows.items():
        assert float(row["any"]) <= sum(float(row[kind]) for kind in RINGING)
        if name.startswith("four"):
            assert float(row["found_exactly"]) == 1.0
    assert summary_of(output)["seeds"] == [8000, 8002]
