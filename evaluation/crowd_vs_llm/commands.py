"""Files and text output of ``evaluate panels`` and ``run panels``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any

from annotations.exchange import (
    AnswerFile,
    ColumnNames,
    InputError,
    ModelAnswerFile,
    OutputFolder,
    read_model_answers,
)
from annotations.exchange.reading.duplicates import Duplicates
from evaluation.consensus.inputs import Progress, select_graded_answers
from evaluation.consensus.signatures import combine_hashes
from evaluation.core.backends import parse_embedder_spec
from evaluation.core.messages.console import format_table
from evaluation.core.messages.message import format_count
from evaluation.core.options import TERMINAL
from evaluation.crowd_vs_llm.run.comparison import (
    NoModelsError,
    PanelComparison,
    PanelsParameters,
    QuestionRow,
    compute_comparison,
)
from evaluation.crowd_vs_llm.run.summary import (
    PanelDistance,
    PanelModelScore,
    PanelNumbers,
    PanelsSummary,
)
from evaluation.models import LanguageModel, Run
from evaluation.runs.files.answers import (
    check_has_answers,
    convert_answers,
    convert_model_answers,
    load_precomputed_vectors,
    read_worker_answers,
)
from evaluation.runs.files.metrics import refuse_to_replace_inputs

PANELS, DISTANCES, MODELS = "panels.csv", "panel_distances.csv", "panel_models.csv"
QUESTIONS, SUMMARY = "panel_questions.csv", "summary.json"
FILES = (PANELS, DISTANCES, MODELS, QUESTIONS, SUMMARY)
# Without the keys of the best responses, in whose place the file has the texts.
QUESTION_COLUMNS = tuple(field.name for field in fields(QuestionRow))[:9]
BEST_RESPONSE_COLUMNS = ("best_of_people", "best_of_models", "best_of_both")


@dataclass(frozen=True)
class PanelsRequest:
    """Input files, options and output folder of ``evaluate panels``."""

    answers: Path
    models: Path
    columns: ColumnNames
    parameters: PanelsParameters
    output: Path
    duplicates: Duplicates = Duplicates.REFUSE
    keep_html: bool = False
    keep_ids: bool = False
    keep_thinking: bool = False


@dataclass(frozen=True)
class PanelFilesResult:
    """Comparison of panels computed from files; `input_hashes` are SHA-256 by input."""

    comparison: PanelComparison
    summary: PanelsSummary
    answers: AnswerFile
    models: ModelAnswerFile
    input_hashes: dict[str, str]

    @property
    def warnings(self) -> list[str]:
        """Warnings about the input files and the comparison, as sentences."""
        return TERMINAL.format_messages(
            [*self.answers.warnings, *self.models.warnings, *self.comparison.warnings]
        )

    def write_tables(self, folder: OutputFolder) -> None:
        """Write all tables of the comparison and summary.json into a folder."""
        summary = self.summary
        folder.write_csv(PANELS, _list_column_names(PanelNumbers), map(astuple, summary.panels))
        folder.write_csv(
            DISTANCES, _list_column_names(PanelDistance), map(astuple, summary.distances)
        )
        folder.write_csv(
            MODELS, _list_column_names(PanelModelScore), map(astuple, summary.standings)
        )
        columns = (*QUESTION_COLUMNS, *BEST_RESPONSE_COLUMNS)
        folder.write_csv(QUESTIONS, columns, self._iterate_question_cells())
        folder.write_json(SUMMARY, self._build_summary())

    def _iterate_question_cells(self) -> Iterator[tuple[object, ...]]:
        """Yield one row per question, the least similar exemplary answers first."""
        inputs = self.comparison.inputs
        people = dict(zip(inputs.answered.keys, inputs.answered.texts, strict=True))
        replies = inputs.models
        models = dict(zip(replies.keys, replies.texts, strict=True)) if replies else {}
        for row in self.comparison.build_question_rows():
            both = models if row.nearest_both_is_model else people
            yield (
                *(getattr(row, name) for name in QUESTION_COLUMNS),
                *(people.get(row.nearest_people), models.get(row.nearest_models)),
                both.get(row.nearest_both),
            )

    def _build_summary(self) -> dict[str, Any]:
        """Return the content of summary.json for the comparison of panels."""
        summary, input_hash = self.summary, combine_hashes(self.input_hashes.values())
        plain = summary.as_dict()
        return {
            "signature": self.comparison.build_signature(input_hash),
            "parameters": self.comparison.parameters.as_dict(),
            "counts": dict(summary.get_shown_counts()),
            "flagged_workers": [str(worker) for worker in self.comparison.flagged],
            "said": TERMINAL.format_messages(summary.messages),
            "alikeness": plain["alikeness"],
            "warnings": self.warnings,
            "embedding": plain["embedding"],
            "versions": plain["versions"],
            "input_hash": input_hash,
            "input_hashes": self.input_hashes,
        }


def compare_panel_files(
    request: PanelsRequest, progress: Progress | None = None
) -> PanelFilesResult:
    """Return the comparison of panels over answers of workers and models in files.

    Raises
    ------
    InputError
        A file cannot be read, or its content cannot be used.
    BackendError
        The answers cannot be embedded.
    """
    target = parse_embedder_spec(request.parameters.embedder)
    vectors = Path(target.target) if target.kind == "precomputed" else None
    refuse_to_replace_inputs(request.output, FILES, (request.answers, request.models, vectors))
    answers = read_worker_answers(
        request.answers,
        request.columns,
        request.duplicates,
        keep_html=request.keep_html,
        keep_ids=request.keep_ids,
    )
    models = read_model_answers(
        request.models, request.columns, request.keep_thinking, ids=answers.ids
    )
    inputs = select_graded_answers(
        request.parameters.build_grading_parameters(),
        convert_answers(answers),
        convert_model_answers(models),
    )
    check_has_answers(answers, inputs)
    embed_texts, vector_hashes = load_precomputed_vectors(inputs, answers, models)
    try:
        comparison = compute_comparison(request.parameters, inputs, embed_texts, progress)
    except NoModelsError:
        raise InputError.single(
            models.name,
            "no model has answered with a text",
            "Give answers of models: a panel of models needs at least one.",
        ) from None
    hashes = {**answers.hashes, "models": models.sha256, **vector_hashes}
    return PanelFilesResult(comparison, comparison.build_summary(), answers, models, hashes)


def _list_column_names(row: Any) -> tuple[str, ...]:
    """Return the field names of a row dataclass, which are a table's column names."""
    return tuple(field.name for field in fields(row))


