"""UMWP as a study: problems are put to a model in each form, its replies evaluated."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from annotations.exchange import OutputFolder
from annotations.exchange.reading.word_problems import WordProblemReply, read_word_problems
from evaluation.files.asking import Asking
from evaluation.files.metrics import refuse_to_replace
from evaluation.files.study import Progress, Step, StudyFolder
from evaluation.files.umwp import UMWP_FILES, read_templates, write_umwp
from evaluation.flow.asking.plan import Item
from evaluation.flow.umwp.asking import conversation, template_of
from evaluation.flow.umwp.parameters import UmwpParameters
from evaluation.flow.umwp.study import UmwpStudy, study_replies
from evaluation.flow.umwp.templates import own_templates

REPLIES = "replies.csv"
COLUMNS = ("system", "id", "form", "reply", "status")


@dataclass(frozen=True)
class UmwpStudyRequest:
    """What to ask: the first `first` problems (None for all), in some forms."""

    problems: Path
    templates: Path | None
    forms: tuple[str, ...]
    first: int | None
    parameters: UmwpParameters
    output: Path


def study_umwp(
    request: UmwpStudyRequest, asking: Asking, progress: Progress
) -> tuple[UmwpStudy, bool]:
    """Ask what is not stored yet, evaluate, write the tables; whether every request has a reply.

    Raises
    ------
    InputError
        A file will not do. EndedEarlyError: not all was asked; the same command goes on.
    """
    written = (*UMWP_FILES, REPLIES)
    refuse_to_replace(request.output, written, (request.problems, request.templates))
    file = read_word_problems(request.problems)
    problems = file.problems[: request.first]
    hashes = {"problems": file.sha256}
    templates = own_templates()
    if request.templates is not None:
        templates, hashes["templates"] = read_templates(request.templates)
    with StudyFolder(request.output, asking, progress) as folder:
        replies = []
        for form in request.forms:
            items = [
                Item(f"{form}-{problem.id}", conversation(problem.text, form))
                for problem in problems
            ]
            rows = folder.ask(Step(form, template_of(form)), items)
            for line, problem in enumerate(problems, 1):
                row = rows[f"{form}-{problem.id}", 0]
                replies.append(
                    WordProblemReply(line, folder.system, problem.id, form, row.answer, row.status)
                )
        study = study_replies(
            request.parameters, problems, replies, templates, request.templates is None, progress
        )
        with OutputFolder(request.output) as tables:
            tables.write_csv(
                REPLIES,
                COLUMNS,
                ((one.system, one.item, one.form, one.text, one.status.value) for one in replies),
            )
            write_umwp(tables, study, hashes, {}, {"asked": folder.steps()})
        return study, folder.complete
