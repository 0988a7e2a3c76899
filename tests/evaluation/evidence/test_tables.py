import math

import numpy as np
import pytest

from annotations.exchange import OutputFolder
from evaluation.evidence.corpus import CorpusVectors
from evaluation.evidence.data_sets import CROWD, GradedAnswers, Translations, assign_answers
from evaluation.evidence.studies.real_crowds import compute_gleu_to_truth, split_words
from evaluation.evidence.tables import Correlations, build_study_table, write_evidence
from evaluation.grading.crowd import EmptyCellReasons
from evaluation.grading.files.tables import write_exemplars


def corpus(n_questions=3, n_answers=24):
    rng = np.random.default_rng(3)
    n = n_questions * n_answers
    return GradedAnswers(
        texts=[f"answer {i}" for i in range(n)],
        questions=np.repeat([f"q{j}" for j in range(n_questions)], n_answers),
        grades=rng.integers(0, 6, n).astype(float),
    )


@pytest.mark.parametrize("tier", [2, 4])
def test_workers_are_dealt_the_best_answers_tier_by_tier(tier):
    graded = corpus()
    dealt = assign_answers(graded, tier, seed=1)
    for question in np.unique(graded.questions):
        mine = graded.questions[dealt.rows] == question
        assert sorted(dealt.workers[mine]) == list(range(CROWD))
        by_worker = graded.grades[dealt.rows[mine]][np.argsort(dealt.workers[mine])]
        best = np.sort(graded.grades[graded.questions == question])[::-1][:CROWD]
        # Within a tier the order is random, between tiers it is that of the grades.
        tiers = by_worker.reshape(-1, tier)
        np.testing.assert_array_equal(np.sort(tiers)[:, ::-1].ravel(), best)
    assert len(set(dealt.rows.tolist())) == len(dealt.rows)


def test_noise_moves_answers_between_tiers_and_not_the_truth():
    graded = corpus()
    plain, noisy = assign_answers(graded, 2, 7), assign_answers(graded, 2, 7, noise=1.0)
    rank = {row: at for at, row in enumerate(plain.rows.tolist())}
    moved = [abs(rank[row] - at) for at, row in enumerate(noisy.rows.tolist()) if row in rank]
    assert max(moved) > 2
    mine = noisy.rows[noisy.workers == 3]
    assert noisy.compute_true_grades(graded.grades)[3] == pytest.approx(graded.grades[mine].mean())


def test_dealing_is_seeded_and_ties_fall_differently_with_another_seed():
    graded = corpus()
    np.testing.assert_array_equal(
        assign_answers(graded, 2, 7).rows, assign_answers(graded, 2, 7).rows
    )
    assert (assign_answers(graded, 2, 7).rows != assign_answers(graded, 2, 8).rows).any()


def test_a_workers_truth_is_the_mean_grade_of_what_it_was_dealt():
    graded = corpus(n_questions=2, n_answers=20)
    dealt = assign_answers(graded, 2, seed=0)
    first = graded.grades[dealt.rows[dealt.workers == 0]]
    assert dealt.compute_true_grades(graded.grades)[0] == pytest.approx(first.mean())


def test_words_are_lower_case_and_punctuation_parts_them():
    assert split_words("Let's go, NOW!") == ["let", "s", "go", "now"]


def test_gleu_counts_ngrams_of_one_to_four_words():
    texts = ["The cat sat.", "the dog", "nothing alike here"]
    found = compute_gleu_to_truth(
        Translations(
            workers=np.array(["a", "b", "c"]),
            sentences=np.array(["s"] * 3),
            texts=texts,
            truth={"s": "the cat sat"},
        )
    )
    # "the cat sat" has 3 + 2 + 1 n-grams; "the dog" shares "the" of its 2 + 1: 1 / max(3, 6).
    assert found.tolist() == pytest.approx([1.0, 1 / 6, 0.0])


def test_agreement_gives_mean_and_spread_over_repetitions():
    found = Correlations.build_empty()
    found.add_repetition([1, 2, 3], [1, 2, 3])
    assert found.build_row("s", "m").pearson_sd is None
    found.add_repetition([1, 2, 3], [1, 3, 2])
    row = found.build_row("s", "m")
    # Correlations 1 and 1/2: mean 3/4, standard deviation sqrt(2 x (1/4)^2).
    assert row.pearson_mean == pytest.approx(0.75)
    assert row.pearson_sd == pytest.approx(math.sqrt(2) / 4)
    assert row.spearman_mean == pytest.approx(0.75)
    assert row.repetitions == 2


def test_evidence_is_written_with_the_reasons_for_its_gaps(tmp_path):
    found = Correlations.build_empty()
    found.add_repetition([1, 2, 4], [1, 2, 3])
    rows = [found.build_row("10x2", "aqer")]
    with OutputFolder(tmp_path / "out") as folder:
        write_evidence(folder, rows, {"study": "s"})
    assert (tmp_path / "out/table.csv").read_text().splitlines()[1].startswith("10x2,aqer,0.98")
    assert "| 10x2 | aqer | 0.982 |  | 1.000 | 1 |  |  |" in (tmp_path / "out/table.md").read_text()
    assert '"single_repetition"' in (tmp_path / "out/summary.json").read_text()
    assert build_study_table(rows).rows[0][:2] == ("10x2", "aqer")


def test_vectors_are_made_once_for_each_embedder():
    vectors = CorpusVectors(["one two", "two three"])
    assert vectors.embed_texts("bow") is vectors.embed_texts("bow")
    assert vectors.embed_texts("bow").shape == (2, 3)
    assert vectors.describe()["bow"]["precision"] == "float64"


def test_undefined_counts_everything_and_names_the_first_thousand():
    undefined = EmptyCellReasons()
    for row in range(1500):
        assert undefined.convert_number(math.nan, "a.csv", "x", row, "why") is None
    assert undefined.convert_number(0.5, "a.csv", "x", 0, "why") == 0.5
    (entry,) = undefined.list_reasons()
    assert (entry["count"], entry["rows"]) == (1500, list(range(1000)))


def test_exemplars_are_read_by_numpy_without_pickle(tmp_path, monkeypatch):
    monkeypatch.setattr("evaluation.grading.files.tables.PART", 4)  # several parts
    vectors = np.arange(15, dtype=np.float64).reshape(5, 3)
    with (tmp_path / "x.npz").open("wb") as file:
        write_exemplars(file, ["q1", "ü", "", "q" * 50, "5"], vectors, np.dtype(np.float32))
    with np.load(tmp_path / "x.npz", allow_pickle=False) as found:
        assert found["questions"].tolist() == ["q1", "ü", "", "q" * 50, "5"]
        assert found["vectors"].dtype == np.float32
        np.testing.assert_array_equal(found["vectors"], vectors)
