"""How well scores of models agree with experts, by the number of workers.

Nobody graded a model's answers to these questions, so a person plays the model: the answers of
Mohler et al. are dealt to 26 responders in 13 tiers of two, on the questions with so many answers.
Some are held out, M of the others vote, and who is held out is scored as a model is: against those
who vote, without influence on them. Every responder is held out once in a repetition, so that for
each M the same 26 scores are compared with the same mean grades. Source: section 6.2.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotations.exchange import OutputFolder
from evaluation.charts.chart import Chart
from evaluation.charts.lines import Series, lines_chart
from evaluation.charts.rows import Row, estimates_chart
from evaluation.consensus import AQER
from evaluation.consensus.vectors import Progress
from evaluation.evidence.baselines import Corpus, Crowd, Method, UnavailableError, methods
from evaluation.evidence.corpus import GradedCorpus
from evaluation.evidence.dealing import Dealt, deal
from evaluation.evidence.methods_table import Scored, best_baseline, rows_of
from evaluation.evidence.request import Request, StudyTable
from evaluation.evidence.studies import best_response
from evaluation.evidence.tables import EvidenceRow, as_table, write_evidence, write_table
from evaluation.methods.cells import Floats, Integers
from evaluation.methods.undefined import or_none

RESPONDERS = 26
TIER = 2
VOTERS = (5, 10, 15, 25)
# Settings of the best response: workers of a crowd.
CROWDS = {"10x2": 20, "12x2": 24}
DRAWS = 400
INTERVALS = ("setting", "responder", "score", "low", "high", "percentile", "grade", "n")
CHARTED = ("aqer", "aqer_one_pass", "leave_one_out", "tfidf_char", "bleu4", "f1")


@dataclass(frozen=True)
class Panel:
    """Responders held out together, and those who vote meanwhile."""

    held_out: Integers
    voters: Integers


def panels(n: int, voters: int, rng: np.random.Generator) -> list[Panel]:
    """Hold out each of `n` responders once, in the fewest panels that leave `voters` to vote.

    Panels are drawn at random and of nearly equal size; those who come next in the drawing vote.
    """
    order = rng.permutation(n)
    groups = np.array_split(order, math.ceil(n / (n - voters)))
    found, begin = [], 0
    for group in groups:
        after = np.roll(order, -(begin + len(group)))[:voters]
        found.append(Panel(group, after))
        begin += len(group)
    return found


def scored_as_models(
    method: Method, corpus: Corpus, dealt: Dealt, some: Sequence[Panel], seed: int
) -> Floats:
    """Return (n,) score of each responder when held out. Raises `UnavailableError`."""
    scores = np.full(sum(len(panel.held_out) for panel in some), np.nan)
    for panel in some:
        found = method.score(_crowd(corpus, dealt, panel, seed))
        scores[panel.held_out] = found[: len(panel.held_out)]
    return scores


def _crowd(corpus: Corpus, dealt: Dealt, panel: Panel, seed: int) -> Crowd:
    """Return the crowd of a panel: first those held out, then those who vote."""
    members = np.concatenate([panel.held_out, panel.voters])
    code = np.full(RESPONDERS, -1)
    code[members] = np.arange(len(members))
    there = code[dealt.workers] >= 0
    voting = np.arange(len(members)) >= len(panel.held_out)
    return Crowd(corpus, dealt.rows[there], code[dealt.workers[there]], voting, seed)


def reproduce_model_scoring(request: Request, progress: Progress | None = None) -> StudyTable:
    """Write and return the table; a setting is named M=number of voting workers.

    intervals.csv: the scores of the first repetition with 95% intervals. best_response.csv: how
    good chosen answers are. Raises `InputError` and `BackendError`.
    """
    chosen = methods(core=request.core)
    with OutputFolder(request.output) as folder:
        data = GradedCorpus.load(request, progress)
        deals = [deal(data.graded, TIER, seed, crowd=RESPONDERS) for seed in request.seeds]
        truth = np.array([dealt.truth(data.graded.grades) for dealt in deals])
        done, total = 0, len(VOTERS) * len(chosen)
        rows: list[EvidenceRow] = []
        for voters in VOTERS:
            held = [
                panels(RESPONDERS, voters, np.random.default_rng([seed, voters]))
                for seed in request.seeds
            ]
            found = []
            for method in chosen:
                found.append(_scored(method, data.corpus, deals, held, request.seeds))
                done += 1
                if progress is not None:
                    progress("methods", done, total)
            rows += rows_of(f"M={voters}", found, truth, request.seed)
        placed = [
            row
            for voters in VOTERS
            for row in intervals(data, deals[0], truth[0], voters, request.seeds[0])
        ]
        chosen_answers, missing = _best_responses(data, request)
        folder.write_csv("intervals.csv", INTERVALS, placed)
        write_table(folder, "best_response", best_response.HEADER, chosen_answers)
        write_evidence(
            folder,
            rows,
            {
                **data.summary("model-scoring", request),
                "responders": RESPONDERS,
                "questions_used": int(len(deals[0].rows) / RESPONDERS),
                "best_baseline": best_baseline(rows),
                "best_response_missing": missing,
            },
            [_chart(rows), _interval_chart(placed), *_best_charts(chosen_answers)],
        )
    return as_table(rows)


def _scored(
    method: Method,
    corpus: Corpus,
    deals: Sequence[Dealt],
    held: Sequence[Sequence[Panel]],
    seeds: range,
) -> Scored:
    try:
        scores = [
            scored_as_models(method, corpus, dealt, some, seed)
            for dealt, some, seed in zip(deals, held, seeds, strict=True)
        ]
    except UnavailableError as error:
        return Scored(method, None, error.reason)
    return Scored(method, np.array(scores))


def intervals(
    data: GradedCorpus, dealt: Dealt, truth: Floats, voters: int, seed: int
) -> Iterator[tuple[object, ...]]:
    """Yield rows of `INTERVALS`: every responder as a model, leave-one-out, 400 draws."""
    x = data.corpus.compact(data.corpus.embedder)
    found: dict[int, tuple[object, ...]] = {}
    for panel in panels(RESPONDERS, voters, np.random.default_rng([seed, voters])):
        crowd = _crowd(data.corpus, dealt, panel, seed)
        votes = crowd.votes
        aqer = AQER(leave_one_out=True, n_draws=DRAWS, seed=seed).fit(
            x[crowd.rows[votes]], crowd.workers[votes], crowd.questions[votes]
        )
        scores = aqer.score_models(
            x[crowd.rows[~votes]], crowd.workers[~votes], crowd.questions[~votes]
        )
        for at, code in enumerate(scores.models.tolist()):
            responder = int(panel.held_out[int(code)])
            values = (scores.scores, scores.low, scores.high, scores.percentiles)
            cells = [or_none(value[at]) for value in values]
            found[responder] = (*cells, float(truth[responder]), int(scores.n[at]))
    for responder in range(RESPONDERS):
        yield f"M={voters}", responder, *found[responder]


def _best_responses(
    data: GradedCorpus, request: Request
) -> tuple[list[tuple[object, ...]], dict[str, str]]:
    rows: list[tuple[object, ...]] = []
    missing: dict[str, str] = {}
    for setting, size in CROWDS.items():
        deals = [deal(data.graded, TIER, seed, crowd=size) for seed in request.seeds]
        crowds = [
            Crowd(data.corpus, dealt.rows, dealt.workers, seed=seed)
            for dealt, seed in zip(deals, request.seeds, strict=True)
        ]
        some, without = best_response.choices(setting, crowds, data.graded.grades)
        rows += some
        missing |= without
    return rows, missing


def _chart(rows: Sequence[EvidenceRow]) -> Chart:
    known = {(row.setting, row.method): row.cells()[2] for row in rows}

    def points(method: str) -> list[tuple[float, float | None]]:
        found = [(voters, known.get((f"M={voters}", method))) for voters in VOTERS]
        return [(voters, r if isinstance(r, float) else None) for voters, r in found]

    return lines_chart(
        name="model_scoring",
        title="Agreement of models' scores with experts by the number of workers",
        explanation="Mean correlation of 26 responders' scores, each held out, with their grades.",
        axes=("voting workers M", "Pearson's r"),
        series=[Series(method, points(method)) for method in CHARTED],
    )


def _interval_chart(placed: Sequence[tuple[Any, ...]]) -> Chart:
    last = [row for row in placed if row[0] == f"M={VOTERS[-1]}"]
    last.sort(key=lambda row: -row[6])
    return estimates_chart(
        name="intervals",
        title=f"Scores of held-out responders with {VOTERS[-1]} workers, best grade first",
        explanation="A dot is the score, the line its 95% interval over questions.",
        axis="score (leave-one-out AQER)",
        rows=[
            Row(f"grade {row[6]:.2f}", row[2], row[3], row[4], f"responder {row[1]}")
            for row in last
        ],
    )


def _best_charts(rows: Sequence[tuple[Any, ...]]) -> Iterator[Chart]:
    for setting in CROWDS:
        yield estimates_chart(
            name=f"best_response_{setting}",
            title=f"Grade of the chosen answers, {setting}",
            explanation="Mean expert grade of the answer chosen to each question, 95% interval.",
            axis="expert grade, 0 to 5",
            rows=[
                Row(str(row[1]), row[2], row[3], row[4], f"{row[1]}: {row[2]:.3f}")
                for row in rows
                if row[0] == setting
            ],
        )
