"""The demo exported from the database and from files: its scores are those of the run."""

import csv
import json

import pytest

from annotations import demo
from annotations.models import Response
from evaluation.models import AnswerFact, LLMAnswerScore, LLMScore
from evaluation.runs.imports import import_model_answers
from evaluation.scorer.run import ScorerOptions
from evaluation.scorer.runtime.scoring import CrowdScorer
from evaluation.scorer.storage import load_run_content
from evaluation.scorer.writing import build_export_files, write_export
from tests.evaluation.commands.running import called, manage
from tests.evaluation.fact_world import graded

FORMATS = "inspect,lm-eval,promptfoo"
EXACT = 1e-6
MODEL_ANSWERS = (
    *("llm_response__model__name", "llm_response__question__external_id"),
    *("llm_response__text", "score"),
)


def exported(folder, content):
    write_export(build_export_files(content, FORMATS.split(",")), folder)
    return CrowdScorer(folder / "crowd")


@pytest.mark.slow
@pytest.mark.model
def test_the_scores_of_a_run_and_of_its_export_are_the_same(tides, tmp_path):
    import_model_answers(tides, demo.MODEL_ANSWERS)
    run = graded(tides, embedder="minilm")
    scorer = exported(tmp_path / "tides", load_run_content(run, ScorerOptions("tides")))
    rows = list(LLMAnswerScore.objects.filter(run=run).values_list(*MODEL_ANSWERS))
    assert len(rows) == 64
    found = scorer.score_all([(question, text) for _, question, text, _ in rows])
    assert max(abs(one.similarity - row[3]) for one, row in zip(found, rows, strict=True)) < EXACT
    for name, score, percentile in LLMScore.objects.filter(run=run).values_list(
        "model__name", "score", "percentile"
    ):
        of_model = {row[1]: one for row, one in zip(rows, found, strict=True) if row[0] == name}
        total = scorer.summarise(of_model)
        assert total.similarity == pytest.approx(score, abs=EXACT)
        assert total.percentile == pytest.approx(percentile)
    contradicted = AnswerFact.objects.filter(
        run=run, verdict="contradicts", llm_response__isnull=False
    )
    expected = sorted(
        contradicted.values_list(
            "llm_response__model__name", "llm_response__question__external_id", "value"
        )
    )
    assert expected
    assert (
        sorted(
            (*row[:2], fact.value)
            for row, one in zip(rows, found, strict=True)
            for fact in one.contradicted
        )
        == expected
    )
    stored = b"".join(
        build_export_files(load_run_content(run, ScorerOptions("tides")), ["hf"]).values()
    )
    responses = Response.objects.filter(submission__version=run.version)
    texts = [text for text in responses.values_list("text", flat=True) if len(text) > 30]
    assert len(texts) > 100
    # Some workers of the demo copied sentences of the passages, which the export contains.
    passages = " ".join(run.version.passages.values_list("text", flat=True))
    assert not [text for text in texts if text.encode() in stored and text not in passages]
    with_answers = ScorerOptions("tides", with_answers=True, consent_basis="They agreed.")
    content = load_run_content(run, with_answers)
    (nearest,) = run.exemplary_answers.filter(question__external_id="tides-1").values_list(
        "nearest_response__text", flat=True
    )
    assert content.questions[0].consensus == nearest


@pytest.mark.slow
@pytest.mark.model
def test_a_folder_of_evaluate_aqer_is_exported_with_facts(tmp_path):
    out, target = tmp_path / "out", tmp_path / "tides"
    asked = ("--questions", demo.QUESTIONS)
    ran = manage(
        *("evaluate", "aqer", demo.ANSWERS, "--models", demo.MODEL_ANSWERS, *asked),
        *("--bootstrap", 0, "--output", out),
    )
    assert ran.code == 0, ran.err
    ran = manage(
        *("export_scorer", out, "--answers", demo.ANSWERS, *asked, "--passages", demo.PASSAGES),
        *("--format", FORMATS, "--name", "tides", "--output", target),
    )
    assert ran.code == 0, ran.err
    scorer = CrowdScorer(target / "crowd")
    with demo.MODEL_ANSWERS.open(newline="", encoding="utf-8") as file:
        texts = {(row["model"], row["question"]): row["answer"] for row in csv.DictReader(file)}
    with (out / "model_answers.csv").open(newline="", encoding="utf-8") as file:
        scores = {
            (row["model"], row["question"]): float(row["score"]) for row in csv.DictReader(file)
        }
    keys = list(scores)
    found = scorer.score_all([(key[1], texts[key]) for key in keys])
    differences = [abs(one.similarity - scores[key]) for one, key in zip(found, keys, strict=True)]
    assert (len(keys), max(differences) < EXACT) == (64, True)
    with (out / "answer_facts.csv").open(newline="", encoding="utf-8") as file:
        facts = [row for row in csv.DictReader(file) if row["kind"] == "model"]
    contradicted = [row for row in facts if row["verdict"] == "contradicts"]
    assert contradicted
    assert sum(len(one.contradicted) for one in found) == len(contradicted)
    first = next(iter(scorer.questions.values()))
    assert first.passage
    # Other answers than the graded ones have other facts.
    other = tmp_path / "other.csv"
    other.write_text(demo.ANSWERS.read_text("utf-8") + "Zoe,tides-1,The Moon.,\n", "utf-8")
    refused = manage("export_scorer", out, "--answers", other, "--dry-run", *asked)
    assert (refused.code, target.exists()) == (2, True)


def test_a_run_or_a_set_is_named_by_the_command(tides, tmp_path):
    run = graded(tides, embedder="tfidf-word")
    for source in (str(run.public_id), "tides"):
        refused = called("export_scorer", source, "--output", tmp_path / "x")
        assert refused.code == 2
        assert "tfidf-word" in refused.err
    assert called("export_scorer", "lakes", "--output", tmp_path / "x").code == 2
    assert called("export_scorer", "tides").code == 2
    assert list(tmp_path.iterdir()) == []


def test_a_folder_without_results_is_refused(tmp_path):
    (tmp_path / "summary.json").write_text("{}")
    refused = manage("export_scorer", tmp_path, "--dry-run", "--format", "inspect")
    assert (refused.code, "parameters" in refused.err) == (2, True)


def test_a_set_that_was_not_graded_has_no_scorer(tides):
    assert called("export_scorer", "tides", "--dry-run").code == 2


def test_json_of_the_words_is_sorted():
    from evaluation.grading.facts.texts.names import WordCounts
    from evaluation.scorer.runtime.facts import encode_words

    words = WordCounts()
    words.small.update(["b", "a"])
    assert json.dumps(encode_words(words)["small"]) == '{"a": 1, "b": 1}'
