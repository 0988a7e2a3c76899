"""Recognise exports of survey tools and panels, map their columns, and read their answers.

`head_of` reads the beginning of a file, `recognised` says of which export it is, `proposed` which
of its columns hold what, and `rows_of` gives the answers by that mapping or by one that was
changed, to `importing` for the database or as our own table to `convert_answers`.
"""

from annotations.exchange.presets.arrangement import Arranged, Arrangement, arrange
from annotations.exchange.presets.declared import PRESETS, recognised
from annotations.exchange.presets.mapping import ROW_NUMBER, Mapping, Role
from annotations.exchange.presets.preset import Preset
from annotations.exchange.presets.refusals import refuse_answerless, refuse_unmapped
from annotations.exchange.presets.rows import (
    MappedRows,
    answering_rows,
    column_roles,
    preset_named,
    proposed,
    rows_of,
)
from annotations.exchange.presets.table import Head, head_of

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
    "answering_rows",
    "arrange",
    "column_roles",
    "head_of",
    "preset_named",
    "proposed",
    "recognised",
    "refuse_answerless",
    "refuse_unmapped",
    "rows_of",
]
