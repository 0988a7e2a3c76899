"""Grade a file of answers, as ``manage.py evaluate aqer`` does.

Read the answers of workers and models, grade them, and write all tables together. If a step fails,
no table is written.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from annotations.exchange import (
    ColumnNames,
    InputError,
    OutputFolder,
    read_anchors,
    read_model_answers,
)
from annotations.exchange.ids import read_as_wording
from annotations.exchange.reading.duplicates import Duplicates
from annotations.exchange.reading.questions import read_questions
from evaluation.consensus.inputs import choose_question_groups, select_graded_answers
from evaluation.consensus.methods.electorate import RemedyError
from evaluation.consensus.parameters import AqerParameters
from evaluation.consensus.vectors import Progress
from evaluation.core.backends import parse_spec
from evaluation.core.messages.message import Message
from evaluation.core.options import TERMINAL
from evaluation.grading.files.graded import FileGrading
from evaluation.grading.files.model_facts import add_model_facts, refuse_idle_model
from evaluation.grading.files.summary import refuse_to_replace_results
from evaluation.grading.files.tables import ANCHORS, list_files, write_tables
from evaluation.grading.remedies.files import (
    find_anchor_rows,
    read_listed_workers,
    refuse_problems,
    refuse_to_exclude_all,
    refuse_to_replace_grades,
)
from evaluation.grading.run.grading import grade_answers
from evaluation.runs.files.answers import (
    check_not_empty,
    convert_answers,
    convert_model_answers,
    load_precomputed,
    read_worker_answers,
)
from evaluation.runs.files.asking import AskSettings
from evaluation.runs.files.metrics import refuse_to_replace
from evaluation.runs.files.study import StudyFolder


@dataclass(frozen=True)
class GradingRequest:
    """Input files, options and output folder for grading one file of answers.

    `facts_model` is the chat model that reads facts, None where our own rules do.
    """

    answers: Path
    models: Path | None
    columns: ColumnNames
    parameters: AqerParameters
    output: Path
    exclude_workers: str | None = None
    collapse_workers: str | None = None
    anchors: Path | None = None
    duplicates: Duplicates = Duplicates.REFUSE
    overwrite: bool = False
    questions: Path | None = None
    facts_model: AskSettings | None = None
    keep_thinking: bool = False


def grade_file(request: GradingRequest, progress: Progress | None = None) -> FileGrading:
    """Grade a file of answers and write the tables; return the grading.

    Raises
    ------
    InputError
        A file, or what it holds, cannot be used; nothing was written.
    BackendError
        The answers cannot be embedded; nothing was written.
    EndedEarlyError
        The model of the facts was not asked all; what came is kept, no table is written.
    """
    _refuse_to_replace_inputs(request)
    if request.parameters.suggest_anchors:
        refuse_to_replace_grades(request.output / ANCHORS)
    if request.facts_model is not None:
        return _grade_and_ask(request, request.facts_model, progress)
    with OutputFolder(request.output) as folder:
        grading = grade_files(request, progress)
        write_tables(folder, grading)
    return grading


def _grade_and_ask(
    request: GradingRequest, asking: AskSettings, progress: Progress | None
) -> FileGrading:
    """Grade the files, let a chat model extract the facts, and write the tables."""
    refuse_idle_model(request.parameters, asking)
    study = StudyFolder(request.output, asking, progress or _ignore_progress)  # is the model there?
    grading = grade_files(request, progress)
    with study as folder:
        with_facts = add_model_facts(grading.grading, folder)
        grading = replace(
            grading, grading=with_facts, asked=folder.steps(), is_complete=folder.complete
        )
        with OutputFolder(request.output) as output:
            write_tables(output, grading)
    return grading


def _ignore_progress(what: str, done: int, total: int) -> None:
    """Do nothing: the progress callback if the caller gave none."""


def _refuse_to_replace_inputs(request: GradingRequest) -> None:
    """Raise `InputError` if an output file would replace an input file."""
    target = parse_spec(request.parameters.embedder)
    vectors = Path(target.target) if target.kind == "precomputed" else None
    lists = (request.exclude_workers, request.collapse_workers)
    id_files = [None if one is None else Path(one) for one in lists]
    inputs = (
        request.answers,
        request.models,
        vectors,
        *id_files,
        request.anchors,
        request.questions,
    )
    refuse_to_replace(request.output, list_files(request.parameters), inputs)


def grade_files(request: GradingRequest, progress: Progress | None = None) -> FileGrading:
    """Read and grade the input files; write no file. Raises as `grade_file`."""
    answers = read_worker_answers(request.answers, request.columns, request.duplicates)
    models = None
    if request.models is not None:
        models = read_model_answers(request.models, request.columns, request.keep_thinking)
    model_answers = None if models is None else convert_model_answers(models)
    given = select_graded_answers(request.parameters, convert_answers(answers), model_answers)
    given = replace(given, n_repeated=answers.n_repeated)
    check_not_empty(answers, given)
    hashes = answers.hashes
    if models is not None:
        hashes["models"] = models.sha256
    read_from_id = {question: read_as_wording(question) for question in given.questions}
    given = replace(
        given, wordings={question: wording for question, wording in read_from_id.items() if wording}
    )
    if request.questions is not None:
        questions = read_questions(request.questions)
        texts = {wording.question: wording.text for wording in questions.records if wording.text}
        passages = {one.question: one.passage for one in questions.records}
        categories = {one.question: one.category for one in questions.records}
        given = replace(
            given,
            wordings={**given.wordings, **texts},
            question_groups=choose_question_groups(given.questions, passages, categories),
        )
        hashes["questions"] = questions.sha256
    if request.exclude_workers is not None:
        listed = read_listed_workers(request.exclude_workers, request.columns, answers, given)
        refuse_to_exclude_all(listed, given)
        excluded = tuple(listed.lines)
        parameters = replace(given.parameters, exclude_workers=excluded)
        given = replace(given, parameters=parameters, excluded=excluded)
        hashes["exclude_workers"] = listed.sha256
    if request.collapse_workers is not None:
        listed = read_listed_workers(request.collapse_workers, request.columns, answers, given)
        parameters = replace(given.parameters, collapse_workers=tuple(listed.lines))
        refuse_problems(listed.name, parameters)
        given = replace(given, parameters=parameters, collapsed=tuple(listed.lines))
        hashes["collapse_workers"] = listed.sha256
    if request.anchors is not None:
        anchors = read_anchors(request.anchors, request.columns)
        given = replace(given, anchors=find_anchor_rows(anchors, answers.name, given))
        hashes["anchors"] = anchors.sha256
    embed_texts, of_vectors = load_precomputed(given, answers, models)
    hashes |= of_vectors
    # Before grading, so that a refusal does not cost the time of a grading.
    if not request.overwrite:
        refuse_to_replace_results(request.output, hashes)
    try:
        grading = grade_answers(given, embed_texts, progress)
    except RemedyError as error:
        raise InputError.single(
            answers.name, TERMINAL.said(Message(error.code, error.values))
        ) from error
    return FileGrading(grading, answers, models, hashes)