def run_evaluate(
    parameters: PanelsParameters, arguments: Mapping[str, Any], progress: Progress
) -> str:
    """Compare panels from files, write the tables, and return the text to print."""
    request = PanelsRequest(
        answers=arguments["answers"],
        duplicates=arguments["duplicates"],
        keep_html=arguments["keep_html"],
        keep_ids=arguments["keep_ids"],
        models=arguments["models"],
        keep_thinking=arguments["keep_thinking"],
        columns=arguments["columns"],
        parameters=parameters,
        output=arguments["output"],
    )
    with OutputFolder(request.output) as folder:
        comparison = compare_panel_files(request, progress)
        comparison.write_tables(folder)
    warnings = [f"Warning: {warning}" for warning in comparison.warnings]
    return "\n\n".join([format_summary(comparison.summary), *warnings, f"Files: {request.output}"])


PANEL = ("panel", "people", "models", "answers", "dispersion", "agreement", "models' votes")
DISTANCE = ("panels", "questions", "cosine", "low", "high", "least", "rank r", "swapped")
STANDING = ("model", "panel", "score", "rank")


def format_summary(summary: PanelsSummary, names: Mapping[str, str] | None = None) -> str:
    """Return a comparison's counts, messages and tables as text for the terminal.

    `names` are the names of models by public id; None where the summary has names.
    """
    panels = [
        (
            *(panel.name, panel.people, panel.models, panel.answers, panel.dispersion),
            *(panel.agreement, panel.model_share),
        )
        for panel in summary.panels
    ]
    distances = [
        (
            *(f"{row.first}, {row.second}", row.questions, row.cosine, row.low, row.high),
            *(row.least, row.spearman_models, f"{row.swapped} of {row.model_pairs}"),
        )
        for row in summary.distances
    ]
    standings = [
        ((names or {}).get(row.model, row.model), row.panel, row.score, row.rank)
        for row in summary.standings
    ]
    counts = (
        f"{format_count(summary.answers, 'answer')} of {format_count(summary.workers, 'worker')} "
        f"and {summary.model_answers:,} of {format_count(summary.models, 'model')} to "
        f"{format_count(summary.questions, 'question')}"
    )
    return "\n\n".join(
        [
            counts,
            "\n".join(TERMINAL.format_messages(summary.messages)),
            format_table(PANEL, panels),
            format_table(DISTANCE, distances),
            format_table(STANDING, standings),
        ]
    )


def format_run(run: Run) -> str:
    """Return the text that `run panels` prints about a finished run."""
    summary = PanelsSummary.from_json(run.summary)
    ids = {row.model for row in summary.standings}
    known = LanguageModel.objects.filter(public_id__in=ids).values_list("public_id", "name")
    return format_summary(summary, {str(public): name for public, name in known})
