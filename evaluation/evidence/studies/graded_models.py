"""Measure how well scores of language models agree with experts' grades of their answers.

The models' answers are scored against the exemplary answers of M workers, drawn at random from the
crowd in each repetition, by AQER and by the baselines. The truth is each model's mean expert grade.
Scores and grades are over the same answers: those that experts graded. Source: section 6.2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from annotations.exchange import (
    AnswerStatus,
    InputError,
    OutputFolder,
    read_answer_grades,
    read_model_answers,
)
from annotations.exchange.reading.answers import DEFAULT_COLUMNS
from annotations.exchange.reading.duplicates import Duplicates
from evaluation.consensus.inputs import Progress
from evaluation.consensus.signatures import collect_versions, combine_hashes
from evaluation.core.charts.chart import Chart, Series, draw_lines
from evaluation.core.stats.cells import Floats, Integers
from evaluation.evidence.baselines import Corpus, Crowd, list_methods
from evaluation.evidence.corpus import CorpusVectors, build_corpus
from evaluation.evidence.labelled_crowd import (
    FEWEST_WORKERS,
    MethodScores,
    Trial,
    build_rows,
    find_best_baselines,
    score_trials,
)
from evaluation.evidence.tables import (
    EvidenceRow,
    Request,
    StudyTable,
    build_study_table,
    write_evidence,
    write_table,
)
from evaluation.runs.files.answers import AS_TYPED, read_worker_answers
from evaluation.runs.files.metrics import refuse_to_replace_inputs

FILES = ("table.csv", "models.csv", "summary.json")
# Workers who vote, as in the paper.
VOTERS = (5, 10, 15, 25)
MODELS_HEADER = ("setting", "method", "model", "score_mean", "score_sd", "grade", "n")


@dataclass(frozen=True)
class GradedModels:
    """Workers' answers and graded answers of models, as texts of one corpus.

    Attributes
    ----------
    texts, questions : (R,) answers and ids of their questions; the models' answers come first.
    owners : (R,) code of the model or, after all models, of the worker.
    models : names of the K models. grades : (K,) mean expert grade of the `n` graded answers.
    n_workers : number of workers. left_out : number of answers left out, by reason.
    """

    texts: list[str]
    questions: list[str]
    owners: Integers
    models: list[str]
    grades: Floats
    n: list[int]
    n_workers: int
    left_out: Mapping[str, int]
    hashes: Sequence[str]


def load_graded_models(request: Request) -> GradedModels:
    """Read the three files of a study of graded models.

    Left out and counted: answers without a text, rejected answers, models' answers that nobody
    graded, and graded ones to questions that no worker answered. Raises `InputError`.
    """
    assert request.file is not None
    assert request.models is not None
    assert request.judgements is not None
    answers = read_worker_answers(request.file, DEFAULT_COLUMNS, Duplicates.FIRST, **AS_TYPED)
    replies = read_model_answers(request.models)
    judged = read_answer_grades(request.judgements)
    means = {(model, question): grade for (_, model, question), grade in judged.means().items()}
    left_out = {"unanswered": 0, "rejected": 0, "not_graded": 0, "no_worker": 0}
    by_worker: list[tuple[str, str, str]] = []
    for record in answers.records:
        if record.is_rejected or not record.text:
            left_out["rejected" if record.is_rejected else "unanswered"] += 1
        else:
            by_worker.append((record.worker, record.question, record.text))
    answered = {question for _, question, _ in by_worker}
    by_model: dict[tuple[str, str], str] = {}
    for reply in replies.records:
        key = (reply.model, reply.question)
        # Of several replies of a model to a question the first one counts.
        if key in by_model:
            continue
        if reply.status is not AnswerStatus.TEXT:
            left_out["unanswered"] += 1
        elif key not in means:
            left_out["not_graded"] += 1
        elif reply.question not in answered:
            left_out["no_worker"] += 1
        else:
            by_model[key] = reply.text
    models = list(dict.fromkeys(model for model, _ in by_model))
    if len(models) < FEWEST_WORKERS:
        raise InputError.single(
            judged.name,
            f"experts graded answers of {len(models)} of the models in {replies.name}",
            f"A correlation needs {FEWEST_WORKERS} models: name the models as {replies.name} does.",
        )
    workers = list(dict.fromkeys(worker for worker, _, _ in by_worker))
    codes = {name: code for code, name in enumerate(models)}
    worker_codes = {name: len(models) + code for code, name in enumerate(workers)}
    grades = [[means[key] for key in by_model if key[0] == model] for model in models]
    return GradedModels(
        [*by_model.values(), *(text for _, _, text in by_worker)],
        [*(question for _, question in by_model), *(question for _, question, _ in by_worker)],
        np.array(
            [codes[model] for model, _ in by_model]
            + [worker_codes[worker] for worker, _, _ in by_worker],
            dtype=np.int64,
        ),
        models,
        np.array([np.mean(own) for own in grades]),
        [len(own) for own in grades],
        len(workers),
        left_out,
        (answers.sha256, replies.sha256, judged.sha256),
    )


def reproduce_graded_models(request: Request, progress: Progress | None = None) -> StudyTable:
    """Write and return the study's table; setting M=n has n voting workers of the crowd.

    Numbers of workers beyond the crowd's are left out; the whole crowd is the last setting.
    models.csv has each model's mean score by each method. Raises `InputError`, `BackendError`.
    """
    graded_models = load_graded_models(request)
    refuse_to_replace_inputs(
        request.output, FILES, (request.file, request.models, request.judgements)
    )
    methods = list_methods(core=request.core)
    sizes = [*(size for size in VOTERS if size < graded_models.n_workers), graded_models.n_workers]
    with OutputFolder(request.output) as folder:
        vectors = CorpusVectors(graded_models.texts, progress)
        corpus, _ = build_corpus(
            graded_models.texts, graded_models.questions, vectors, request, progress
        )
        rows: list[EvidenceRow] = []
        model_rows: list[tuple[object, ...]] = []
        done, total = 0, len(sizes) * len(methods)
        for size in sizes:
            trials = [draw_trial(graded_models, corpus, size, seed) for seed in request.seeds]
            scored = []
            for method in methods:
                scored.append(_keep_models(score_trials(trials, method), len(graded_models.models)))
                done += 1
                if progress is not None:
                    progress("methods", done, total)
            truth = np.array([trial.truth for trial in trials])
            setting = f"M={size}"
            rows += build_rows(setting, scored, truth, request.seed)
            model_rows += _build_model_rows(setting, scored, graded_models)
        write_table(folder, "models", MODELS_HEADER, model_rows)
        write_evidence(
            folder,
            rows,
            {
                "study": "graded-models",
                "models": graded_models.models,
                "workers": graded_models.n_workers,
                "graded_answers": sum(graded_models.n),
                "left_out": graded_models.left_out,
                "repetitions": request.repetitions,
                "seeds": [request.seeds.start, request.seeds.stop - 1],
                "best_baseline": find_best_baselines(rows),
                "embedders": vectors.describe(),
                "input_hash": combine_hashes(graded_models.hashes),
                "versions": collect_versions(),
            },
            [_draw_chart(rows, sizes)],
        )
    return build_study_table(rows)


def draw_trial(graded_models: GradedModels, corpus: Corpus, size: int, seed: int) -> Trial:
    """Return a crowd of `size` random workers who vote and all models, who do not.

    The models have the codes 0..K-1. The truth is their grades.
    """
    n_models = len(graded_models.models)
    rng = np.random.default_rng([seed, size])
    voters = n_models + np.sort(rng.choice(graded_models.n_workers, size, replace=False))
    members = np.concatenate([np.arange(n_models), voters])
    code = np.full(n_models + graded_models.n_workers, -1)
    code[members] = np.arange(len(members))
    rows = np.flatnonzero(code[graded_models.owners] >= 0)
    voting = np.arange(len(members)) >= n_models
    crowd = Crowd(corpus, rows, code[graded_models.owners[rows]], voting, seed)
    return Trial(crowd, graded_models.grades)


def _keep_models(scored: MethodScores, n_models: int) -> MethodScores:
    """Return the method's scores of the models alone, without those of the workers."""
    scores = scored.scores
    return replace(scored, scores=None if scores is None else scores[:, :n_models])


