"""The tables of a judge, the same for files and for runs of the database."""

from __future__ import annotations

from collections.abc import Iterator

from evaluation.flow.judge.findings import Findings
from evaluation.methods.inference.prediction_powered import PoweredMean
from evaluation.methods.undefined import or_none

PAIRS = (
    *("question", "kind", "first", "other_kind", "second"),
    *("verdict", "verdict_swapped", "same", "reason", "reason_swapped"),
)
CORRECTED = (
    *("of", "name", "judge", "n", "n_judged", "graded", "graded_low", "graded_high"),
    *("ppi", "ppi_low", "ppi_high", "tuned", "tuned_low", "tuned_high", "weight", "reason"),
)


def scores_header(findings: Findings) -> tuple[str, ...]:
    """Return the columns of the scores, one for each time an answer was scored."""
    times = range(1, findings.judged.scores.shape[1] + 1)
    return (
        *("worker", "model", "question", "score", *(f"score_{time}" for time in times)),
        *("grade", "aqer", "reason"),
    )


class Tables:
    """Rows of what a judge said and is worth."""

    def __init__(self, findings: Findings) -> None:
        self.findings = findings

    def scores(self) -> Iterator[tuple[object, ...]]:
        """Yield a row for each answer, in the order of `scores_header`."""
        found, answers = self.findings, self.findings.answers
        for row in range(len(answers)):
            author, person = answers.authors[row], answers.people[row]
            reasons = list(dict.fromkeys(filter(None, found.judged.reasons[row])))
            yield (
                author if person else None,
                None if person else author,
                answers.questions[row],
                or_none(found.analysis.score[row]),
                *map(or_none, found.judged.scores[row]),
                or_none(found.grades.mean[row]),
                or_none(found.aqer[row]),
                ";".join(reasons) or None,
            )

    def pairs(self) -> Iterator[tuple[object, ...]]:
        """Yield a row for each pair, in the order of `PAIRS`; verdicts are on the first answer."""
        answers, judged = self.findings.answers, self.findings.judged
        pairs = judged.compared
        for at, (one, other) in enumerate(
            zip(pairs.one.tolist(), pairs.other.tolist(), strict=True)
        ):
            verdicts = or_none(pairs.shown_first[at]), or_none(pairs.shown_second[at])
            same = None if None in verdicts else verdicts[0] == verdicts[1]
            kinds = ["worker" if answers.people[row] else "model" for row in (one, other)]
            yield (
                answers.questions[one],
                *(kinds[0], answers.authors[one], kinds[1], answers.authors[other]),
                *verdicts,
                None if same is None else int(same),
                *judged.pair_reasons[at],
            )

    def corrected(self) -> Iterator[tuple[object, ...]]:
        """Yield a row for all workers, each worker and each model, in the order of `CORRECTED`."""
        for row in self.findings.corrected:
            yield (
                *(row.of, row.name or None, row.judge, row.n, row.n_judged),
                *_ends(row.graded),
                *_ends(row.powered),
                *_ends(row.tuned),
                row.tuned.weight,
                row.tuned.reason,
            )


def _ends(mean: PoweredMean) -> tuple[float | None, float | None, float | None]:
    return mean.mean, mean.low, mean.high
