"""Terminal report of a run that asked models."""

from __future__ import annotations

from evaluation.core.messages.console import format_table, remove_control_characters
from evaluation.core.messages.message import format_count
from evaluation.models import Run
from evaluation.runs.flow.asking.summary import ENDS, AskSummary, ModelOutcome

HEADER = (
    *("model", "answered", "empty", "refused", "cut off", "errors", "not asked", "asked"),
    *("cost", "s each"),
)


def report_of_run(run: Run) -> str:
    """Return the numbers of replies of each model, and reasons for missing ones."""
    summary = AskSummary.from_json(run.summary)
    rows = [
        (
            *(
                model.name,
                model.answered,
                model.empty,
                model.refused,
                model.cut_off,
                model.failures,
            ),
            *(model.not_asked, model.asked, round(model.cost, 6), model.seconds_per_reply),
        )
        for model in summary.models
    ]
    n_models = format_count(len(summary.models), "model")
    head = f"{format_count(summary.questions, 'question')}, {n_models}"
    if summary.samples > 1:
        head += f", {summary.samples} samples of each"
    lines = [line for model in summary.models for line in _format_outcome(model)]
    return "\n\n".join([head, format_table(HEADER, rows), *(["\n".join(lines)] if lines else [])])


def _format_outcome(one: ModelOutcome) -> list[str]:
    lines = []
    if one.reason:
        lines.append(f"{one.name}: {ENDS.get(one.end, one.end)}: {one.reason}")
    for code, count in one.errors.items():
        lines.append(f"{one.name}: {count:,} {code}: {one.error_messages.get(code, '')}")
    limit = f" of {one.max_tokens:,} tokens" if one.max_tokens else ""
    if one.cut_off:
        lines.append(
            f"{one.name}: {one.cut_off:,} cut off: the length{limit} was used up before an answer "
            "came: raise --max-tokens"
        )
    if one.cut_short:
        lines.append(
            f"{one.name}: {one.cut_short:,} answers end at the length{limit}: raise --max-tokens "
            "to have them whole"
        )
    if one.with_thinking:
        lines.append(f"{one.name}: the thinking in {one.with_thinking:,} replies was put aside")
    if one.adapted:
        lines.append(f"{one.name}: request adapted to the server: {'; '.join(one.adapted)}")
    return [remove_control_characters(line) for line in lines]
