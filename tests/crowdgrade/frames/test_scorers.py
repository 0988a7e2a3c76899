"""Results exported as a scorer from Python."""

import json

import pandas as pd
import pytest

import crowdgrade
from annotations import demo
from evaluation.scorer.run import NotExportableError

QUESTIONS = pd.read_json(demo.QUESTIONS, lines=True)


@pytest.fixture(scope="module")
def answers():
    return pd.read_csv(demo.ANSWERS, dtype=str, keep_default_na=False)


def test_another_embedder_and_another_result_cannot_be_exported(tmp_path, answers):
    result = crowdgrade.grade(answers, embedder="tfidf-word", bootstrap=0)
    with pytest.raises(NotExportableError) as refused:
        result.export_scorer(tmp_path / "tides", questions=QUESTIONS)
    assert refused.value.code == "embedder_not_exportable"
    with pytest.raises(NotExportableError) as refused:
        result.export_scorer(tmp_path / "tides", formats=["weka"])
    assert refused.value.code == "format_unknown"
    assert list(tmp_path.iterdir()) == []
    result.function = "plan"
    with pytest.raises(TypeError):
        result.export_scorer(tmp_path / "tides")


@pytest.mark.slow
@pytest.mark.model
def test_a_dataframe_is_graded_and_exported_with_facts(tmp_path, answers):
    renamed = answers.rename(columns={"worker": "who"})
    result = crowdgrade.grade(renamed, worker="who", questions=QUESTIONS, bootstrap=0)
    preview = result.export_scorer(
        tmp_path / "tides",
        answers=renamed,
        questions=QUESTIONS,
        columns={"worker": "who"},
        name="tides",
        licence="CC-BY-4.0",
        languages=["en"],
    )
    assert (preview.questions, preview.facts_reason, preview.answers) == (16, "", 0)
    assert preview.fact_questions > 0
    settings = json.loads((tmp_path / "tides" / "crowd" / "scorer.json").read_text())
    assert settings["signature"] == result.signature
    plain = result.export_scorer(tmp_path / "plain", questions=QUESTIONS)
    assert plain.facts_reason == "no_answers_file"
