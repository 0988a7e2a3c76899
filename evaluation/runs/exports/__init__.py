"""Tables to download: all stored questions, passages and answers of a version, row by row.

An export says what its columns are and yields its rows while they are written; nothing holds all
of them. `answers`, `model_answers`, `items` (questions and passages) make one each of a version;
`choosing` finds the version and the run that somebody means. The commands write them to files,
the admin streams them, the API may do either; `exchange.writing.formats` knows the formats.
Our imports read every export back (grades excepted): export, import, export is the same file.

On the web pass the user who asks, and everything is what that user may see; commands pass None.
"""

from evaluation.runs.exports.answers import answers
from evaluation.runs.exports.choosing import ChoiceError, chosen_run, chosen_version
from evaluation.runs.exports.items import passages, questions
from evaluation.runs.exports.model_answers import model_answers
from evaluation.runs.exports.table import Export

__all__ = [
    "ChoiceError",
    "Export",
    "answers",
    "chosen_run",
    "chosen_version",
    "model_answers",
    "passages",
    "questions",
]
