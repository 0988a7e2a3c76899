"""What a terminal shows of all views together."""

from __future__ import annotations

from evaluation.flow.views.conclusions import answered, portrait
from evaluation.flow.views.summary import ViewsSummary
from evaluation.models import Run
from evaluation.options import TERMINAL
from evaluation.words.console import printable, text_table
from evaluation.words.views import CLAIMS, QUESTIONS, SIDES

CORRELATION = ("view", "other", "spearman", "low", "high", "questions", "models")
# Models and correlations shown; files have all.
SHOWN = 20


def text_of(found: ViewsSummary) -> str:
    """Return questions with their answers, models in sentences, and correlations."""
    counts = (
        f"{len(found.models)} models, {found.questions} questions, {len(found.views)} views of "
        f"{found.answers} answers, from: {', '.join(one.title for one in found.sources)}"
    )
    parts = [counts]
    if found.missing:
        sides = ", ".join(SIDES[side].lower() for side in found.missing)
        parts.append(f"Not looked at yet: {sides}.")
    if found.repeated:
        parts.append(
            f"{found.repeated:,} rows told again what an earlier one told, and do not count."
        )
    parts += [f"{QUESTIONS[one.name]}\n  {TERMINAL.said(one.said)}" for one in answered(found)]
    parts += [_model(found, place) for place in range(len(found.models))[:SHOWN]]
    rows = [
        (row.view, row.other, row.spearman, row.low, row.high, row.n_questions, row.n_models)
        for row in found.correlations[:SHOWN]
    ]
    if rows:
        parts.append(text_table(CORRELATION, rows))
    return "\n\n".join(parts)


def _model(found: ViewsSummary, place: int) -> str:
    one = portrait(found, place)
    lines = [printable(one.model)]
    for claim in one.claims:
        lines.append(f"  {CLAIMS[claim.name]}")
        lines += [f"    {TERMINAL.said(evidence.said)}" for evidence in claim.evidence]
        if claim.missing:
            sides = ", ".join(SIDES[side].lower() for side in claim.missing)
            lines.append(f"    Not looked at yet: {sides}.")
    return "\n".join(lines)


def text_of_run(run: Run) -> str:
    """Return the same of a run that is done."""
    return text_of(ViewsSummary.of(run.summary))
