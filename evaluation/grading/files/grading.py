"""Grade a file of answers, with files of remedies and facts by a chat model.

Read the input files of remedies: lists of workers, and answers graded by an expert.

Facts of a file of answers, extracted by a chat model (``--facts-model SPEC``).

Requests and replies are saved in the journal of the folder, so that the same command continues.

Read the answers of workers and models, grade them, and write all tables together. If a step fails,
no table is written.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from annotations.exchange import (
    AnchorFile,
    AnswerFile,
    ColumnNames,
    InputError,
    OutputFolder,
    WorkerList,
    read_anchors,
    read_model_answers,
)
from annotations.exchange.ids import extract_wording
from annotations.exchange.problems import Problems
from annotations.exchange.reading.duplicates import Duplicates
from annotations.exchange.reading.outside_information import read_worker_argument
from annotations.exchange.reading.questions import read_questions
from evaluation.consensus.inputs import (
    GradingInput,
    Progress,
    choose_question_groups,
    select_graded_answers,
)
from evaluation.consensus.methods.scale import RemedyError
from evaluation.consensus.parameters import AqerParameters
from evaluation.core.backends import parse_embedder_spec
from evaluation.core.messages.message import Message
from evaluation.core.options import TERMINAL
from evaluation.core.text.matching import format_suggestion
from evaluation.grading.facts.run import CrowdFacts, find_crowd_facts
from evaluation.grading.facts.run.meaning import copy_entailment_verdicts
from evaluation.grading.facts.run.reading import extract_facts_by_model
from evaluation.grading.files.tables import (
    ANCHORS,
    FileGrading,
    list_file_names,
    refuse_to_replace_results,
    write_tables,
)
from evaluation.grading.run.grading import Grading, grade_answers
from evaluation.runs.files.answers import (
    check_has_answers,
    convert_answers,
    convert_model_answers,
    load_precomputed_vectors,
    read_worker_answers,
)
from evaluation.runs.files.asking import AskSettings
from evaluation.runs.files.metrics import refuse_to_replace_inputs
from evaluation.runs.files.problem_messages import add_problem, build_error
from evaluation.runs.files.study import Step, StudyFolder
from evaluation.runs.flow.asking.plan import Item
from evaluation.runs.flow.asking.reading import AnswerColumns, PromptWithReminder, Replies

ADVICE = "Check the id; ids are case-sensitive."


def read_listed_workers(
    text: str, columns: ColumnNames, answers: AnswerFile, grading_input: GradingInput
) -> WorkerList:
    """Return the graded workers that an option lists, in its text or in the file that it names.

    Raises `InputError` for every id that is in no answer, with similar ids.
    """
    listed = read_worker_argument(text, columns)
    ids = answers.ids
    lines = {ids.read_worker_id(worker): line for worker, line in listed.lines.items()}
    listed = replace(listed, lines=lines)
    graded_workers = set(grading_input.workers)
    known_workers = dict.fromkeys(record.worker for record in answers.records)
    problems = Problems(listed.name)
    for worker, line in listed.lines.items():
        if worker not in known_workers:
            add_problem(
                problems,
                line or None,
                "worker" if line else None,
                "listed_worker_unknown",
                worker=format_suggestion(worker, known_workers),
                answers=answers.name,
                look=ADVICE if line else f"{ADVICE} There is no file of that name either.",
            )
    problems.raise_if_any()
    # Whose answers were all rejected has no vote already.
    lines = {worker: line for worker, line in listed.lines.items() if worker in graded_workers}
    return replace(listed, lines=lines)


def refuse_to_exclude_all(excluded: WorkerList, grading_input: GradingInput) -> None:
    """Raise `InputError` if all graded workers would be excluded."""
    if len(excluded.lines) == len(grading_input.workers):
        raise InputError.single(excluded.name, "all workers are in it", "Leave out fewer workers.")


def refuse_contradictory_parameters(name: str, parameters: AqerParameters) -> None:
    """Raise `InputError` if parameters contradict each other; the error names the file `name`."""
    for problem in parameters.find_problems():
        raise InputError.single(
            name, TERMINAL.format_problem(AqerParameters, problem), "Give both, or neither."
        )


def find_anchor_rows(
    anchors: AnchorFile, answers: str, grading_input: GradingInput
) -> list[tuple[int, float]]:
    """Return (row, grade) of each answer that experts graded; raise `InputError` if unknown."""
    answered = grading_input.answered
    keys = zip(answered.workers, answered.questions, strict=True)
    row_of = {key: row for row, key in enumerate(keys)}
    workers, questions = set(grading_input.workers), set(grading_input.questions)
    problems = Problems(anchors.name)
    anchor_rows = []
    for anchor in anchors.records:
        row = row_of.get((anchor.worker, anchor.question))
        if row is not None:
            anchor_rows.append((row, anchor.grade))
        elif anchor.worker not in workers:
            unknown = {"worker": anchor.worker[:60], "answers": answers, "look": ADVICE}
            add_problem(problems, anchor.line, "worker", "listed_worker_unknown", **unknown)
        elif anchor.question not in questions:
            unknown = {"question": anchor.question[:60], "answers": answers, "look": ADVICE}
            add_problem(problems, anchor.line, "question", "graded_question_unknown", **unknown)
        else:
            labels = {"worker": anchor.worker[:60], "question": anchor.question[:60]}
            add_problem(problems, anchor.line, None, "anchor_unknown", **labels)
    problems.raise_if_any()
    return anchor_rows


def refuse_to_replace_grades(anchors: Path) -> None:
    """Raise `InputError` if suggested answers would overwrite a file with experts' grades."""
    try:
        # Spreadsheet programs write a byte-order mark: it would belong to the first column's name.
        with anchors.open(encoding="utf-8-sig", newline="") as file:
            graded = any((row.get("grade") or "").strip() for row in csv.DictReader(file))
    except FileNotFoundError:
        return
    except (OSError, ValueError, csv.Error):
        graded = True  # not as it was written: somebody's work, or somebody's file
    if graded:
        raise build_error(anchors.name, "grades_replaced", path=anchors)


