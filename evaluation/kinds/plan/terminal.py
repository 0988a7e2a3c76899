"""What a terminal shows of a plan."""

from __future__ import annotations

from evaluation.flow.plan.plan import Planned, Widths
from evaluation.options import TERMINAL
from evaluation.words.console import text_table
from evaluation.words.plan import STANDINGS, money

# Questions shown; the file has all.
SHOWN = 20
HEADER = ("question", "answers", "needed", "more", "cost", "off", "then", "")


def text_of(found: Planned) -> str:
    """Return the plan in sentences, the questions that want most, and the widths."""
    plan = found.plan
    rows = [
        (
            *(row.name, row.answers, row.needed, row.more, money(row.cost, None)),
            *(row.off, row.off_then, STANDINGS[row.standing]),
        )
        for row in found.questions
        if row.more or row.standing == "beyond"
    ]
    parts = ["\n".join(TERMINAL.all_said(found.messages))]
    if rows:
        parts.append(text_table(HEADER, rows[:SHOWN]))
        if len(rows) > SHOWN:
            parts[-1] += f"\n... and {len(rows) - SHOWN} more in plan_questions.csv"
    widths = [
        _width(who, one) for who, one in (("workers", plan.workers), ("models", plan.models)) if one
    ]
    parts.append("\n".join(widths) or "Nobody's score has an interval, so none can be narrowed.")
    if plan.cost is not None:
        so_far, more = money(plan.cost, plan.currency), money(plan.total_cost, plan.currency)
        parts.append(f"So far {so_far} for {plan.answers:,} answers; this plan {more} more.")
    return "\n\n".join(parts)


def _width(who: str, one: Widths) -> str:
    return (
        f"Intervals of {one.scores} {who}: the middle one {one.now:.3f} wide, then "
        f"{one.then:.3f}; the widest {one.widest:.3f}, then {one.widest_then:.3f}; narrow enough "
        f"{one.narrow}, then {one.narrow_then}."
    )
