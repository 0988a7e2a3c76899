"""Records of files to the columns of a grading; a key is the number of the row in its file."""

from __future__ import annotations

from annotations.exchange import AnswerFile, ModelAnswerFile
from evaluation.flow.inputs import Answers, ModelAnswers


def answers_of(file: AnswerFile) -> Answers:
    """Return the workers' answers."""
    return Answers.of(
        (record.row, record.worker, record.question, record.text, record.is_rejected)
        for record in file.records
    )


def model_answers_of(file: ModelAnswerFile) -> ModelAnswers:
    """Return the models' answers; one of an ordinary file is the first sample of its asking."""
    return ModelAnswers.of(
        (
            record.row,
            record.model,
            record.question,
            record.text,
            record.status,
            record.asking.sample if record.asking else 0,
        )
        for record in file.records
    )
