"""Compare the planner's bounds and forecasts with a simulation and with real answers.

The bounds take for granted that workers err independently. The simulation makes such workers: unit
vectors in 384 dimensions with similarity S to the truth and independent remainders.

Consensus: the answers to each question are halved at random. The distance between the means of the
halves is forecast from the first half alone: if errors are independent, the cosine of two means is
the product of their similarities to the truth. All answers have equal weight. Widths: AQER grades
half of the questions; the median width of the workers' intervals on all questions is forecast, and
compared with the observed one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotations.exchange import OutputFolder
from evaluation.consensus import AQER
from evaluation.consensus.inputs import Progress
from evaluation.consensus.signatures import collect_versions, combine_hashes, hash_file
from evaluation.core.charts.chart import Chart, Series, build_line_chart
from evaluation.core.stats.cells import Floats
from evaluation.core.stats.planner import (
    compute_error_bounds,
    compute_exemplar_error,
    estimate_similarity_to_truth,
    predict_width,
)
from evaluation.evidence.corpus import CorpusVectors
from evaluation.evidence.data_sets import (
    BEETLE,
    MOHLER,
    list_crowdwsa_files,
    load_beetle,
    load_crowdwsa,
    load_mohler,
)
from evaluation.evidence.tables import EvidenceRequest, StudyTable, write_charts, write_table

HEADER = (
    "mu",
    "delta",
    "M",
    "error_average",
    "error_worst",
    "error_simulated",
    "exceeded_simulated",
)
MUS = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
# More lines would repeat colours and marks.
CHARTED = MUS[1:7]
WORKERS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 100)
DELTA = 0.05
DIMENSION = 384
# Draws a repetition.
DRAWS = 20


def reproduce_planner(request: EvidenceRequest, progress: Progress | None = None) -> StudyTable:
    """Write and return planner.csv: one row per mean similarity and number of workers.

    error_average and error_worst are the formulas (None where a bound is undefined);
    error_simulated the mean error of M simulated workers of similarity mu each;
    exceeded_simulated how often the error is above error_worst when similarities scatter as much
    as they can, 0 or 1 with mean mu: it should not be more than delta.
    """
    rows: list[tuple[object, ...]] = []
    with OutputFolder(request.output) as folder:
        cells = [(mu, m) for mu in MUS for m in WORKERS]
        for done, (mu, m) in enumerate(cells):
            planned = compute_error_bounds(mu, m, DELTA)
            rng = np.random.default_rng([request.seeds.start, done])
            draws = DRAWS * request.repetitions
            equal_similarities = np.full((draws, m), mu)
            error = float(simulate_errors(equal_similarities, DIMENSION, rng).mean())
            exceeded = None
            if planned.worst_error is not None:
                scattered = (rng.random((draws, m)) < mu).astype(float)
                is_exceeded = simulate_errors(scattered, DIMENSION, rng) > planned.worst_error
                exceeded = float(is_exceeded.mean())
            rows.append((mu, DELTA, m, planned.average_error, planned.worst_error, error, exceeded))
            if progress is not None:
                progress("planner", done + 1, len(cells))
        write_table(folder, "planner", HEADER, rows)
        write_charts(
            folder, [_build_chart(rows, column) for column in ("error_average", "error_worst")]
        )
        empty = [[row[0], row[2]] for row in rows if row[4] is None]
        folder.write_json(
            "summary.json",
            {
                "study": "planner",
                "seeds": [request.seeds.start],
                "draws": DRAWS * request.repetitions,
                "dimension": DIMENSION,
                "undefined": [
                    {
                        "file": "planner.csv",
                        "column": column,
                        "reason": "mean_within_deviation",
                        "count": len(empty),
                        "rows": empty,
                    }
                    for column in ("error_worst", "exceeded_simulated")
                ],
                "versions": collect_versions(),
            },
        )
    return StudyTable(HEADER, rows)


def simulate_errors(similarities: Floats, dimension: int, rng: np.random.Generator) -> Floats:
    """Return the error (1 - cosine to the truth) of the mean of simulated vectors, per draw.

    Parameters
    ----------
    similarities : (D, M) cosine of each vector to the truth, 0 to 1. The rest of a vector is an
        independent random direction in `dimension` - 1 dimensions.
    """
    errors = np.empty(len(similarities))
    lengths = np.sqrt(1 - similarities**2)
    for draw, (along, across) in enumerate(zip(similarities.sum(axis=1), lengths, strict=True)):
        # Normalised Gaussian vectors are uniform on the sphere. One dimension is that of the truth.
        directions = rng.standard_normal((len(across), dimension - 1))
        norms = np.sqrt(np.einsum("md,md->m", directions, directions))
        rest = (across / norms) @ directions
        length = np.sqrt(along**2 + rest @ rest)
        errors[draw] = 1 - along / length if length > 0 else 1.0
    return errors


def _build_chart(rows: Sequence[Sequence[Any]], column: str) -> Chart:
    """Return the chart of one error column by number of workers, a line per mean similarity."""
    index = HEADER.index(column)
    kind = "on average" if column == "error_average" else f"at worst ({1 - DELTA:.0%})"
    return build_line_chart(
        name=column,
        title=f"Error of the exemplary answer {kind}",
        explanation=(
            "The error is 1 - cosine to the truth. A line is for workers of one mean similarity "
            "mu to the truth; it is missing where the bound is undefined."
        ),
        axes=("workers M", "error"),
        series=[
            Series(f"mu {mu:g}", [(row[2], row[index]) for row in rows if row[0] == mu])
            for mu in CHARTED
        ],
    )


FORECASTS_HEADER = (
    *("data_set", "what", "forecast_from", "seen_on", "forecast", "seen", "ratio", "ratio_95"),
    "repetitions",
)
# Least number of answers to a question: in each half every answer is compared with the others.
FEWEST = 6
REASONS = {"ratio_95": "one_number_a_repetition"}
Codes = NDArray[np.generic]


def reproduce_forecasts(request: EvidenceRequest, progress: Progress | None = None) -> StudyTable:
    """Write and return forecasts.csv: one row per data set and forecast.

    `forecast` and `seen` are means over repetitions (and questions), `ratio` is seen / forecast,
    `ratio_95` its 95% quantile over questions. Raises `InputError` and `BackendError`.
    """
    mohler, beetle = load_mohler(request.data), load_beetle(request.data)
    crowds = {name: load_crowdwsa(request.data, name) for name in ("T1", "T2")}
    data: list[tuple[str, Sequence[str], Codes, Codes | None]] = [
        ("mohler2011", mohler.texts, mohler.questions, None),
        ("beetle2013", beetle.texts, beetle.questions, beetle.workers),
        *(
            (
                f"crowdwsa2019 {name}",
                translations.texts,
                translations.sentences,
                translations.workers,
            )
            for name, translations in crowds.items()
        ),
    ]
    rows: list[tuple[object, ...]] = []
    with OutputFolder(request.output) as folder:
        for index, (name, texts, questions, workers) in enumerate(data):
            vectors = np.asarray(
                CorpusVectors(texts, progress).embed_texts(request.embedder), dtype=float
            )
            rows.append((name, "consensus", *_build_consensus_row(vectors, questions, request)))
            if workers is not None:
                rows.append(
                    (name, "width", *_build_width_row(vectors, questions, workers, request))
                )
            if progress is not None:
                progress("forecasts", index + 1, len(data))
        write_table(folder, "forecasts", FORECASTS_HEADER, rows)
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
    return StudyTable(FORECASTS_HEADER, rows)


def measure_half_distances(
    vectors: Floats, questions: Codes, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Return each question's forecast and observed distance between the means of two halves.

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
        # Leave-one-out: the sum of the half without the answer itself.
        others = first.sum(axis=0) - first
        lengths = np.maximum(np.linalg.norm(others, axis=1), 1e-12)
        left_out = float(np.clip((first * others).sum(axis=1) / lengths, -1, 1).mean())
        # Each answer was compared with a mean of half - 1 others.
        to_truth = estimate_similarity_to_truth(max(0.0, left_out), half - 1)
        similarity = (1 - compute_exemplar_error(to_truth, half)) * (
            1 - compute_exemplar_error(to_truth, len(order) - half)
        )
        a, b = first.mean(axis=0), second.mean(axis=0)
        forecast.append(1 - float(similarity))
        seen.append(1 - float(a @ b / max(np.linalg.norm(a) * np.linalg.norm(b), 1e-12)))
    return np.array(forecast), np.array(seen)


def _build_consensus_row(
    vectors: Floats, questions: Codes, request: EvidenceRequest
) -> tuple[object, ...]:
    """Return the table row on forecasts of the distance between two halves of a crowd."""
    halves = [
        measure_half_distances(vectors, questions, np.random.default_rng(seed))
        for seed in request.seeds
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


def _build_width_row(
    vectors: Floats, questions: Codes, workers: Codes, request: EvidenceRequest
) -> tuple[object, ...]:
    """Return the table row on forecasts of the median interval width from half the questions."""
    labels = np.unique(questions)
    seen = float(np.median(_compute_widths(vectors, questions, workers)[0]))
    forecasts = []
    for seed in request.seeds:
        sampled = np.random.default_rng(seed).permutation(labels)[: len(labels) // 2]
        keep = np.isin(questions, sampled)
        widths, counts = _compute_widths(vectors[keep], questions[keep], workers[keep])
        # Each worker is expected to answer the same share of all questions.
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
    """Return the interval width and the number of answers of each worker with an interval."""
    aqer = AQER(n_draws=400).fit(vectors, workers, questions)
    widths = aqer.raw_high_ - aqer.raw_low_
    has_interval = ~np.isnan(widths) & aqer.supported_
    return widths[has_interval], aqer.n_answers_[has_interval].astype(float)
