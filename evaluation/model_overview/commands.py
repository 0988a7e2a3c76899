"""Command ``evaluate views``: read folders, combine, write tables; the text of ``run views``.

Each folder has the output of another evaluation, which its summary.json names. The tables have the
same columns as those of runs, so one declaration reads both.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any

from annotations.exchange import InputError, OutputFolder
from annotations.exchange.header import Column
from annotations.exchange.problems import Problems
from annotations.exchange.reading.questions import read_questions
from annotations.exchange.reading.tables import open_table
from evaluation.consensus.inputs import Progress
from evaluation.core.charts.chart import Chart
from evaluation.core.messages.console import format_table, remove_control_characters
from evaluation.core.options import TERMINAL
from evaluation.model_overview.charts import build_correlations_chart, build_views_chart
from evaluation.model_overview.messages import CLAIMS, QUESTIONS, SIDES
from evaluation.model_overview.run.conclusions import (
    answer_questions,
    build_model_evidence,
    iterate_cell_rows,
    iterate_model_rows,
    list_cell_columns,
)
from evaluation.model_overview.run.findings import (
    CorrelationRow,
    DisagreementRow,
    ModelResultRow,
    OverviewResults,
    ViewsSummary,
    build_disagreement_rows,
    compute_overview_results,
)
from evaluation.model_overview.run.gathering import (
    ComparedRun,
    MetricsBuilder,
    NoObservationsError,
    ViewsParameters,
)
from evaluation.model_overview.storage import list_overview_file_types
from evaluation.models import Run
from evaluation.runs.files.metrics import SUMMARY, build_study_summary, refuse_to_replace_inputs
from evaluation.runs.flow.metrics import Exclusions
from evaluation.runs.flow.stored import MeasuredObservation, MeasureSource, read_measures

VIEWS, CORRELATIONS, MODELS = "views.csv", "correlations.csv", "models.csv"
DISAGREEMENTS = "disagreements.csv"
FIGURES = ("views.svg", "view-correlations.svg")
FILES = (VIEWS, CORRELATIONS, MODELS, DISAGREEMENTS, SUMMARY, *FIGURES)
REPEATED = "told_again"


@dataclass(frozen=True)
class FileRunType:
    """A run type whose output files contain measures of models: its title and these measures."""

    title: str
    views: tuple[MeasureSource, ...]


@dataclass(frozen=True)
class ViewsRequest:
    """Input folders, run types, options and output folder of ``evaluate views``.

    Attributes
    ----------
    folders : run type and output folder of other evaluations; "" takes the run type from
        summary.json. kinds : run types with views, by name. questions : file with the questions'
        texts, in order.
    """

    folders: Sequence[tuple[str, Path]]
    kinds: Mapping[str, FileRunType]
    parameters: ViewsParameters
    output: Path
    questions: Path | None = None


@dataclass(frozen=True)
class FolderOverview:
    """Model overview computed from folders; `hashes` are SHA-256 by name of the file read."""

    results: OverviewResults
    summary: ViewsSummary
    texts: Mapping[str, str]
    hashes: Mapping[str, str]

    def write_tables(self, folder: OutputFolder) -> None:
        """Write the tables and summary.json of the overview into a folder."""
        together = self.results.together
        folder.write_csv(VIEWS, list_cell_columns(together), iterate_cell_rows(together))
        own = (*self.summary.correlations, *self.summary.own)
        folder.write_csv(CORRELATIONS, list_column_names(CorrelationRow), map(astuple, own))
        folder.write_csv(
            MODELS,
            list_column_names(ModelResultRow),
            map(astuple, iterate_model_rows(self.summary)),
        )
        rows = build_disagreement_rows(together, self.results.disagreement)
        folder.write_csv(
            DISAGREEMENTS,
            (*list_column_names(DisagreementRow), "text"),
            ((*astuple(row), self.texts.get(row.question)) for row in rows),
        )
        folder.write_json(SUMMARY, self._build_summary())

    def _build_summary(self) -> dict[str, Any]:
        """Return the contents of summary.json."""
        summary, left_out = self.summary, Exclusions()
        if summary.repeated:
            left_out.add_all(REPEATED, [], summary.repeated)
        plain = summary.as_dict()
        return build_study_summary(
            "views",
            self.results.parameters,
            self.hashes,
            {**summary.get_shown_counts(), "sources": len(summary.sources)},
            left_out,
            more={
                "sources": plain["sources"],
                "views": plain["views"],
                "model_views": plain["model_views"],
                "missing": [str(side) for side in summary.missing],
                "answered": {
                    question.name: TERMINAL.format_message(question.said)
                    for question in answer_questions(summary)
                },
            },
        )


def list_column_names(row: Any) -> tuple[str, ...]:
    """Return the field names of a row dataclass, which are a table's column names."""
    return tuple(field.name for field in fields(row))


