"""What a terminal shows of an evaluation: a table a group of systems, and what was left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from evaluation.files.multiqa.evaluating import EvaluatedFiles
from evaluation.files.multiqa.studying import Studied
from evaluation.flow.metrics import OVERALL, Exclusions, MetricRow
from evaluation.flow.multiqa.crowd import NUMBERS, RATIO
from evaluation.flow.multiqa.evaluation import CHANCE
from evaluation.flow.multiqa.summary import MultiqaSummary
from evaluation.methods.multiqa.robustness import NAMES
from evaluation.models import Run
from evaluation.options import TERMINAL
from evaluation.steps.multiqa.found import metrics_of
from evaluation.words.console import printable, text_table
from evaluation.words.reasons import in_words

# Groups and systems shown; metrics.csv has them all.
SHOWN = 12


def report_of_files(evaluated: EvaluatedFiles, output: Path) -> str:
    """Return the text that ``evaluate multiqa`` prints at the end."""
    judgement = evaluated.found.judgement
    parts = [
        f"{evaluated.counts['replies']:,} replies of {len(judgement.systems):,} systems to "
        f"{len(judgement.items):,} items",
        *_tables(evaluated.found.rows),
        _noted("Left out", judgement.left_out),
        _noted("Wrong for their form", judgement.listed),
        "\n".join(f"Warning: {warning}" for warning in evaluated.warnings),
        f"Tables: {output}",
    ]
    return "\n\n".join(part for part in parts if part)


def report_of_study(done: Studied, output: Path) -> str:
    """Return the text that ``study multiqa`` prints at the end."""
    kept = sum(one.variant is not None for one in done.rewordings)
    dropped = Counter(one.reason for one in done.rewordings if one.reason)
    lines = [f"{kept:,} rewordings kept, {dropped.total():,} dropped"]
    lines += [f"  {in_words(reason)}: {count:,}" for reason, count in dropped.most_common()]
    return "\n".join(lines) + "\n\n" + report_of_files(done.evaluated, output)


def report_of_run(run: Run) -> str:
    """Return the text that ``run multiqa`` prints at the end."""
    summary, rows = MultiqaSummary.of(run.summary), metrics_of(run)
    requests = sum(one.requests for one in summary.usage)
    reused = sum(one.reused for one in summary.usage)
    parts = [
        f"{summary.replies:,} replies of {len(summary.systems):,} models to {summary.wordings:,} "
        f"wordings of {summary.items:,} questions; {requests:,} requests, {reused:,} replies of "
        "earlier runs",
        f"{summary.kept:,} rewordings kept, {sum(summary.dropped.values()):,} dropped",
        *_tables(rows),
        "\n".join(
            f"Left out: {one['count']:,} ({in_words(one['reason'])})" for one in summary.exclusions
        ),
        "\n".join(f"Warning: {printable(one)}" for one in TERMINAL.all_said(run.warnings)),
    ]
    return "\n\n".join(part for part in parts if part)


def _tables(rows: Sequence[MetricRow]) -> Iterable[str]:
    """Yield a table for each system and group: every number, its interval, and chance."""
    found: dict[tuple[str, str], dict[str, MetricRow]] = {}
    for row in rows:
        found.setdefault((row.system, row.group), {})[row.metric] = row
    # Items that only the crowd measures have no numbers of right and wrong, nor their groups.
    groups = [(key, metrics) for key, metrics in found.items() if NAMES[0] in metrics]
    for (system, group), metrics in groups[:SHOWN]:
        title = f"{system}, {group}" if group != OVERALL else f"{system}, all items"
        cells = [
            (name, row.value, row.low, row.high, chance.value, row.n, in_words(row.reason))
            for name in NAMES
            for row, chance in ((metrics[name], metrics[f"{CHANCE}{name}"]),)
        ]
        cells += [
            (name, of.value, of.low, of.high, None, of.n, in_words(of.reason))
            for name in (*NUMBERS, RATIO)
            if (of := metrics.get(name)) is not None
        ]
        header = ("metric", "value", "low", "high", "chance", "n", "why empty")
        yield f"{title}\n{text_table(header, cells)}"
    if len(groups) > SHOWN:
        yield f"... and {len(groups) - SHOWN} more tables in metrics.csv"


def _noted(title: str, noted: Exclusions) -> str:
    lines = [f"{title}:" if noted else ""]
    for entry in noted.as_list():
        named = entry["named"][0]
        first = ", ".join(f"{key} {value}" for key, value in named.items())
        lines.append(f"  {in_words(entry['reason'])}: {entry['count']:,} (first: {first})")
    return "\n".join(lines) if noted else ""
