"""The estimators have crowd-kit's interface, and agree with other code on the same vectors."""

from dataclasses import fields

import numpy as np
import pandas as pd
import pytest

import crowdgrade
from crowdgrade.estimators import AQER
from evaluation import consensus

METHODS = ("fit", "fit_predict", "fit_predict_scores")


def build_data(n_workers: int = 7, n_tasks: int = 9, seed: int = 5) -> pd.DataFrame:
    """Answers that scatter around a vector of their task, more so for later workers."""
    rng = np.random.default_rng(seed)
    rows = [
        (f"t{task}", f"w{worker}", f"answer {task} {worker}", center + rng.normal(0, worker / 9, 6))
        for task in range(n_tasks)
        for center in [rng.normal(size=6)]
        for worker in range(n_workers)
    ]
    data = pd.DataFrame(rows, columns=["task", "worker", "output", "embedding"])
    return data.sample(frac=0.8, random_state=seed)


@pytest.mark.medium
def test_the_interface_is_that_of_rasa_and_hrrasa() -> None:
    aggregation = pytest.importorskip("crowdkit.aggregation")
    data = build_data()
    ours = AQER(max_iterations=20)
    for theirs in (aggregation.RASA(), aggregation.HRRASA()):
        for method in METHODS:
            found, expected = getattr(ours, method)(data), getattr(theirs, method)(data.copy())
            if method == "fit":
                assert (found is ours, expected is theirs) == (True, True)
                continue
            assert isinstance(found, type(expected))
            assert found.index.name == expected.index.name == "task"
            assert set(found.columns) == set(expected.columns)
            assert sorted(found.index) == sorted(expected.index)
        # Who scatters less has the higher reliability under all three.
        skills = theirs.skills_.reindex(ours.skills_.index)
        assert ours.skills_.corr(skills, method="spearman") > 0.8
        same = ours.embeddings_and_outputs_["output"] == theirs.embeddings_and_outputs_["output"]
        assert same.mean() > 0.5


def test_the_nearest_output_is_crowd_kits_closest_to_the_same_average() -> None:
    """With our exemplary answers, crowd-kit chooses the same outputs by the same distances."""
    aggregation = pytest.importorskip("crowdkit.aggregation")
    data = build_data()
    ours = AQER().fit(data)
    theirs = aggregation.ClosestToAverage(aggregation.RASA._cosine_distance)
    theirs.fit(data.copy(), aggregated_embeddings=ours.aggregated_embeddings_)
    pd.testing.assert_series_equal(
        ours.embeddings_and_outputs_["output"], theirs.embeddings_and_outputs_["output"]
    )
    np.testing.assert_allclose(
        ours.scores_["score"].to_numpy(), theirs.scores_["score"].to_numpy(), atol=1e-9
    )


def test_the_numbers_are_those_of_the_estimator_on_vectors() -> None:
    data = build_data()
    ours = AQER(leave_one_out=True, n_draws=20, seed=3).fit(data)
    plain = consensus.AQER(leave_one_out=True, n_draws=20, seed=3).fit(
        np.stack(data["embedding"]), data["worker"].tolist(), data["task"].tolist()
    )
    assert ours.grades_.to_dict() == dict(zip(plain.workers_.tolist(), plain.grades_, strict=True))
    np.testing.assert_array_equal(ours.estimator_.grade_low_, plain.grade_low_)


def test_outputs_without_embeddings_are_embedded() -> None:
    data = build_data().drop(columns="embedding").assign(output="the same words")
    ours = AQER(embedder="tfidf-word").fit(data)
    np.testing.assert_allclose(ours.scores_["score"], 0, atol=1e-12)


def test_the_constructor_only_stores_and_labels_keep_their_type() -> None:
    assert {one.name for one in fields(AQER) if one.init} == {
        *("embedder", "leave_one_out", "difficulty", "discrimination"),
        *("max_iterations", "tolerance", "n_draws", "seed"),
    }
    data = build_data()
    data["task"] = data["task"].str.removeprefix("t").astype(int)
    assert AQER().fit(data).embeddings_and_outputs_.index.tolist() == list(range(9))


@pytest.mark.parametrize(
    ("change", "problems"),
    [
        (lambda data: data.drop(columns="worker"), [(None, "column_missing")]),
        (lambda data: data[:0], [(None, "no_rows")]),
        (lambda data: data.to_numpy(), [(None, "type_unknown")]),
        (
            lambda data: data.assign(other=1).set_axis([*data.columns, "output"], axis=1),
            [(None, "column_twice")],
        ),
        (lambda data: data.assign(task=[None, *data["task"][1:]]), [(0, "id_missing")]),
        (
            lambda data: data.assign(embedding=[*data["embedding"][:-1], np.ones(2)]),
            [(len(build_data()) - 1, "embedding_shape")],
        ),
    ],
)
def test_unusable_data_is_refused_by_row_and_code(change, problems) -> None:
    with pytest.raises(crowdgrade.InputError) as caught:
        AQER().fit(change(build_data()))
    assert [(problem.row, problem.code) for problem in caught.value.problems] == problems