def combine_folders(request: ViewsRequest, progress: Progress | None = None) -> FolderOverview:
    """Return the overview of the results in the request's folders. Raises `InputError`."""
    refuse_to_replace_inputs(request.output, FILES, [request.questions])
    hashes: dict[str, str] = {}
    texts: dict[str, str] = {}
    if request.questions is not None:
        file = read_questions(request.questions)
        texts = {record.question: record.text for record in file.records}
        hashes["questions"] = file.sha256
    gathering = MetricsBuilder(list(texts))
    for name, path in request.folders:
        if request.output.exists() and path.exists() and path.samefile(request.output):
            raise InputError.single(
                str(path),
                "the tables would be written over those that are read",
                "Choose another folder with --output.",
            )
        made = _read_summary(path, required=not name)
        kind = name or str(made.get("signature", "")).partition("|")[0]
        run_type = request.kinds.get(kind)
        if run_type is None:
            raise InputError.single(
                str(path / SUMMARY),
                f"no view of a model is known of what made this folder ({kind or 'not given'})",
                f"Folders of {', '.join(request.kinds)} are read; KIND=DIR names the evaluation.",
            )
        source = ComparedRun(kind, run_type.title, str(path), str(made.get("signature", "")))
        gathering.add_source(source, _read_observations(path, run_type.views, hashes))
    try:
        together = gathering.build_metrics()
    except NoObservationsError:
        raise InputError.single(
            ", ".join(str(path) for _, path in request.folders),
            "no model has a number for a question",
            "Evaluate models first: evaluate aqer takes their answers with --models.",
        ) from None
    views = compute_overview_results(together, request.parameters, progress)
    return FolderOverview(views, ViewsSummary.from_results(views), texts, hashes)


def _read_summary(path: Path, required: bool) -> dict[str, Any]:
    """Return a folder's summary.json as a dict; {} if it is missing and not required."""
    file = path / SUMMARY
    try:
        summary = json.loads(file.read_bytes())
    except FileNotFoundError:
        if not path.is_dir():
            raise InputError.single(
                str(path), "there is no such folder", "Give the --output of another evaluation."
            ) from None
        if not required:
            return {}
        raise InputError.single(
            str(file),
            "the file is missing, so the evaluation that made this folder is unknown",
            "Give the --output of another evaluation, or name the evaluation: KIND=DIR.",
        ) from None
    except (OSError, ValueError) as error:
        raise InputError.single(str(file), f"it cannot be read: {error}") from None
    return summary if isinstance(summary, dict) else {}


def _read_observations(
    path: Path, views: Sequence[MeasureSource], hashes: dict[str, str]
) -> Iterator[MeasuredObservation]:
    """Yield the numbers of the measures in a folder's tables, skipping tables that are missing.

    Raises `InputError` where none of them is there.
    """
    names = list(dict.fromkeys(viewed.file_name for viewed in views))
    there = [name for name in names if (path / name).exists()]
    if not there:
        raise InputError.single(
            str(path),
            f"none of its tables is there: {', '.join(names)}",
            "Give the --output of another evaluation.",
        )
    for name in there:
        yield from _read_table(
            path / name, [view for view in views if view.file_name == name], hashes
        )


