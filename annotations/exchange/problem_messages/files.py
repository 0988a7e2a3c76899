"""Problem messages for whole files: encoding, table or workbook, header, and image files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotations.exchange.problem_messages.message import ProblemMessage

AS_UTF8 = "Save the file as text in UTF-8 and try again."


def _describe_missing_column(values: Mapping[str, Any]) -> str:
    """Return the message that a column is missing, with the columns that were found."""
    meant = "" if values["name"] == values["key"] else f" (named for {values['key']})"
    return f"there is no column {values['name']}{meant}; found: {values['found']}"


def _suggest_name(values: Mapping[str, Any]) -> str:
    """Return the advice for a missing column, naming a similar heading if there is one."""
    if values["suggestion"]:
        return f"If it is the column {values['suggestion']}, name it {values['name']}."
    return f"Add it, or name the one that it is {values['name']}."


def _suggest_option(values: Mapping[str, Any]) -> str:
    """Return the command line's advice for a missing column; "" if no option names columns."""
    option = values["option"]
    if not option:
        return ""
    if values["suggestion"]:
        return f"If it is the column {values['suggestion']}, add {option} {values['renaming']}"
    return f"Add it, or name the column with {option} {values['key']}=NAME"


FILES = {
    "cell_too_long": ProblemMessage(
        "a cell is longer than {most:,} characters",
        "If none is meant to be, a quote that opens in this row is not closed.",
    ),
    "cell_with_error": ProblemMessage(
        "the cell holds the error {text}",
        "Mend the formula, or type the value.",
    ),
    "column_missing": ProblemMessage(_describe_missing_column, _suggest_name, _suggest_option),
    "column_twice": ProblemMessage(
        "the column occurs twice, as number {first} and {again}",
        "Rename or remove one of them.",
    ),
    "ending_unknown": ProblemMessage(
        "the ending {ending} is not among the accepted ones: {accepted}",
        "{remedy}",
    ),
    "file_changed": ProblemMessage(
        "the file changed while it was read",
        "Try again once it is complete.",
    ),
    "file_empty": ProblemMessage(
        "the file is empty",
        "Check that it was saved completely.",
    ),
    "file_gone": ProblemMessage("the file is here no longer", "Send it again."),
    "file_missing": ProblemMessage(
        "there is no file {path}",
        "Check the path for typing mistakes.",
    ),
    "formula_without_value": ProblemMessage(
        "the cell holds a formula without a stored value",
        "Open and save the workbook in a spreadsheet, or paste the values.",
    ),
    "is_folder": ProblemMessage(
        "{path} is a folder",
        "Name the file in it.",
    ),
    "moving_picture": ProblemMessage(
        "it is a moving picture",
        "Send an image that is not animated.",
    ),
    "neither_encoding": ProblemMessage(
        "the byte {byte} is not {encoding}, and the file is not UTF-8 either",
        AS_UTF8,
    ),
    "no_picture": ProblemMessage(
        "it is no {kinds}",
        "Save it as {kinds}.",
    ),
    "no_rows_saved": ProblemMessage(
        "there is no data row",
        "Check that it was saved.",
    ),
    "not_ordinary_file": ProblemMessage(
        "{path} is no ordinary file",
        "Save what it yields to a file first.",
    ),
    "not_text": ProblemMessage(
        "this is no text: it is {kind}",
        "{remedy}",
    ),
    "web_page": ProblemMessage(
        "this is a web page and no table",
        "The tool may have asked for a sign-in: sign in, and download the export again.",
    ),
    "nul_in_cell": ProblemMessage(
        "there is a NUL character, which no text holds",
        "Remove it.",
    ),
    "nul_in_text": ProblemMessage(
        "there is a NUL character, which no text holds",
        "Remove it, or export the file anew. Save the file as text in UTF-8 and try again.",
    ),
    "picture_damaged": ProblemMessage(
        "it is damaged and cannot be read to its end",
        "Save it once more.",
    ),
    "picture_too_heavy": ProblemMessage("it is larger than {most} MB", "Make it smaller."),
    "picture_too_large": ProblemMessage(
        "it has more than {most} million pixels",
        "Make it smaller.",
    ),
    "quote_open": ProblemMessage(
        "a quote that opens in this row is not closed",
        "Close it, or double it.",
    ),
    "records_left_out": ProblemMessage(
        "{count:,} of {total:,} records are left out: {reason} (first in line {line:,})",
    ),
    "row_too_long": ProblemMessage(
        "the row has {fields}, the header has {width}",
        "Put quotes around a cell that holds a {delimiter} or a line break.",
    ),
    "row_too_short": ProblemMessage(
        "the row has {fields}, the header has {width}",
        "Check whether the row was cut off: an empty cell needs its {delimiter} too, "
        "and a cell that holds a line break needs quotes.",
    ),
    "text_after_quote": ProblemMessage(
        "after a closing quote in this row there is more text in the same cell",
        'Write a quote inside a quoted cell twice (""), and close every quote.',
    ),
    "two_encodings": ProblemMessage(
        "the byte {byte} is not {encoding}, though most of the file is: two encodings are mixed",
        AS_UTF8,
    ),
    "undecodable": ProblemMessage(
        "the byte {byte} is not {encoding}",
        AS_UTF8,
    ),
    "unreadable": ProblemMessage(
        "{place} cannot be read: {cause}",
        "Check its path and its permissions.",
    ),
    "workbook_damaged": ProblemMessage(
        "this is no XLSX workbook, or a damaged one",
        "Open it in a spreadsheet and save it anew as .xlsx, or export it as CSV.",
    ),
    "workbook_locked": ProblemMessage(
        "the file has a password",
        "Save it without one.",
    ),
    "workbook_not_xlsx": ProblemMessage(
        "this is no XLSX workbook",
        "If it is text, rename it to end in .csv, .tsv or .jsonl.",
    ),
    "workbook_old_format": ProblemMessage(
        "this is an old workbook (.xls) or one with a password",
        "Save it as .xlsx without a password, or export it as CSV.",
    ),
    "pictures_busy": ProblemMessage(
        "too many pictures are being read at the moment",
        "Send it again in a moment.",
    ),
    "own_pictures_wait": ProblemMessage(
        "{most} other pictures of yours are waiting to be read",
        "Send it again when they are done.",
    ),
    "too_many_columns": ProblemMessage(
        "the file has {n:,} columns, and {most:,} are read",
        "Leave out the columns that hold no answers.",
    ),
    "workbook_too_large": ProblemMessage(
        "the workbook is larger than is read: {error}",
        "Save only what is needed as a new workbook, or export it as CSV.",
    ),
    "workbook_unpacked_large": ProblemMessage(
        "the workbook would unpack to {n_bytes:,} bytes",
        "Export it as CSV.",
    ),
    "workbook_without_sheet": ProblemMessage(
        "the workbook has no worksheet",
        "Put the answers in one.",
    ),
    "files_busy": ProblemMessage(
        "the server is busy with other large files",
        "Send it again in a minute.",
    ),
}
