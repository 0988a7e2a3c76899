"""Recognise exports of survey tools and panels, map their columns, and read their answers.

`read_head` reads the beginning of a file and `recognise_preset` finds the tool that exported it.
`propose_mapping` proposes a role for its columns. `open_rows` yields the answers by this mapping or
by a changed one: `importing` stores them, and `convert_answers` writes a table of answers.
"""

from annotations.exchange.presets.arrangement import Arranged, Arrangement, locate_table
from annotations.exchange.presets.declared import PRESETS, recognise_preset
from annotations.exchange.presets.mapping import ROW_NUMBER, Mapping, Role
from annotations.exchange.presets.preset import Preset
from annotations.exchange.presets.refusals import refuse_answerless, refuse_unmapped
from annotations.exchange.presets.rows import (
    MappedRows,
    assign_column_roles,
    get_preset,
    open_rows,
    propose_mapping,
    select_answering_rows,
)
from annotations.exchange.presets.table import Head, read_head

__all__ = [
    "PRESETS",
    "ROW_NUMBER",
    "Arranged",
    "Arrangement",
    "Head",
    "MappedRows",
    "Mapping",
    "Preset",
    "Role",
    "assign_column_roles",
    "get_preset",
    "locate_table",
    "open_rows",
    "propose_mapping",
    "read_head",
    "recognise_preset",
    "refuse_answerless",
    "refuse_unmapped",
    "select_answering_rows",
]
