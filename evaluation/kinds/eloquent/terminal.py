"""What a terminal shows of prompts that mean the same, the replies and what judges said of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from annotations.exchange.reading.prompts import PromptFile
from evaluation.files.eloquent import Evaluated, by_system
from evaluation.flow.eloquent.found import Findings
from evaluation.flow.eloquent.summary import EloquentSummary
from evaluation.models import Run
from evaluation.reports.eloquent import findings_with_people
from evaluation.words.console import printable, text_table
from evaluation.words.reasons import in_words

# Items shown; files have all of them.
SHOWN = 40


def report_of_files(evaluated: Evaluated, output: Path) -> str:
    """Return the text that ``evaluate eloquent`` prints at the end."""
    findings = evaluated.findings
    parts = [
        _prompts(evaluated.prompts),
        _scores(findings),
        _totals(findings),
        _agreement(findings),
        "\n".join(_left_out(evaluated)),
        "\n".join(f"Warning: {printable(warning)}" for warning in evaluated.warnings),
        f"Tables: {output}",
    ]
    return "\n\n".join(part for part in parts if part)


def report_of_run(run: Run) -> str:
    """Return the text that ``run eloquent`` prints at the end."""
    findings, summary = findings_with_people(run), EloquentSummary.of(run.summary)
    head = (
        f"{summary.items} items, {summary.prompts} prompts, {summary.languages} languages; "
        f"{summary.requests} requests, {summary.reused} replies of earlier runs"
    )
    left_out = (
        f"Left out: {one['count']:,} ({in_words(one['reason'])})" for one in summary.exclusions
    )
    parts = [head, _scores(findings), _totals(findings), _agreement(findings), "\n".join(left_out)]
    return "\n\n".join(part for part in parts if part)


def _prompts(prompts: PromptFile) -> str:
    languages = ", ".join(f"{name} {count}" for name, count in prompts.languages.items())
    variations = ", ".join(f"{name} {count}" for name, count in prompts.variations.items())
    lines = [
        f"{len(prompts.items)} items, {prompts.n_prompts} prompts, "
        f"{len(prompts.languages)} languages"
        + (f" ({prompts.source}, {prompts.year})" if prompts.source or prompts.year else ""),
        f"prompts by language: {languages}",
        f"items by kind of variation: {variations}",
        *(
            f"repaired: added a comma behind line {one.after_line}, column {one.after_column}"
            for one in prompts.repairs
        ),
    ]
    return printable("\n".join(lines))


def _scores(findings: Findings) -> str:
    """Return items by systems with sums, items with the lowest average first."""
    if not findings.judges:
        return ""
    columns, rows = by_system(findings)
    known = [row for row in rows if row[-1] is not None]
    known.sort(key=lambda row: float(str(row[-1])))
    shown = known[:SHOWN]
    for metric in ("sum", "n", "mean"):
        cells = [findings.metric(system, metric) for system in findings.systems]
        shown.append([metric, *(cell and cell.value for cell in cells), None])
    table, more = text_table(columns, shown), len(known) - SHOWN
    return table if more <= 0 else f"{table}\n... and {more} more items in items_by_system.csv"


def _totals(findings: Findings) -> str:
    """Return the systems with intervals; the rank only where sums can be compared."""
    if not findings.systems:
        return ""
    header = ("system", "sum", "n", "mean", "low", "high", "rank", "similarity", "answered only")
    rows = []
    why = None
    for system in findings.systems:
        found = {
            name: findings.metric(system, name)
            for name in ("sum", "mean", "rank", "similarity", "similarity_answered")
        }
        mean, rank = found["mean"], found["rank"]
        why = why or (rank.reason if rank is not None else None)
        rows.append(
            (
                system,
                found["sum"] and found["sum"].value,
                mean and mean.n,
                mean and mean.value,
                mean and mean.low,
                mean and mean.high,
                None if rank is None or rank.value is None else int(rank.value),
                found["similarity"] and found["similarity"].value,
                found["similarity_answered"] and found["similarity_answered"].value,
            )
        )
    table = text_table(header, rows)
    return f"{table}\nNo ranks: {in_words(why)}." if why else table


def _agreement(findings: Findings) -> str:
    if not findings.agreements:
        return ""
    header = ("judge", "other judge", "sets", "apart", "kappa", "Spearman")
    rows = [
        (one.judge, one.other, one.n, one.absolute_difference, one.kappa, one.spearman)
        for one in findings.agreements
    ]
    return text_table(header, rows)


def _left_out(evaluated: Evaluated) -> Iterator[str]:
    for entry in evaluated.exclusions.as_list():
        yield f"Left out: {entry['count']:,} ({in_words(entry['reason'])})"
