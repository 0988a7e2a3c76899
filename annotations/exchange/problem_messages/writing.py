"""Problem messages for writing output files."""

from __future__ import annotations

from annotations.exchange.problem_messages.message import ProblemMessage

WRITING = {
    "ending_not_writable": ProblemMessage(
        "the ending {ending} is no format that can be written",
        "End the name in {endings}, or name the format.",
    ),
    "export_cell_long": ProblemMessage(
        "the {name} of {place} has {size:,} characters, more than the {most:,} that a"
        " cell of this format holds",
        "Choose JSON Lines.",
    ),
    "file_name_unusable": ProblemMessage(
        "{error}",
        "Choose another name.",
    ),
    "folder_in_place": ProblemMessage(
        "{name} is a folder there",
        "Move it, or choose another folder.",
    ),
    "folder_not_written": ProblemMessage(
        "the folder could not be written: {cause}",
        "Check the place, or choose another.",
    ),
    "folder_file_refused": ProblemMessage(
        "the folder takes no file {name}: {cause}",
        "Check the place, or choose another.",
    ),
    "folder_unwritable": ProblemMessage(
        "the folder cannot be written to: {cause}",
        "Check the place, or choose another.",
    ),
    "nul_in_export": ProblemMessage(
        "the {name} of {place} holds a NUL character, which no file of text can hold",
        "Correct it where it is stored.",
    ),
    "output_no_folder": ProblemMessage(
        "this is no folder",
        "Choose another place, or remove it.",
    ),
    "output_not_ordinary": ProblemMessage(
        "{name} is no ordinary file there",
        "Choose another name.",
    ),
    "output_parent_file": ProblemMessage(
        "{folder} is no folder",
        "Choose another place.",
    ),
    "sheet_cell_long": ProblemMessage(
        "in row {number} a text has {size:,} characters, more than the {most:,} that "
        "a cell of a workbook holds",
        "Choose CSV or JSON Lines.",
    ),
    "sheet_full": ProblemMessage(
        "a sheet holds {most:,} rows and no more",
        "Choose CSV or JSON Lines.",
    ),
}