def refuse_unused_facts_model(parameters: AqerParameters, asking: AskSettings) -> None:
    """Raise `InputError` for a facts model while facts are off, or for a budget without prices."""
    if not parameters.facts:
        raise build_error("--facts-model", "facts_model_idle")
    if asking.budget is not None and asking.prices is None:
        raise build_error("--facts-budget", "budget_without_prices")


def add_model_facts(grading: Grading, folder: StudyFolder) -> Grading:
    """Return the grading with the facts that a chat model extracts from its answers.

    Requests and replies are stored in the study folder. The verdicts of an entailment model are
    kept. Raises `EndedEarlyError`, and the error of a model that cannot be loaded.
    """

    def ask(name: str, prompt: PromptWithReminder, items: Sequence[Item]) -> Replies:
        """Return the replies of the study folder's chat model to the requests."""
        return folder.ask_step(Step(name, prompt.template, prompt.again), items)

    inputs = grading.inputs
    reader = extract_facts_by_model(_build_columns(inputs), ask, folder.system)
    facts: CrowdFacts = find_crowd_facts(
        inputs.wordings,
        inputs.answered,
        inputs.models,
        grading.votes,
        frozenset(inputs.excluded),
        read_by=reader,
    )
    facts = replace(facts, read_by=reader.about)
    earlier_facts = grading.known_facts
    if earlier_facts is not None and earlier_facts.meaning is not None:
        facts = copy_entailment_verdicts(facts, earlier_facts)
    return replace(grading, known_facts=facts)


def _build_columns(inputs: GradingInput) -> AnswerColumns:
    """Return the answers of workers and models as columns, with the questions' texts."""
    answered, model_answers = inputs.answered, inputs.models and inputs.models.select_with_text()
    return AnswerColumns(
        [*answered.workers, *(model_answers.models if model_answers else ())],
        [True] * len(answered) + [False] * len(model_answers or ()),
        [*answered.questions, *(model_answers.questions if model_answers else ())],
        [*answered.texts, *(model_answers.texts if model_answers else ())],
        inputs.wordings,
        {},
    )


@dataclass(frozen=True)
class GradingRequest:
    """Input files, options and output folder of the command that grades a file of answers.

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
    keep_html: bool = False
    keep_ids: bool = False
    overwrite: bool = False
    questions: Path | None = None
    facts_model: AskSettings | None = None
    keep_thinking: bool = False


def grade_file(request: GradingRequest, progress: Progress | None = None) -> FileGrading:
    """Grade a file of answers, write the tables, and return the grading.

    Raises
    ------
    InputError
        A file or its content cannot be used; nothing was written.
    BackendError
        The answers cannot be embedded; nothing was written.
    EndedEarlyError
        The facts model did not get all requests; its replies are stored, no table was written.
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
    """Grade the files, extract facts by a chat model if one is given, and write the tables."""
    refuse_unused_facts_model(request.parameters, asking)
    study = StudyFolder(request.output, asking, progress or _ignore_progress)  # is the model there?
    grading = grade_files(request, progress)
    with study as folder:
        with_facts = add_model_facts(grading.grading, folder)
        grading = replace(
            grading, grading=with_facts, asked=folder.summarise_steps(), is_complete=folder.complete
        )
        with OutputFolder(request.output) as output:
            write_tables(output, grading)
    return grading