def _read_table(
    path: Path, views: Sequence[MeasureSource], hashes: dict[str, str]
) -> Iterator[MeasuredObservation]:
    """Yield the numbers of the measures in one table, and add its SHA-256 to `hashes`."""
    needed = dict.fromkeys(name for viewed in views for name in viewed.needs)
    columns = [Column(name, (name,), renamed_by="") for name in needed]
    problems = Problems(str(path))
    table = open_table(path, columns, problems)
    line = 1

    def iterate_rows() -> Iterator[tuple[str, ...]]:
        """Yield the cells of each row, and note its line for error messages."""
        nonlocal line
        for index, wanted, others in table.rows:
            line = index
            yield (*wanted, *others)

    cells = iterate_rows()
    first = next(cells, None)
    problems.raise_if_any()
    hashes[str(path)] = table.sha256
    if first is None:
        return

    def iterate_cells() -> Iterator[tuple[str, ...]]:
        """Yield the cells of all rows; the first one was already read."""
        yield first
        yield from cells

    try:
        yield from read_measures(views, (*needed, *table.kept_aside), iterate_cells())
    except ValueError as error:
        raise InputError.single(str(path), str(error), line=line) from None
    problems.raise_if_any()


def run_evaluate(
    parameters: ViewsParameters, arguments: Mapping[str, Any], progress: Progress
) -> str:
    """Combine the results in the folders, write the tables, and return the text to print."""
    kinds = {kind.name: FileRunType(kind.title, kind.views) for kind in list_overview_file_types()}
    request = ViewsRequest(
        [_parse_folder(text, kinds) for text in arguments["folders"]],
        kinds,
        parameters,
        arguments["output"],
        arguments["questions"],
    )
    with OutputFolder(request.output) as folder:
        made = combine_folders(request, progress)
        made.write_tables(folder)
        for name, chart in zip(FIGURES, _build_charts(made), strict=True):
            if chart is not None:
                folder.open(name).write(chart.build_standalone_svg().encode())
    return f"{format_summary(made.summary)}\n\nFiles: {request.output}"


def _parse_folder(text: str, kinds: Mapping[str, FileRunType]) -> tuple[str, Path]:
    """Return (run type, path) of an argument KIND=DIR or DIR; "" without a run type."""
    name, sign, path = text.partition("=")
    return (name, Path(path)) if sign and name in kinds else ("", Path(text))


def _build_charts(made: FolderOverview) -> tuple[Chart | None, Chart | None]:
    """Return the charts of the measures and of their correlations, each None if undefined."""
    titles = {view.name: view.title for view in made.results.together.views}
    return (
        build_views_chart(made.results.together),
        build_correlations_chart(made.summary.correlations, titles),
    )


CORRELATION = ("view", "other", "spearman", "low", "high", "questions", "models")
# Models and correlations shown; files have all.
MAX_SHOWN = 20


def format_summary(views_summary: ViewsSummary) -> str:
    """Return a model overview as text: questions answered, models, and correlations."""
    counts = (
        f"{len(views_summary.models)} models, {views_summary.questions} questions, "
        f"{len(views_summary.views)} views of "
        f"{views_summary.answers} answers, from: "
        f"{', '.join(source.title for source in views_summary.sources)}"
    )
    parts = [counts]
    if views_summary.missing:
        sides = ", ".join(SIDES[side].lower() for side in views_summary.missing)
        parts.append(f"Views without results: {sides}.")
    if views_summary.repeated:
        parts.append(f"{views_summary.repeated:,} rows repeat an earlier row and do not count.")
    parts += [
        f"{QUESTIONS[source.name]}\n  {TERMINAL.format_message(source.said)}"
        for source in answer_questions(views_summary)
    ]
    parts += [
        _format_model_evidence(views_summary, place)
        for place in range(len(views_summary.models))[:MAX_SHOWN]
    ]
    rows = [
        (row.view, row.other, row.spearman, row.low, row.high, row.n_questions, row.n_models)
        for row in views_summary.correlations[:MAX_SHOWN]
    ]
    if rows:
        parts.append(format_table(CORRELATION, rows))
    return "\n\n".join(parts)


def _format_model_evidence(views_summary: ViewsSummary, place: int) -> str:
    """Return the evidence about one model as lines of text."""
    portrait = build_model_evidence(views_summary, place)
    lines = [remove_control_characters(portrait.model)]
    for claim in portrait.claims:
        lines.append(f"  {CLAIMS[claim.name]}")
        lines += [f"    {TERMINAL.format_message(evidence.said)}" for evidence in claim.evidence]
        if claim.missing:
            sides = ", ".join(SIDES[side].lower() for side in claim.missing)
            lines.append(f"    Views without results: {sides}.")
    return "\n".join(lines)


def format_run(run: Run) -> str:
    """Return the text that `run views` prints about a finished run."""
    return format_summary(ViewsSummary.from_json(run.summary))
