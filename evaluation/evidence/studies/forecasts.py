"""Compare the planner's forecasts from one half of real answers with the other half.

Consensus: the answers to each question are halved at random. From the first half alone follows how
far its mean is expected to be from the mean of the second: if errors are independent, the cosine of
two means is the product of their likenesses to the truth. What is compared is the mean of the
answers, all weighing alike. Widths: AQER grades half of the questions; the middle width of the
workers' intervals is forecast for all questions, and seen there.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from annotations.exchange import OutputFolder
from evaluation.consensus import AQER
from evaluation.consensus.signatures import collect_versions, combine_hashes, hash_file
from evaluation.consensus.vectors import Progress
from evaluation.core.stats.cells import Floats
from evaluation.core.stats.planner import compute_error, estimate_similarity_to_truth, predict_width
from evaluation.evidence.corpus import CorpusVectors
from evaluation.evidence.data_sets import (
    BEETLE,
    MOHLER,
    list_crowdwsa_files,
    load_beetle,
    load_crowdwsa,
    load_mohler,
)
from evaluation.evidence.request import Request, StudyTable
from evaluation.evidence.tables import write_table

HEADER = (
    *("data_set", "what", "forecast_from", "seen_on", "forecast", "seen", "ratio", "ratio_95"),
    "repetitions",
)
# Fewest answers to a question: each half needs two, or nobody knows how far apart they are.
FEWEST = 6
REASONS = {"ratio_95": "one_number_a_repetition"}
Codes = NDArray[np.generic]


def reproduce_forecasts(request: Request, progress: Progress | None = None) -> StudyTable:
    """Write and return forecasts.csv: one row per data set and forecast.

    `forecast` and `seen` are means over repetitions (and questions), `ratio` is seen / forecast,
    `ratio_95` what 95 of 100 questions stay below. Raises `InputError` and `BackendError`.
    """
    mohler, beetle = load_mohler(request.data), load_beetle(request.data)
    crowds = {name: load_crowdwsa(request.data, name) for name in ("T1", "T2")}
    data: list[tuple[str, Sequence[str], Codes, Codes | None]] = [
        ("mohler2011", mohler.texts, mohler.questions, None),
        ("beetle2013", beetle.texts, beetle.questions, beetle.workers),
        *(
            (f"crowdwsa2019 {name}", found.texts, found.sentences, found.workers)
            for name, found in crowds.items()
        ),
    ]
    rows: list[tuple[object, ...]] = []
    with OutputFolder(request.output) as folder:
        for at, (name, texts, questions, workers) in enumerate(data):
            vectors = np.asarray(
                CorpusVectors(texts, progress).embed_texts(request.embedder), dtype=float
            )
            rows.append((name, "consensus", *_forecast_consensus(vectors, questions, request)))
            if workers is not None:
                rows.append(
                    (name, "width", *_forecast_widths(vectors, questions, workers, request))
                )
            if progress is not None:
                progress("forecasts", at + 1, len(data))
        write_table(folder, "forecasts", HEADER, rows)
        files = [MOHLER, BEETLE, *(path for name in crowds for path in list_crowdwsa_files(name))]
        folder.write_json(
            "summary.json",
            {
                "study": "forecasts",
                "embedder": request.embedder,
                "seeds": [request.seeds.start, request.seeds.stop - 1],
                "undefined": [
                    {
                        "file": "forecasts.csv",
                        "column": column,
                        "reason": reason,
                        "count": len(empty),
                        "rows": empty,
                    }
                    for column, reason in REASONS.items()
                    if (empty := [list(row[:2]) for row in rows if row[7] is None])
                ],
                "input_hash": combine_hashes([hash_file(request.data / name) for name in files]),
                "versions": collect_versions(),
            },
        )
    return StudyTable(HEADER, rows)


def measure_halves(
    vectors: Floats, questions: Codes, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Return the forecast and the observed distance of the two halves' means, per question.

    Parameters
    ----------
    vectors : (N, d) of the answers. questions : (N,) labels.
    """
    unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    forecast, seen = [], []
    for label in np.unique(questions):
        answers = unit[questions == label]
        if len(answers) < FEWEST:
            continue
        order = rng.permutation(len(answers))
        half = len(order) // 2
        first, second = answers[order[:half]], answers[order[half:]]
        others = first.sum(axis=0) - first
        lengths = np.maximum(np.linalg.norm(others, axis=1), 1e-12)
        left_out = float(np.clip((first * others).sum(axis=1) / lengths, -1, 1).mean())
        to_truth = estimate_similarity_to_truth(max(0.0, left_out), half - 1)
        similarity = (1 - compute_error(to_truth, half)) * (
            1 - compute_error(to_truth, len(order) - half)
        )
        a, b = first.mean(axis=0), second.mean(axis=0)
        forecast.append(1 - float(similarity))
        seen.append(1 - float(a @ b / max(np.linalg.norm(a) * np.linalg.norm(b), 1e-12)))
    return np.array(forecast), np.array(seen)


def _forecast_consensus(vectors: Floats, questions: Codes, request: Request) -> tuple[object, ...]:
    """Return the table row on half-to-half distances: means, ratio and its 95% quantile."""
    halves = [
        measure_halves(vectors, questions, np.random.default_rng(seed)) for seed in request.seeds
    ]
    forecast = np.concatenate([one for one, _ in halves])
    seen = np.concatenate([one for _, one in halves])
    ratios = seen[forecast > 0] / forecast[forecast > 0]
    _, counts = np.unique(questions, return_counts=True)
    half = float(counts[counts >= FEWEST].mean()) / 2
    return (
        *(f"{half:.1f} answers a question", f"{half:.1f} others"),
        *(float(forecast.mean()), float(seen.mean()), float(seen.mean() / forecast.mean())),
        *(float(np.quantile(ratios, 0.95)), request.repetitions),
    )


def _forecast_widths(
    vectors: Floats, questions: Codes, workers: Codes, request: Request
) -> tuple[object, ...]:
    """Return the table row on the median interval width, forecast from half the questions."""
    labels = np.unique(questions)
    seen = float(np.median(_compute_widths(vectors, questions, workers)[0]))
    forecasts = []
    for seed in request.seeds:
        sampled = np.random.default_rng(seed).permutation(labels)[: len(labels) // 2]
        keep = np.isin(questions, sampled)
        widths, counts = _compute_widths(vectors[keep], questions[keep], workers[keep])
        widths_forecast = predict_width(
            widths, counts, np.round(counts * len(labels) / len(sampled))
        )
        forecasts.append(float(np.median(widths_forecast)))
    forecast = float(np.mean(forecasts))
    half = len(labels) // 2
    return (
        *(f"{half} questions", f"all {len(labels)}", forecast, seen, seen / forecast, None),
        request.repetitions,
    )


def _compute_widths(vectors: Floats, questions: Codes, workers: Codes) -> tuple[Floats, Floats]:
    """Return interval width and number of answers of each worker with an interval."""
    aqer = AQER(n_draws=400).fit(vectors, workers, questions)
    widths = aqer.raw_high_ - aqer.raw_low_
    has_interval = ~np.isnan(widths) & aqer.supported_
    return widths[has_interval], aqer.n_answers_[has_interval].astype(float)