def _ignore_progress(what: str, done: int, total: int) -> None:
    """Do nothing; the default progress callback."""


def _refuse_to_replace_inputs(request: GradingRequest) -> None:
    """Raise `InputError` if an output file would replace an input file."""
    target = parse_embedder_spec(request.parameters.embedder)
    vectors = Path(target.target) if target.kind == "precomputed" else None
    lists = (request.exclude_workers, request.collapse_workers)
    id_files = [None if path is None else Path(path) for path in lists]
    inputs = (
        request.answers,
        request.models,
        vectors,
        *id_files,
        request.anchors,
        request.questions,
    )
    refuse_to_replace_inputs(request.output, list_file_names(request.parameters), inputs)


def grade_files(request: GradingRequest, progress: Progress | None = None) -> FileGrading:
    """Return the grading of the input files; write no file. Raises as `grade_file`."""
    answers = read_worker_answers(
        request.answers,
        request.columns,
        request.duplicates,
        keep_html=request.keep_html,
        keep_ids=request.keep_ids,
    )
    models = None
    if request.models is not None:
        models = read_model_answers(
            request.models, request.columns, request.keep_thinking, ids=answers.ids
        )
    model_answers = None if models is None else convert_model_answers(models)
    graded_answers = select_graded_answers(
        request.parameters, convert_answers(answers), model_answers
    )
    graded_answers = replace(graded_answers, n_repeated=answers.n_repeated)
    check_has_answers(answers, graded_answers)
    hashes = answers.hashes
    if models is not None:
        hashes["models"] = models.sha256
    read_from_id = {question: extract_wording(question) for question in graded_answers.questions}
    graded_answers = replace(
        graded_answers,
        wordings={question: wording for question, wording in read_from_id.items() if wording},
    )
    if request.questions is not None:
        questions = read_questions(request.questions)
        records = answers.ids.match_record_ids(questions.records)
        texts = {wording.question: wording.text for wording in records if wording.text}
        passages = {record.question: record.passage for record in records}
        categories = {record.question: record.category for record in records}
        graded_answers = replace(
            graded_answers,
            wordings={**graded_answers.wordings, **texts},
            question_groups=choose_question_groups(graded_answers.questions, passages, categories),
        )
        hashes["questions"] = questions.sha256
    if request.exclude_workers is not None:
        listed = read_listed_workers(
            request.exclude_workers, request.columns, answers, graded_answers
        )
        refuse_to_exclude_all(listed, graded_answers)
        excluded = tuple(listed.lines)
        parameters = replace(graded_answers.parameters, exclude_workers=excluded)
        graded_answers = replace(graded_answers, parameters=parameters, excluded=excluded)
        hashes["exclude_workers"] = listed.sha256
    if request.collapse_workers is not None:
        listed = read_listed_workers(
            request.collapse_workers, request.columns, answers, graded_answers
        )
        parameters = replace(graded_answers.parameters, collapse_workers=tuple(listed.lines))
        refuse_contradictory_parameters(listed.name, parameters)
        graded_answers = replace(
            graded_answers, parameters=parameters, collapsed=tuple(listed.lines)
        )
        hashes["collapse_workers"] = listed.sha256
    if request.anchors is not None:
        anchors = read_anchors(request.anchors, request.columns)
        anchors = replace(anchors, records=answers.ids.match_record_ids(anchors.records))
        graded_answers = replace(
            graded_answers, anchors=find_anchor_rows(anchors, answers.name, graded_answers)
        )
        hashes["anchors"] = anchors.sha256
    embed_texts, of_vectors = load_precomputed_vectors(graded_answers, answers, models)
    hashes |= of_vectors
    # Before grading, so that a refusal does not cost the time of a grading.
    if not request.overwrite:
        refuse_to_replace_results(request.output, hashes)
    try:
        grading = grade_answers(graded_answers, embed_texts, progress)
    except RemedyError as error:
        raise InputError.single(
            answers.name, TERMINAL.format_message(Message(error.code, error.values))
        ) from error
    return FileGrading(grading, answers, models, hashes)
