"""MAQA as a study: questions with several right answers are put to a model several times."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from annotations.exchange import OutputFolder
from annotations.exchange.reading.several_answers import (
    SeveralAnswersReply,
    read_several_answers,
)
from evaluation.files.asking import Asking
from evaluation.files.maqa import MAQA_FILES, write_maqa
from evaluation.files.metrics import refuse_to_replace
from evaluation.files.study import Progress, Step, StudyFolder
from evaluation.flow.asking.plan import Item
from evaluation.flow.maqa.parameters import MaqaParameters
from evaluation.flow.maqa.study import MaqaStudy, study_replies

REPLIES = "replies.csv"
COLUMNS = ("system", "item", "sample", "reply", "status")
TOLD = (
    "The question has one or more right answers. Reply with all of them as one JSON list of texts, "
    'such as ["first", "second"], and with nothing else on that line. On the next line write '
    '"Confidence: " and a number from 0 to 100: how sure you are that the list is right.'
)


@dataclass(frozen=True)
class MaqaStudyRequest:
    """What to ask: the first `first` questions (None for all), `samples` times each."""

    questions: Path
    samples: int
    first: int | None
    parameters: MaqaParameters
    output: Path


def study_maqa(
    request: MaqaStudyRequest, asking: Asking, progress: Progress
) -> tuple[MaqaStudy, bool]:
    """Ask what is not stored yet, evaluate, write the tables; whether every request has a reply.

    Raises
    ------
    InputError
        A file will not do. EndedEarlyError: not all was asked; the same command goes on.
    """
    refuse_to_replace(request.output, (*MAQA_FILES, REPLIES), (request.questions,))
    file = read_several_answers(request.questions)
    questions = file.questions[: request.first]
    with StudyFolder(request.output, asking, progress) as folder:
        items = [
            Item(
                question.id,
                (
                    {"role": "system", "content": TOLD},
                    {"role": "user", "content": question.text},
                ),
                request.samples,
            )
            for question in questions
        ]
        rows = folder.ask(Step("answers", "{question}", TOLD), items)
        replies = [
            SeveralAnswersReply(
                0, folder.system, item, sample, row.status, row.answer, None, None, ()
            )
            for (item, sample), row in rows.items()
        ]
        study = study_replies(request.parameters, questions, replies, progress)
        with OutputFolder(request.output) as tables:
            tables.write_csv(
                REPLIES,
                COLUMNS,
                ((one.system, one.item, one.sample, one.text, one.status.value) for one in replies),
            )
            hashes = {"questions": file.sha256}
            write_maqa(tables, study, hashes, {}, file.warnings, {"asked": folder.steps()})
        return study, folder.complete
