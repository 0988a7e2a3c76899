"""A graded file of answers: everything its tables, its summary and its report are made of."""

from __future__ import annotations

from dataclasses import dataclass

from annotations.exchange import AnswerFile, AnswerRecord, ModelAnswerFile
from evaluation.flow.alarms import Alarms
from evaluation.flow.embed import Embedded
from evaluation.flow.grade import Graded
from evaluation.flow.grade_changes import GradeChanges, standings_of
from evaluation.flow.parameters import AqerParameters
from evaluation.flow.results import Results, Undefined
from evaluation.flow.signatures import combined_hash


@dataclass(frozen=True)
class FileGrading:
    """Everything the tables are made of.

    Attributes
    ----------
    answers, models : the files as they were read, without what was left out; `answered` the
        records that hold a text, in the order of the arrays of `graded`.
    input_hashes : SHA-256 of each input file.
    n_rejected : answers left out because they were refused where they were collected.
    """

    parameters: AqerParameters
    answers: AnswerFile
    models: ModelAnswerFile | None
    answered: list[AnswerRecord]
    embedded: Embedded
    graded: Graded
    alarms: Alarms
    input_hashes: dict[str, str]
    n_rejected: int = 0

    def results(self) -> Results:
        """Return the rows of the tables, to be taken once."""
        return Results(self.graded.aqer, self.graded.models, Undefined())

    @property
    def input_hash(self) -> str:
        """One hash of all inputs."""
        return combined_hash(self.input_hashes.values())


def changes_of(grading: FileGrading) -> GradeChanges:
    """Return what the remedies changed against the plain run, workers in the order of the file."""
    assert grading.graded.plain is not None
    everybody = dict.fromkeys(record.worker for record in grading.answers.records)
    return GradeChanges.between(
        everybody, standings_of(grading.graded.plain), standings_of(grading.graded.aqer)
    )
