"""What a judge is worth, as rows: its agreement, and means of grades corrected by its error."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evaluation.flow.judge.judging import Judged, ToJudge
from evaluation.flow.judge.parameters import JudgeParameters
from evaluation.flow.judge.prompts import HIGHEST, LOWEST
from evaluation.flow.metrics import MetricRow
from evaluation.methods.agreement import agreements
from evaluation.methods.cells import Floats
from evaluation.methods.inference.prediction_powered import PoweredMean
from evaluation.methods.inference.resampled import Estimated
from evaluation.methods.judge import JudgeAnalysis
from evaluation.methods.undefined import or_none
from evaluation.words.message import Message

OVERALL, WORKER, MODEL = "workers", "worker", "model"
# Replies without a score beyond this share are told.
MANY_UNREAD = 0.1


@dataclass(frozen=True)
class CorrectedRow:
    """Mean grade of all workers, of a worker or of a model.

    Attributes
    ----------
    of : "workers" (all of them), "worker" or "model". name : of whom; "" for all.
    judge : mean score by the judge. n : answers that it scored. n_judged : of these, by experts.
    graded : mean of the experts' grades alone. powered : with the judge's scores corrected by its
        error (PPI). tuned : the same relying on the judge as far as it deserves (PPI++).
    """

    of: str
    name: str
    judge: float | None
    n: int
    n_judged: int
    graded: PoweredMean
    powered: PoweredMean
    tuned: PoweredMean


@dataclass(frozen=True)
class Grades:
    """What experts gave.

    Attributes
    ----------
    mean : (N,) mean grade of each answer, NaN for none.
    by_expert : each expert's grades by the answer's row, for their agreement with each other.
    """

    mean: Floats
    by_expert: dict[str, dict[int, float]]


@dataclass(frozen=True)
class Findings:
    """A judge, measured.

    Attributes
    ----------
    system : name of the judge. aqer : (N,) AQER's leave-one-out scores, NaN for none.
    """

    system: str
    answers: ToJudge
    judged: Judged
    grades: Grades
    aqer: Floats
    parameters: JudgeParameters

    @cached_property
    def analysis(self) -> JudgeAnalysis:
        """The arrays behind it."""
        questions, authors, people = self.answers.codes()
        return JudgeAnalysis(
            self.judged.scores,
            questions,
            authors,
            people,
            self.grades.mean,
            self.aqer,
            self.judged.compared,
            (LOWEST, HIGHEST),
            self.parameters.bootstrap,
            self.parameters.seed,
        )

    @cached_property
    def metrics(self) -> list[MetricRow]:
        """Agreement of the judge with itself, with experts and with AQER."""
        found = self.analysis
        parts = {
            "repetition": found.repetition(),
            "order": found.order(),
            "experts": found.experts(),
            "aqer": found.with_aqer(),
            "against_aqer": found.against_aqer(),
        }
        rows = [
            _row(self.system, f"{part}_{name}", estimated)
            for part, estimates in parts.items()
            for name, estimated in estimates.items()
        ]
        return [*rows, *self._among_experts()]

    def _among_experts(self) -> Iterator[MetricRow]:
        """Yield how far experts agree with each other: what a judge can be held to."""
        for pair in agreements(self.grades.by_expert):
            names = f"expert:{pair.one} and {pair.other}"
            reason = None if pair.kappa is not None else "no_estimate"
            yield MetricRow(
                self.system, names, "experts_kappa", pair.kappa, None, None, pair.n, reason
            )

    @cached_property
    def corrected(self) -> list[CorrectedRow]:
        """Mean grades: of all workers, then of each worker and each model, in their order."""
        _, authors, people = self.answers.codes()
        everybody = self._corrected(OVERALL, "", None, people)
        rows = []
        for author, row in zip(*np.unique(authors, return_index=True), strict=True):
            of = WORKER if people[row] else MODEL
            name = str(self.answers.authors[row])
            rows.append((int(row), self._corrected(of, name, int(author), authors == author)))
        rows.sort(key=lambda one: (one[1].of == MODEL, one[0]))
        return [everybody, *(row for _, row in rows)]

    def _corrected(self, of: str, name: str, author: int | None, mine: np.ndarray) -> CorrectedRow:
        found = self.analysis
        score, grade = found.score[mine], self.grades.mean[mine]
        known = ~np.isnan(score)
        means = [
            found.corrected(weight) if author is None else found.corrected_of(author, weight)
            for weight in (0.0, 1.0, None)
        ]
        return CorrectedRow(
            of,
            name,
            or_none(score[known].mean()) if known.any() else None,
            int(known.sum()),
            int((known & ~np.isnan(grade)).sum()),
            *means,
        )

    @property
    def n_unread(self) -> int:
        """How many scores were asked for in vain."""
        return int(np.isnan(self.judged.scores).sum())

    @property
    def warnings(self) -> list[Message]:
        """What somebody should know before relying on the judge."""
        found = []
        if self.n_unread > MANY_UNREAD * self.judged.scores.size:
            share = self.n_unread / self.judged.scores.size
            found.append(Message("judge.unread", {"count": self.n_unread, "share": share}))
        if not self.grades.by_expert:
            found.append(Message("judge.no_judgements"))
        return found


def _row(system: str, metric: str, found: Estimated) -> MetricRow:
    return MetricRow(system, "", metric, found.value, found.low, found.high, found.n, found.reason)


def grades_of(
    n: int, given: Sequence[tuple[int, str, float]], settled: Mapping[int, float] | None = None
) -> Grades:
    """Return grades (row, expert, grade) by answer and by expert.

    `settled` has by row the grade that counts in place of the mean.
    """
    total, count = np.zeros(n), np.zeros(n)
    by_expert: dict[str, dict[int, float]] = {}
    for row, expert, grade in given:
        total[row] += grade
        count[row] += 1
        by_expert.setdefault(expert, {})[row] = grade
    mean = np.divide(total, count, out=np.full(n, np.nan), where=count > 0)
    for row, grade in (settled or {}).items():
        mean[row] = grade
    return Grades(mean, by_expert)
