"""Commands ``evaluate multiqa`` and ``study multiqa``, and the output of ``run multiqa``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from evaluation.core.messages.console import format_table, remove_control_characters
from evaluation.core.messages.reasons import describe_reason
from evaluation.core.options import TERMINAL
from evaluation.models import Run
from evaluation.multiqa.files.evaluation import FileEvaluation, MultiqaRequest, evaluate_files
from evaluation.multiqa.files.field_mapping import FieldMapping, load_mapping
from evaluation.multiqa.files.study import MultiqaStudyRequest, MultiqaStudyResult, execute_study
from evaluation.multiqa.methods.robustness import METRIC_NAMES
from evaluation.multiqa.options import MultiqaRunOptions
from evaluation.multiqa.run.evaluation import CHANCE, CROWD_METRICS, SPREAD_RATIO
from evaluation.multiqa.storage.running import MultiqaSummary, load_metric_rows
from evaluation.runs.files.asking import AskSettings
from evaluation.runs.flow.metrics import OVERALL, Exclusions, MetricRow
from evaluation.runs.run_types.kind import Progress, StudyOutcome

# Groups of systems in the output; metrics.csv has all of them.
MAX_SHOWN = 12


def format_evaluation(evaluation: FileEvaluation, output: Path) -> str:
    """Return the text that ``evaluate multiqa`` prints about the results."""
    judgement = evaluation.result.judgement
    parts = [
        f"{evaluation.counts['replies']:,} replies of {len(judgement.systems):,} systems to "
        f"{len(judgement.items):,} items",
        *_format_tables(evaluation.result.rows),
        _format_exclusions("Left out", judgement.left_out),
        _format_exclusions("Wrong for their form", judgement.listed),
        "\n".join(f"Warning: {warning}" for warning in evaluation.warnings),
        f"Tables: {output}",
    ]
    return "\n\n".join(part for part in parts if part)


def format_study(study: MultiqaStudyResult, output: Path) -> str:
    """Return the text that ``study multiqa`` prints about the results."""
    n_kept = sum(rewording.variant is not None for rewording in study.rewordings)
    dropped = Counter(rewording.reason for rewording in study.rewordings if rewording.reason)
    lines = [f"{n_kept:,} rewordings used, {dropped.total():,} dropped"]
    lines += [f"  {describe_reason(reason)}: {count:,}" for reason, count in dropped.most_common()]
    return "\n".join(lines) + "\n\n" + format_evaluation(study.evaluation, output)


def format_run(run: Run) -> str:
    """Return the text that ``run multiqa`` prints about a finished run."""
    summary, rows = MultiqaSummary.from_json(run.summary), load_metric_rows(run)
    requests = sum(usage.requests for usage in summary.usage)
    reused = sum(usage.reused for usage in summary.usage)
    parts = [
        f"{summary.replies:,} replies of {len(summary.systems):,} models to {summary.wordings:,} "
        f"wordings of {summary.items:,} questions; {requests:,} requests, {reused:,} replies of "
        "earlier runs",
        f"{summary.kept:,} rewordings used, {sum(summary.dropped.values()):,} dropped",
        *_format_tables(rows),
        "\n".join(
            f"Left out: {entry['count']:,} ({describe_reason(entry['reason'])})"
            for entry in summary.exclusions
        ),
        "\n".join(
            f"Warning: {remove_control_characters(sentence)}"
            for sentence in TERMINAL.format_messages(run.warnings)
        ),
    ]
    return "\n\n".join(part for part in parts if part)


def _format_tables(rows: Sequence[MetricRow]) -> Iterable[str]:
    """Yield a text table of metrics, intervals and chance levels per system and item group."""
    by_group: dict[tuple[str, str], dict[str, MetricRow]] = {}
    for row in rows:
        by_group.setdefault((row.system, row.group), {})[row.metric] = row
    # Groups of items without accepted answers have crowd metrics only, and get no table.
    groups = [(key, metrics) for key, metrics in by_group.items() if METRIC_NAMES[0] in metrics]
    for (system, group), metrics in groups[:MAX_SHOWN]:
        title = f"{system}, {group}" if group != OVERALL else f"{system}, all items"
        cells = [
            (name, row.value, row.low, row.high, chance.value, row.n, describe_reason(row.reason))
            for name in METRIC_NAMES
            for row, chance in ((metrics[name], metrics[f"{CHANCE}{name}"]),)
        ]
        cells += [
            (name, crowd.value, crowd.low, crowd.high, None, crowd.n, describe_reason(crowd.reason))
            for name in (*CROWD_METRICS, SPREAD_RATIO)
            if (crowd := metrics.get(name)) is not None
        ]
        header = ("metric", "value", "low", "high", "chance", "n", "why empty")
        yield f"{title}\n{format_table(header, cells)}"
    if len(groups) > MAX_SHOWN:
        yield f"... and {len(groups) - MAX_SHOWN} more tables in metrics.csv"


def _format_exclusions(title: str, exclusions: Exclusions) -> str:
    """Return one line per exclusion reason, with count and first entry; "" without any."""
    lines = [f"{title}:" if exclusions else ""]
    for entry in exclusions.as_list():
        example = entry["named"][0]
        first = ", ".join(f"{key} {value}" for key, value in example.items())
        lines.append(f"  {describe_reason(entry['reason'])}: {entry['count']:,} (first: {first})")
    return "\n".join(lines) if exclusions else ""


def load_chosen_mapping(arguments: Mapping[str, Any]) -> FieldMapping | None:
    """Return the field mapping that ``--mapping`` names; None without it.

    Raises `InputError`.
    """
    name = arguments["mapping"]
    return None if name is None else load_mapping(name)


def run_evaluate(
    parameters: MultiqaRunOptions, arguments: Mapping[str, Any], progress: Progress
) -> str:
    """Evaluate a file of replies, write the tables, and return the text to print."""
    request = MultiqaRequest(
        arguments["items"],
        arguments["replies"],
        parameters.build_evaluation_parameters(),
        arguments["output"],
        arguments["columns"],
        load_chosen_mapping(arguments),
        arguments["crowd"],
        arguments["keep_thinking"],
        arguments["labelled_pairs"],
        arguments["keep_html"],
        arguments["keep_ids"],
    )
    return format_evaluation(evaluate_files(request, progress), request.output)


def run_study(
    parameters: MultiqaRunOptions,
    arguments: Mapping[str, Any],
    asking: AskSettings,
    progress: Progress,
) -> StudyOutcome:
    """Reword questions, ask a model, evaluate, write tables, and return the text to print."""
    names = (
        *("items", "output", "columns", "crowd", "rewordings", "variants", "rewriter"),
        *("rewriter_tokens", "rewriter_key_variable", "meaning", "nli", "entailment"),
        *("labelled_pairs", "keep_html", "keep_ids"),
    )
    request = MultiqaStudyRequest(
        parameters=parameters.build_evaluation_parameters(),
        mapping=load_chosen_mapping(arguments),
        **{name: arguments[name] for name in names},
    )
    study = execute_study(request, asking, progress)
    return StudyOutcome(format_study(study, request.output), study.complete)
