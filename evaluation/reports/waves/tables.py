"""Two waves as tables for files: every row, numbers in full."""

from __future__ import annotations

from evaluation.reports.spreadsheet import Table
from evaluation.reports.waves.questions import QuestionDrift
from evaluation.reports.waves.report import WavesReport


def waves_people_table(report: WavesReport) -> Table:
    """Return everybody of both waves, greatest change first."""
    header = (
        *("worker", "score_before", "score_after", "change", "n_before", "n_after", "support"),
    )
    return Table(
        header,
        (
            (
                *(row.name, row.before, row.after, row.change, row.n_before, row.n_after),
                "ok" if row.supported else "too_few",
            )
            for row in report.people.workers
        ),
    )


def waves_questions_table(report: WavesReport) -> Table:
    """Return the questions of both waves, first those that moved, then the furthest beyond chance.

    Facts are written as "slot: value, value", those of several slots parted by semicolons.
    """
    header = (
        *("question", "distance", "by_chance", "times", "moved", "n_before", "n_after"),
        *("consensus_before", "consensus_after", "facts_before", "facts_after"),
        *("moved_beyond_chance", "p_value", "adjusted_p_value", "mean_distance", "n_both"),
    )
    return Table(
        header,
        (
            (
                *(row.name, row.distance, row.by_chance, row.times),
                "" if row.times is None else str(row.moved).lower(),
                *(row.n_before, row.n_after, row.before, row.after),
                "; ".join(f"{fact.slot}: {', '.join(fact.before)}" for fact in row.facts),
                "; ".join(f"{fact.slot}: {', '.join(fact.after)}" for fact in row.facts),
                *_tested(row),
            )
            for row in report.questions
        ),
    )


def _tested(row: QuestionDrift) -> tuple[object, ...]:
    shift = row.shift
    if shift is None:
        return ("", None, None, None, None)
    return (
        *(str(shift.moved).lower(), shift.p_value, shift.adjusted),
        *(shift.distance, shift.n_both),
    )


def waves_models_table(report: WavesReport) -> Table:
    """Return the models of the later wave, best first."""
    header = (
        *("model", "score_before", "low_before", "high_before", "rank_before"),
        *("score_after", "low_after", "high_after", "rank_after"),
        *("change", "n_same_answers", "n_answers"),
    )
    return Table(
        header,
        (
            (
                row.name,
                *(
                    (row.before.value, row.before.low, row.before.high)
                    if row.before
                    else (None,) * 3
                ),
                row.rank_before,
                *(row.after.value, row.after.low, row.after.high, row.rank_after),
                *(row.change, row.n_same, row.n_answers),
            )
            for row in report.models.rows
        ),
    )
