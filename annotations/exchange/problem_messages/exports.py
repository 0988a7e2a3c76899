"""Problem messages for exports of survey tools, annotation tools and experiment programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from annotations.exchange.problem_messages.message import ProblemMessage


def _advise_choosing_worker(values: Mapping[str, Any]) -> str:
    """Return the web page's advice when no worker column was found: choose one."""
    rows = ", or the row number if each row is of one worker" if values["has_rows"] else ""
    return f"Choose the column of the workers' ids{rows}."


def _build_program_template(reason: str) -> Callable[[Mapping[str, Any]], str]:
    """Return a function that formats a reason, preceded by the program that exported the file."""

    def fill_reason(values: Mapping[str, Any]) -> str:
        """Return the reason, filled with values, after the name of the program."""
        program = f"in this export of {values['program']} " if values["program"] else ""
        return program + reason.format_map(values)

    return fill_reason


def _advise_mapping_worker(values: Mapping[str, Any]) -> str:
    """Return the command line's advice when no worker column was found: use --map."""
    rows = "; if each row is of one worker, --map worker=#row takes the row number"
    return f"Name it with --map worker=COLUMN{rows if values['has_rows'] else ''}."


EXPORTS = {
    "log_damaged": ProblemMessage(
        "the log is damaged ({error})",
        "Copy it again; `inspect log recover` repairs a log whose evaluation was interrupted.",
    ),
    "log_invalid": ProblemMessage(
        "{place} is no JSON ({error})",
        "Copy the log again.",
    ),
    "log_listing": ProblemMessage(
        "it lists logs and has no samples",
        "Upload the logs themselves: the files that end in .eval.",
    ),
    "log_model_missing": ProblemMessage(
        "the samples do not name their model",
        "Name it in the field “Model”.",
        "Name it with --model NAME.",
    ),
    "log_no_header": ProblemMessage(
        "the archive is no log of Inspect: it has no header",
        "Choose a file that Inspect wrote.",
    ),
    "log_no_samples": ProblemMessage(
        "the log has no samples",
        "Choose a log with samples. Of lm-evaluation-harness these are the files samples_... that "
        "--log_samples writes.",
    ),
    "log_no_text": ProblemMessage(
        "none of the {n:,} samples has a text of the model: it compared choices by likelihood",
        "Only tasks that generate texts can be imported.",
    ),
    "log_results_only": ProblemMessage(
        "it has the results of lm-evaluation-harness without samples",
        "Choose the files samples_... that --log_samples writes.",
    ),
    "log_sample_large": ProblemMessage(
        "{sample} is larger than 256 MB",
        "Leave the sample out.",
    ),
    "log_sample_no_object": ProblemMessage(
        "sample {n:,} is no sample of the tool",
        "Copy the log again.",
    ),
    "argilla_nobody": ProblemMessage(
        "this export of Argilla does not name the author of each response",
        "Save the records as JSON, which names the users: dataset.records.to_json(PATH), or before"
        " Argilla 2 dataset.format_as('datasets').to_json(PATH).",
    ),
    "argilla_unanswered": ProblemMessage(
        "this export of Argilla holds no responses",
        "Export the records with responses, as dataset.records(with_responses=True).to_json(PATH).",
    ),
    "cells_hold_objects": ProblemMessage(
        "these columns hold lists or objects, and no texts: {columns}",
        "Save the records as JSON or JSON Lines, or write each answer in a row of its own.",
        "Save the records as JSON or JSON Lines, or write each answer in a row of its own; if other"
        " columns are meant, name them with --map worker=COLUMN and --map answer=COLUMN.",
    ),
    "doccano_nobody": ProblemMessage(
        "this export of doccano does not name the annotators",
        "Export without sharing annotations, and take in the file of each annotator under the"
        " annotator's name, such as ana.jsonl.",
    ),
    "doccano_spans": ProblemMessage(
        "this export of doccano holds spans or relations, and no written answers",
        "Export a project of texts (sequence to sequence) or of labels.",
    ),
    "hub_cells_cut": ProblemMessage(
        "the hub cut long cells in {n_rows:,} of these rows",
        "Download the file of the data set itself.",
    ),
    "hub_rows_in_cells": ProblemMessage(
        "these are rows of the hub's rows API, each in one cell",
        "Save the API's answer itself as JSON, or download the file of the data set.",
    ),
    "object_cell_cut": ProblemMessage(
        "the cell is no list or object, as the others of its column are; it may have been cut",
        "Save the records as JSON or JSON Lines.",
    ),
    "psiturk_events": ProblemMessage(
        "this is psiTurk's eventdata.csv, which holds no answers",
        "Take questiondata.csv or trialdata.csv.",
    ),
    "trials_alike": ProblemMessage(
        "several trials of a participant have the name {question!r}, and no column names their"
        " items",
        "Add a column item that names the item of each trial.",
    ),
    "answer_column_unclear": ProblemMessage(
        _build_program_template("no column looks like written answers; checked: {looked_at}"),
        "Choose the columns of answers.",
        "Name them with --map answer=COLUMN, several times or as a glob.",
    ),
    "header_missing": ProblemMessage(
        "the first row looks like data, and not like names of columns: {first}",
        "Put a row with the names of the columns above it, such as worker, question and answer.",
        "Put a row with the names of the columns above it, such as worker,question,answer; if "
        "they are names, give the contents of the columns with --map worker=COLUMN and --map "
        "answer=COLUMN.",
    ),
    "worker_column_unclear": ProblemMessage(
        _build_program_template("no column looks like the workers' ids; checked: {looked_at}"),
        _advise_choosing_worker,
        _advise_mapping_worker,
    ),
    "people_are_columns": ProblemMessage(
        "the columns are people ({people} ...) and the rows are questions",
        "Tick that each column is a person, or exchange rows and columns in the file.",
        "Read it so with --people-as-columns; if the columns are something else, name that of the "
        "workers with --map worker=COLUMN.",
    ),
    "answer_is_object": ProblemMessage(
        "the cell is a list or an object, and no answer",
        "Choose a column of texts, or write each answer of the list in a row of its own.",
    ),
    "table_place": ProblemMessage(
        "{place}",
        "Choose another sheet or header row, if the answers are elsewhere.",
        "If the answers are elsewhere, choose with --sheet NAME or --header-row N.",
    ),
    "sheet_unknown": ProblemMessage(
        "the workbook has no sheet {sheet}; it has {sheets}",
        "Choose one of these.",
    ),
    "sheet_of_no_workbook": ProblemMessage(
        "only an XLSX workbook has sheets", "Choose no sheet.", "Leave out --sheet."
    ),
    "header_of_objects": ProblemMessage(
        "JSON names each value, and has neither a header row nor columns",
        "Choose neither.",
        "Leave out --header-row and --people-as-columns.",
    ),
    "rows_left_out": ProblemMessage(
        "there is no answer: {left_out}",
        "Check that the answers were saved.",
    ),
    "foreign_answer_long": ProblemMessage(
        "the answer is longer than {most:,} bytes",
        "Shorten it.",
    ),
    "list_of_submissions": ProblemMessage(
        "this is Prolific's list of submissions or demographic export, which holds no answers",
        "Take the file of your survey tool, in which the ids of Prolific were recorded. “Import"
        " answers” joins this file to the answers.",
        "Take the file of your survey tool, in which the ids of Prolific were recorded, and join"
        " this file to it: manage.py convert_answers ANSWERS --demographics {place}",
    ),
    "demographic_column_missing": ProblemMessage(
        "there is no column {name}; found: {found}",
        "Choose the roles of the columns again.",
        "Write the name after --map-demographics as in the first row of the file.",
    ),
    "demographics_answered": ProblemMessage(
        "this is no demographic export of Prolific; found: {found}",
        "Take the file that Prolific offers as “Demographic data”.",
        "Take the file that Prolific offers as “Demographic data”, or name the columns of another"
        " table with --map-demographics worker=COLUMN.",
    ),
    "demographics_differ": ProblemMessage(
        "{worker} is already in line {first_line}, with another {column}",
        "Remove the row that does not count, or give the column the role Ignore.",
        "Remove the row that does not count, or add --map-demographics 'ignore={column}'.",
    ),
    "panel_statuses_undecided": ProblemMessage(
        "Prolific lists submissions of workers who answered as {counts}: {workers}",
        "Choose whether their answers count.",
        "Say --panel-statuses apply to leave out the answers of returned and timed-out submissions"
        " and to flag those of rejected ones, or --panel-statuses keep.",
    ),
    "participants_unmatched": ProblemMessage(
        "none of the {n:,} participants, such as {first}, is a worker of the answers, such as"
        " {answering}",
        "Check that the answers have Prolific's ids as workers.",
        "Check that the answers have Prolific's ids as workers (--map worker=COLUMN).",
    ),
    "participants_unnamed": ProblemMessage(
        "no column is named for the participants; found: {found}",
        "Give the column of Prolific's ids the role Worker.",
        "Name the column of Prolific's ids with --map-demographics worker=COLUMN.",
    ),
    "looks_like": ProblemMessage(
        "it looks like {looks}",
        "Take it in as “{title}”.",
        "Take it in by: {command}",
    ),
    "looks_like_export": ProblemMessage(
        "it looks like an export of {program}",
        "Take it in as “{title}”.",
        "Take it in by: {command}",
    ),
    "mapped_column_ambiguous": ProblemMessage(
        "the column {name} occurs twice",
        "Rename or remove one of them.",
    ),
    "mapped_column_missing": ProblemMessage(
        "there is no column {name}; found: {found}",
        "Write the name as in the first row of the file.",
    ),
    "mapped_column_unnamed": ProblemMessage(
        "no column is named for the {what}; found: {found}",
        "Choose the columns that hold the workers' ids and the answers.",
        "Use --map worker=COLUMN and --map answer=COLUMN.",
    ),
    "mapped_column_twice": ProblemMessage(
        "one column is used twice",
        "Choose a column of its own for each.",
    ),
    "not_object_list": ProblemMessage(
        "this is no list of objects",
        "Save a list of objects with the keys worker, question and answer, or a table as CSV or"
        " XLSX.",
    ),
}