def _build_model_rows(
    setting: str, scored: Sequence[MethodScores], graded_models: GradedModels
) -> list[tuple[object, ...]]:
    """Return a row for each method and model: mean score over the repetitions, and its grade."""
    rows: list[tuple[object, ...]] = []
    for method_scores in scored:
        if method_scores.scores is None:
            continue
        for code, model in enumerate(graded_models.models):
            own = method_scores.scores[:, code]
            known = own[~np.isnan(own)]
            mean = float(known.mean()) if len(known) else None
            spread = float(known.std(ddof=1)) if len(known) > 1 else None
            grade = float(graded_models.grades[code])
            rows.append(
                (
                    setting,
                    method_scores.method.name,
                    model,
                    mean,
                    spread,
                    grade,
                    graded_models.n[code],
                )
            )
    return rows


def _draw_chart(rows: Sequence[EvidenceRow], sizes: Sequence[int]) -> Chart:
    """Return the chart of correlations by number of voting workers, a line for each method."""
    found = {(row.setting, row.method): row.cells()[2] for row in rows}
    names = dict.fromkeys(row.method for row in rows)

    def find_points(method: str) -> list[tuple[float, float | None]]:
        means = [found[f"M={size}", method] for size in sizes]
        return [
            (size, mean if isinstance(mean, float) else None)
            for size, mean in zip(sizes, means, strict=True)
        ]

    charted = [name for name in ("aqer", "leave_one_out", "tfidf_char", "bleu4") if name in names]
    return draw_lines(
        name="graded_models",
        title="Agreement of models' scores with experts by the number of workers",
        explanation="Mean correlation of the models' scores with their mean expert grades.",
        axes=("voting workers M", "Pearson's r"),
        series=[Series(method, find_points(method)) for method in charted],
    )
