"""Read files of answers, questions and grades into records, and write rows to files.

A file of answers passes five stages, each a module that does not import the next:

1. `tables` selects the format by the ending of the name; 2. `decoding` finds the encoding and
yields lines of text (a workbook has none); 3. `delimited`, `jsonlines` and `workbook` yield rows of
text cells, each with its line; 4. `header` finds the wanted columns and the further ones; 5.
`answers` checks every row, removes repetitions and returns `records`.

Bad rows are collected on the way as `problems` and reported all at once, as an `InputError`. A
problem has a code and values; `problem_messages` has the sentences of all codes. Only `importing`
uses Django, models or a database.

`writing` writes files of the same formats, a piece at a time: `defusing` keeps spreadsheets from
running a text as a formula (and the readers restore it), `sheet` writes workbooks, and `folder`
writes all files or none.
"""

from annotations.exchange.header import ColumnNames
from annotations.exchange.problems import InputError, Problem
from annotations.exchange.reading.answer_grades import AnswerGrade, GradeFile, read_answer_grades
from annotations.exchange.reading.answers import (
    AnswerFile,
    ModelAnswerFile,
    read_answers,
    read_model_answers,
)
from annotations.exchange.reading.outside_information import (
    AnchorFile,
    AnchorRecord,
    WorkerList,
    read_anchors,
    read_workers,
)
from annotations.exchange.records import AnswerRecord, AnswerStatus, ModelAnswerRecord
from annotations.exchange.writing.folder import OutputFolder

__all__ = [
    "AnchorFile",
    "AnchorRecord",
    "AnswerFile",
    "AnswerGrade",
    "AnswerRecord",
    "AnswerStatus",
    "ColumnNames",
    "GradeFile",
    "InputError",
    "ModelAnswerFile",
    "ModelAnswerRecord",
    "OutputFolder",
    "Problem",
    "WorkerList",
    "read_anchors",
    "read_answer_grades",
    "read_answers",
    "read_model_answers",
    "read_workers",
]
