"""The table of an entailment model: z-scores beside AQER, gains, and questions left out."""

import json

import numpy as np
import pytest

from evaluation.evidence.baselines import METHODS, WITH_ENTAILMENT, Corpus, UnavailableError
from evaluation.evidence.entailment.model_folder import digest_answer
from evaluation.evidence.entailment.table import (
    TRAINED,
    block_trained_model,
    build_entailment_rows,
    describe_differences_from_aqer,
    flag_untrained_questions,
)
from evaluation.evidence.labelled_crowd import Trial
from tests.evaluation.evidence.baselines import world

BY_NAME = {method.name: method for method in WITH_ENTAILMENT}


def probabilities(n, seed=5):
    return np.random.default_rng(seed).random(n)


def crowd(**more):
    of = world.random_corpus(3, **more)
    right = probabilities(len(of.texts))
    of.entails = lambda pairs: right[pairs[:, 1]]
    of.reference_entails = lambda rows: right[rows]
    of.contradicts = lambda pairs: 1 - right[pairs[:, 1]]
    rows = np.concatenate([members[:7] for members in of.members])
    return world.Crowd(of, rows, np.tile(np.arange(7), len(of.members))), right


def test_both_scores_count_alike_beside_each_other():
    here, right = crowd()
    aqer, entailed = METHODS["aqer"].score_answers(here), right[here.rows]
    wanted = sum((one - one.mean()) / one.std() for one in (aqer, entailed))
    for name in ("aqer+entailment", "aqer+entailment_reference"):
        np.testing.assert_allclose(BY_NAME[name].score_answers(here), wanted)
        means = [wanted[here.workers == worker].mean() for worker in range(7)]
        np.testing.assert_allclose(BY_NAME[name].score(here), means)


def test_equal_probabilities_leave_the_order_of_aqer():
    here, _ = crowd()
    here.corpus.entails = lambda pairs: np.full(len(pairs), 0.5)
    both, alone = (
        BY_NAME["aqer+entailment"].score_answers(here),
        METHODS["aqer"].score_answers(here),
    )
    assert np.corrcoef(both, alone)[0, 1] == pytest.approx(1)


def test_without_reference_answers_or_a_model_the_reason_is_named():
    here, _ = crowd()
    here.corpus.reference_entails = None
    with pytest.raises(UnavailableError, match="no_reference_answers"):
        BY_NAME["aqer+entailment_reference"].score(here)
    here.corpus.entails = None
    with pytest.raises(UnavailableError, match="no_nli_model"):
        BY_NAME["aqer+entailment"].score(here)


def test_gain_is_the_difference_of_both_correlations_and_auc_counts_pairs():
    here, right = crowd()
    truth = here.compute_worker_means(right[here.rows])
    higher, lower = right > 0.6, right < 0.4
    rows = build_entailment_rows("s", [Trial(here, truth)], right, (higher, lower), 0)
    found = {row.method: row for row in rows}
    # The truth is the mean probability itself.
    assert found["entailment"].agreement.value == pytest.approx(1)
    alone = np.corrcoef(METHODS["aqer"].score(here), truth)[0, 1]
    assert found["aqer"].agreement.value == pytest.approx(alone)
    assert found["entailment"].gain.difference == pytest.approx(1 - alone)
    assert found["aqer"].gain is None
    assert found["contradiction"].auc.value == 1
    assert found["aqer"].n_questions == 6
    assert f"{found['aqer+entailment'].gain.difference:+.3f}" in describe_differences_from_aqer(
        rows
    )


def test_a_question_of_the_training_is_left_out_and_refused_elsewhere(tmp_path):
    here, _ = crowd()
    corpus: Corpus = here.corpus
    trained = {
        digest_answer(text)
        for text, code in zip(corpus.texts, corpus.question, strict=True)
        if code == 2
    }
    (tmp_path / "training.json").write_text(json.dumps({"trained_answers": sorted(trained)}))
    untrained = flag_untrained_questions(corpus, str(tmp_path))
    assert np.flatnonzero(~untrained).tolist() == [2]
    refusing = world.Crowd(block_trained_model(corpus, untrained), here.rows, here.workers)
    with pytest.raises(UnavailableError, match=TRAINED):
        BY_NAME["aqer+entailment"].score(refusing)
    np.testing.assert_allclose(METHODS["aqer"].score(refusing), METHODS["aqer"].score(here))
    assert block_trained_model(corpus, np.ones(6, dtype=bool)) is corpus
