"""Scores of answers by an exported consensus, computed by hand."""

import json

import numpy as np
import pytest

from evaluation.scorer.runtime.scoring import (
    CrowdScorer,
    ScorerError,
    UnknownQuestionError,
    load_scorer,
)
from evaluation.scorer.writing import build_export_files, write_export
from tests.evaluation.scorer.world import EMBEDDER, Words, content, question


def export(folder, found=None):
    write_export(build_export_files(found or content(), ["inspect"]), folder / "rivers")
    return folder / "rivers"


def load(folder):
    scorer = CrowdScorer(folder / "crowd")
    scorer.__dict__["_embedder"] = Words()
    return scorer


@pytest.fixture
def rivers(tmp_path):
    return load(export(tmp_path))


def test_similarity_and_percentile_by_hand(rivers):
    # (3, 4) against (1, 0): .6, which ties with the sixth of ten scores: 100 (5 + .5) / 10.
    found = rivers.score("r1", "north")
    assert found.similarity == pytest.approx(0.6)
    assert found.percentile == pytest.approx(55)
    # The length of the exemplary answer does not matter: (3, 4) against (0, 2) is .8.
    assert rivers.score("r2", "north").similarity == pytest.approx(0.8)


def test_an_empty_answer_has_the_lowest_score_and_no_place_for_its_model(rivers):
    for empty in ("", "  \n", "<think>north</think>"):
        found = rivers.score("r1", empty)
        assert (found.similarity, found.percentile, found.reason) == (-0.125, 0.0, "no_text")
    scores = {"r1": rivers.score("r1", "north"), "r2": found}
    assert rivers.summarise(scores).percentile is None
    assert rivers.summarise(scores).similarity == pytest.approx((0.6 - 0.125) / 2)


def test_thinking_is_no_part_of_an_answer(rivers):
    assert rivers.score("r1", "<think>south</think>north").similarity == pytest.approx(0.6)


def test_a_vector_of_zeros_has_similarity_0(rivers):
    assert rivers.score("r1", "nothing").similarity == 0


def test_a_model_has_a_place_among_people_only_on_all_questions(tmp_path, rivers):
    # The mean of .6 and .8 is .7, the seventh of ten raw scores.
    both = {name: rivers.score(name, "north") for name in ("r1", "r2")}
    assert rivers.summarise(both).percentile == pytest.approx(65)
    assert rivers.find_percentile({"r1": 0.6}) is None
    left_out = export(tmp_path / "b", content(left_out={"few_answers": 1}))
    assert load(left_out).find_percentile({"r1": 0.6, "r2": 0.8}) is None


def test_below_ten_people_there_is_no_percentile(tmp_path):
    few = content(question("r1", (1, 0), worker_scores=[0.1] * 9), worker_scores=[0.1] * 9)
    scorer = load(export(tmp_path, few))
    assert scorer.score("r1", "north").percentile is None
    assert scorer.find_percentile({"r1": 0.6}) is None


def test_an_unknown_question_is_refused(rivers):
    with pytest.raises(UnknownQuestionError, match="r9"):
        rivers.score("r9", "north")


def test_another_folder_or_format_is_refused(tmp_path):
    with pytest.raises(ScorerError):
        load_scorer(tmp_path)
    settings = export(tmp_path) / "crowd" / "scorer.json"
    settings.write_text(settings.read_text().replace('"format": 1', '"format": 2'))
    with pytest.raises(ScorerError, match="format 2"):
        CrowdScorer(settings.parent)


def test_an_export_with_other_code_is_refused(tmp_path, monkeypatch):
    folder = export(tmp_path)
    code = json.loads((folder / "crowd" / "scorer.json").read_text())["code"]
    assert f'CODE = "{code}"' in (folder / "crowd_scorer" / "__init__.py").read_text()
    monkeypatch.setattr("evaluation.CODE", "other", raising=False)
    with pytest.raises(ScorerError):
        CrowdScorer(folder / "crowd")


def test_another_embedder_than_the_recorded_one_is_refused(tmp_path, monkeypatch):
    class Other(Words):
        def describe(self):
            from evaluation.core.backends.embedding.contract import EmbedderInfo

            return EmbedderInfo("minilm", "x", "other", "float32", 2, 256)

    monkeypatch.setattr(
        "evaluation.core.backends.embedding.sentences.load_minilm", lambda precision: Other()
    )
    scorer = CrowdScorer(export(tmp_path) / "crowd")
    with pytest.raises(ScorerError, match="revision other"):
        scorer.score("r1", "north")
    assert EMBEDDER["revision"] == "53aa51172d14"


def test_the_vectors_are_those_of_the_run(tmp_path):
    folder = export(tmp_path)
    assert np.load(folder / "crowd" / "vectors.npy").tolist() == [[1, 0], [0, 2]]
