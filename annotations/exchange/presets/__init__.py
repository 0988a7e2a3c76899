"""Recognise exports of survey tools and panels, map their columns, and read their answers.

`read_head` reads the beginning of a file and `recognise_preset` finds the tool that exported it.
`propose_mapping` proposes a role for its columns. `open_answer_rows` yields the answers by this
mapping or by a changed one: `importing` stores them, and `convert_answers` writes a table of
answers.
"""

from annotations.exchange.presets.arrangement import LocatedTable, TableChoice, locate_table
from annotations.exchange.presets.declared import PRESETS, get_preset, recognise_preset
from annotations.exchange.presets.mapping import ROW_NUMBER, Mapping, Role
from annotations.exchange.presets.preset import Preset
from annotations.exchange.presets.refusals import refuse_incomplete_mapping, refuse_submission_list
from annotations.exchange.presets.rows import (
    MappedRows,
    assign_column_roles,
    drop_excluded_rows,
    open_answer_rows,
    propose_mapping,
)
from annotations.exchange.presets.table import Head, read_head

__all__ = [
    "PRESETS",
    "ROW_NUMBER",
    "Head",
    "LocatedTable",
    "MappedRows",
    "Mapping",
    "Preset",
    "Role",
    "TableChoice",
    "assign_column_roles",
    "drop_excluded_rows",
    "get_preset",
    "locate_table",
    "open_answer_rows",
    "propose_mapping",
    "read_head",
    "recognise_preset",
    "refuse_incomplete_mapping",
    "refuse_submission_list",
]
