"""``evaluate aqer``: grade files, and print a grading as tables, alarms and warnings.

`format_grading` prints plain rows, from files (`format_file_report`) and from runs
(`report_of_run`).
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from evaluation.consensus.methods.scale import Ceiling
from evaluation.consensus.parameters import AqerParameters
from evaluation.core.messages.console import format_table, remove_control_characters
from evaluation.core.messages.message import Message, format_count
from evaluation.core.messages.reasons import WHY_EMPTY
from evaluation.core.options import TERMINAL
from evaluation.grading.alarms.messages import RESULTS, format_needed_data
from evaluation.grading.alarms.run.detection import Alarm
from evaluation.grading.facts.run.reading import count_facts
from evaluation.grading.files.grading import GradingRequest, grade_file
from evaluation.grading.files.tables import FileGrading
from evaluation.grading.remedies.methods.partial_crowd import EXCLUDED
from evaluation.grading.remedies.report import NAMES
from evaluation.grading.results.report.run import count_crowd
from evaluation.grading.results.report.tables import (
    read_alarms,
    read_gone_alarms,
    read_grade_changes,
    read_models,
    read_workers,
)
from evaluation.grading.run.results import GradeChanges, ModelRow, WorkerRow
from evaluation.grading.summary import (
    CheckResult,
    FactTotals,
    describe_contradictions,
    read_summary,
)
from evaluation.models import Run
from evaluation.runs.files.asking import AskSettings
from evaluation.runs.files.study import EndedEarlyError
from evaluation.runs.flow.asking.summary import Prices
from evaluation.runs.reports.about import build_run_about
from evaluation.runs.run_types.kind import Progress

# Workers shown, and workers or questions named for an alarm; files and pages have all of them.
MAX_SHOWN = 40
# Of them, when there are more: the last ranks, which include the least trustworthy workers.
WORST = 10
# Characters of a line, and of an id in the middle of one.
WIDE = 100
LONGEST_ID = 40


@dataclass(frozen=True)
class GradingRows:
    """Input of the terminal report on a grading: rows of workers and models, alarms, warnings.

    Attributes
    ----------
    n_answers, n_workers, n_questions, n_iterations : numbers of graded answers, voters, questions
        and iterations.
    remedies : names of the remedy options, in their order. changes : None without remedies.
    facts : counts of the facts; None if facts are switched off.
    rest : returns, for the name of a table, where the rows left out are found.
    groups : number of each worker's group; empty if all workers are connected.
    """

    n_answers: int
    n_workers: int
    n_questions: int
    n_iterations: int
    score_name: str
    workers: Iterable[WorkerRow]
    models: Iterable[ModelRow]
    remedies: Sequence[str]
    changes: GradeChanges | None
    ceiling: Ceiling
    alarms: Iterable[Alarm]
    checks: Iterable[CheckResult]
    gone: Iterable[Alarm]
    warnings: Iterable[str]
    facts: FactTotals | None
    rest: Callable[[str], str]
    groups: Mapping[Any, int] = field(default_factory=dict)


def format_file_report(graded: FileGrading, output: Path) -> str:
    """Return the terminal text on a grading of files, with the name of the output folder."""
    grading = graded.grading
    aqer, results = grading.graded.aqer, grading.build_results()
    is_voter = [status != EXCLUDED for status in aqer.out_of_ranking_]
    text = format_grading(
        GradingRows(
            n_answers=int(aqer.n_answers_[is_voter].sum()),
            n_workers=sum(is_voter),
            n_questions=len(aqer.questions_),
            n_iterations=aqer.n_iter_,
            score_name=grading.inputs.parameters.score_name,
            workers=results.iterate_workers(),
            models=results.iterate_models(),
            remedies=grading.inputs.parameters.remedies,
            changes=grading.compute_changes(),
            ceiling=aqer.ceiling_,
            alarms=grading.alarms.found,
            checks=grading.alarms.checks,
            gone=grading.alarms.gone,
            warnings=graded.warnings,
            facts=None if grading.facts is None else count_facts(grading.facts),
            rest=lambda table: f"in {table}.csv",
            groups=results.list_groups(),
        )
    )
    return f"{text}\n\nTables: {output}"


def format_grading(grading_rows: GradingRows) -> str:
    """Return the terminal text on a grading: tables, alarms, checks and warnings."""
    parts = [
        f"{format_count(grading_rows.n_answers, 'answer')} of "
        f"{format_count(grading_rows.n_workers, 'worker')} to "
        f"{format_count(grading_rows.n_questions, 'question')}, "
        f"{format_count(grading_rows.n_iterations, 'iteration')}",
        _format_workers(grading_rows),
        _format_models(grading_rows.models),
        _format_changes(grading_rows),
        _format_ceiling(grading_rows.ceiling),
        _format_facts(grading_rows.facts),
        textwrap.fill(TERMINAL.format_message(describe_contradictions(grading_rows.facts)), WIDE),
        format_alarms([*grading_rows.alarms, *grading_rows.gone], grading_rows.rest("alarms")),
        format_checks(grading_rows.checks),
        "\n".join(f"Warning: {warning}" for warning in grading_rows.warnings),
    ]
    return "\n\n".join(part for part in parts if part)


def _format_workers(grading_rows: GradingRows) -> str:
    """Return the text table of workers by rank; of more than 40, the best 30 and the worst 10.

    Groups that share no question follow one another.
    """
    group_of = grading_rows.groups
    rows = sorted(
        grading_rows.workers,
        key=lambda row: (
            row.rank is None,
            group_of.get(row.worker, 0),
            row.rank or 0,
            -(row.grade or 0.0),
        ),
    )
    header: tuple[str, ...] = (
        "rank",
        "worker",
        "grade",
        "low",
        "high",
        grading_rows.score_name.removesuffix(" score"),
        "answers",
        "support",
    )
    cells: list[tuple[Any, ...]] = [
        (r.rank, r.worker, r.grade, r.grade_low, r.grade_high, r.raw, r.n_answers, r.support)
        for r in rows
    ]
    if group_of:
        header = (*header, "group")
        cells = [
            (*row_cells, group_of.get(row.worker))
            for row_cells, row in zip(cells, rows, strict=True)
        ]
    if len(rows) <= MAX_SHOWN:
        return format_table(header, cells)
    ranked = sum(row.rank is not None for row in rows)
    best, worst = (MAX_SHOWN - WORST, WORST) if ranked > MAX_SHOWN else (ranked, 0)
    # One table, so that its columns stand below each other; the gaps are told between its rows.
    listed = [*cells[:best], *cells[ranked - worst : ranked]]
    lines = format_table(header, listed).splitlines()
    head, tail = lines[: len(lines) - worst], lines[len(lines) - worst :]
    rest = grading_rows.rest("workers")
    if n_hidden := ranked - best - worst:
        head.append(f"... and {n_hidden} more workers between them {rest}")
    if n_unranked := len(rows) - ranked:
        tail.append(f"... and {n_unranked} without a rank {rest}")
    return "\n".join([*head, *tail])


def _format_models(models: Iterable[ModelRow]) -> str:
    """Return the text table of models, highest score first; "" without models."""
    rows = sorted(models, key=lambda row: (row.score is None, -(row.score or 0.0)))
    header = ("rank", "model", "score", "low", "high", "percentile", "n", "answered")
    listed = [
        (r.rank, r.model, r.score, r.score_low, r.score_high, r.percentile, r.n, r.n_answered)
        for r in rows
    ]
    return format_table(header, listed) if listed else ""


def _format_changes(grading_rows: GradingRows) -> str:
    """Return lines of text on the remedies and how they changed the ranking; "" without any."""
    changes = grading_rows.changes
    if changes is None:
        return ""
    names = ", ".join(NAMES.get(name, name) for name in grading_rows.remedies)
    text = f"Remedies: {names}.\nCompared with the run without them: "
    if changes.spearman is None:
        return f"{text}no correlation (fewer than 2 workers, or no spread)"
    text += f"rank correlation (Spearman) {changes.spearman:.3f} over {changes.n} workers"
    movers = changes.list_movers()
    if not movers:
        return f"{text}; no rank changed"
    header = ("worker", "plain rank", "rank", "change", "plain grade", "grade")
    rows = [
        (m.worker, m.plain_rank, m.rank, f"{m.change:+d}", m.plain_grade, m.grade) for m in movers
    ]
    where = grading_rows.rest("remedies")
    return f"{text}. Largest movers (all {where}):\n{format_table(header, rows)}"


def _format_ceiling(ceiling: Ceiling) -> str:
    """Return the line of text on the human ceiling and its interval; "" if it is undefined."""
    if ceiling.score is None:
        return ""
    text = f"Human ceiling: {ceiling.score:.3f}"
    if ceiling.low is None:
        return text
    return f"{text} (95% interval {ceiling.low:.3f} to {ceiling.high:.3f})"


def _format_facts(facts: FactTotals | None) -> str:
    """Return the text on how many questions have facts, and why others have none."""
    if facts is None or not facts.questions:
        return ""
    messages = [Message("facts.found", asdict(facts))]
    for code, n in facts.silent.items():
        messages.append(Message("facts.silent", {"n": n, "why": WHY_EMPTY[code]}))
    if facts.read_by is not None:
        messages.append(Message("facts.read_by", asdict(facts.read_by)))
    return textwrap.fill(" ".join(map(TERMINAL.format_message, messages)), WIDE)


def format_alarms(alarms: Iterable[Alarm], where: str) -> str:
    """Return the text on all alarms; `where` names the table that lists the ids left out.

    An alarm that a remedy settled is printed with its outcome only.
    """
    lines = []
    for alarm in alarms:
        word = "ANSWERED" if alarm.is_answered else alarm.severity.upper()
        outcome = "" if alarm.outcome is None else f"{TERMINAL.format_message(alarm.outcome)} "
        text = "" if alarm.is_answered else TERMINAL.format_message(alarm.message)
        lines.append(f"{word} {alarm.kind}: {outcome}{text}".rstrip())
        for what, ids in (("Workers", alarm.workers), ("Questions", alarm.questions)):
            if ids:
                lines.append(f"  {what}: {_format_ids(ids, where)}")
    return "\n".join(textwrap.fill(line, WIDE, subsequent_indent="  ") for line in lines)


def format_checks(checks: Iterable[CheckResult]) -> str:
    """Return one line per result of a check, with the names of its checks; "" without checks."""
    names: dict[str, list[str]] = {}
    for check in checks:
        lacking = f" ({format_needed_data(check.check, check.reason)})" if check.needed else ""
        names.setdefault(check.result, []).append(f"{check.check}{lacking}")
    lines = [
        f"Checks, {word.lower()}: {', '.join(names[result])}"
        for result, word in RESULTS.items()
        if result in names
    ]
    return "\n".join(textwrap.fill(line, WIDE, subsequent_indent="  ") for line in lines)


def _format_ids(ids: Sequence[object], where: str) -> str:
    """Return up to 40 ids separated by commas, and the number of the others."""
    more = f" and {len(ids) - MAX_SHOWN} more {where}" if len(ids) > MAX_SHOWN else ""
    return ", ".join(_shorten_id(str(identifier)) for identifier in ids[:MAX_SHOWN]) + more


def _shorten_id(text: str) -> str:
    """Return an id as one line of at most 40 printable characters."""
    text = remove_control_characters(text).replace("\n", " ")
    return text if len(text) <= LONGEST_ID else f"{text[: LONGEST_ID - 3]}..."


def format_run_report(run: Run) -> str:
    """Return the terminal text on a finished run that is stored in the database."""
    summary, counts = read_summary(run), count_crowd(run)
    return format_grading(
        GradingRows(
            n_answers=counts["answers"],
            n_workers=counts["workers"],
            n_questions=counts["questions"],
            n_iterations=summary.iterations,
            score_name=build_run_about(run).score_name,
            workers=read_workers(run),
            models=read_models(run),
            remedies=() if summary.remedies is None else summary.remedies.asked_for,
            changes=read_grade_changes(run),
            ceiling=summary.ceiling,
            alarms=read_alarms(run),
            checks=summary.alarm_checks or (),
            gone=read_gone_alarms(run),
            warnings=TERMINAL.format_messages(run.warnings),
            facts=summary.facts,
            rest=lambda _: "on the page of the run",
        )
    )


def _build_facts_model(arguments: Mapping[str, Any]) -> AskSettings | None:
    """Return the settings of the chat model that extracts facts; None if none was given."""
    if arguments["facts_model"] is None:
        return None
    price_in, price_out = arguments["facts_price_in"], arguments["facts_price_out"]
    has_prices = (price_in, price_out) != (None, None)
    return AskSettings(
        arguments["facts_model"],
        parameters={"temperature": 0.0, "max_tokens": arguments["facts_max_tokens"]},
        prices=Prices(price_in or 0.0, price_out or 0.0) if has_prices else None,
        budget=arguments["facts_budget"],
        key_variable=arguments["facts_key_variable"],
    )


def grade_from_arguments(
    parameters: AqerParameters, arguments: Mapping[str, Any], progress: Progress
) -> str:
    """Grade the files in the command's arguments, write the tables, and return the report."""
    request = GradingRequest(
        answers=arguments["answers"],
        duplicates=arguments["duplicates"],
        keep_html=arguments["keep_html"],
        keep_ids=arguments["keep_ids"],
        overwrite=arguments["overwrite"],
        questions=arguments["questions"],
        models=arguments["models"],
        keep_thinking=arguments["keep_thinking"],
        columns=arguments["columns"],
        parameters=parameters,
        output=arguments["output"],
        exclude_workers=arguments["exclude_workers"],
        collapse_workers=arguments["collapse_workers"],
        anchors=arguments["anchors"],
        facts_model=_build_facts_model(arguments),
    )
    graded = grade_file(request, progress)
    report = format_file_report(graded, request.output)
    if not graded.is_complete:
        raise EndedEarlyError(f"{report}\n\nSome requests ended in errors.")
    return report
