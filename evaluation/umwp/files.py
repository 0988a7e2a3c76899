"""UMWP on files: evaluate replies, ask a model, find contradictory labels, extract templates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from annotations.exchange import ColumnNames, InputError, OutputFolder
from annotations.exchange.reading.answers import DEFAULT_COLUMNS
from annotations.exchange.reading.labelled_replies import read_labelled_replies
from annotations.exchange.reading.reply_labels import read_reply_labels
from annotations.exchange.reading.systems import read_systems
from annotations.exchange.reading.word_problems import (
    WordProblem,
    WordProblemReply,
    read_word_problem_replies,
    read_word_problems,
)
from annotations.exchange.records import AnswerStatus
from evaluation.consensus.inputs import Progress
from evaluation.consensus.signatures import collect_versions
from evaluation.core.options import TERMINAL
from evaluation.runs.files.answers import read_answers_to_items
from evaluation.runs.files.asking import AskSettings
from evaluation.runs.files.metrics import (
    FILES,
    SUMMARY,
    build_study_summary,
    refuse_to_replace_inputs,
    write_result_table,
)
from evaluation.runs.files.problem_messages import build_error
from evaluation.runs.files.study import Step, StudyFolder
from evaluation.runs.flow.asking.plan import Item
from evaluation.runs.flow.metrics import Exclusions
from evaluation.runs.flow.stored import list_file_names
from evaluation.umwp.methods.detection import Draws
from evaluation.umwp.options import MiningParameters, UmwpParameters
from evaluation.umwp.problems import Contradictions, find_contradictions
from evaluation.umwp.prompts import (
    build_conversation,
    build_prompt_template,
    load_built_in_templates,
    read_templates,
)
from evaluation.umwp.run.classification import (
    TUNE,
    UNANSWERABLE,
    load_labelled_replies,
    measure_label_agreement,
)
from evaluation.umwp.run.mining import (
    CandidateRow,
    MinedReply,
    MiningResult,
    OneLabelError,
    draw_halves,
    extract_templates,
)
from evaluation.umwp.run.people import (
    PEOPLE,
    LabelledReplies,
    build_people_replies,
    build_person_rows,
    match_labels_to_replies,
)
from evaluation.umwp.run.result_tables import (
    LABELS,
    METRICS,
    NOISE,
    PERSONS,
    REPLIES,
    SIZES,
    STUDY_TABLES,
    TRENDS,
    UNRELATED,
    ReplyRow,
)
from evaluation.umwp.run.study import (
    PAPER_THRESHOLD,
    UNKNOWN,
    UmwpStudy,
    evaluate_replies,
    find_threshold,
)
from evaluation.umwp.run.tables import SizeRow, build_size_rows, build_trend_rows

UMWP_FILES = tuple(dict.fromkeys((*FILES, *list_file_names(STUDY_TABLES))))
CHART_FILE = "f1_by_size.svg"


@dataclass(frozen=True)
class UmwpRequest:
    """Input files, options and output folder of ``evaluate umwp``.

    `templates` is None for the built-in templates. `labels` has annotators' labels whether a reply
    states that there is no answer, `unrelated` whether it has unrelated content. `people` has
    workers' answers, with column names in `columns`; `keep_html` and `keep_ids` are its options.
    `systems` has the models' sizes. With `keep_thinking`, the thinking part of a reply stays in
    its text.
    """

    problems: Path
    replies: Path
    templates: Path | None
    parameters: UmwpParameters
    output: Path
    labels: Path | None = None
    unrelated: Path | None = None
    people: Path | None = None
    columns: ColumnNames = DEFAULT_COLUMNS
    systems: Path | None = None
    keep_thinking: bool = False
    keep_html: bool = False
    keep_ids: bool = False

    @property
    def written(self) -> tuple[str, ...]:
        """Names of all files that the evaluation writes."""
        size_files = ((name, self.systems) for name in (SIZES.file, TRENDS.file, CHART_FILE))
        labels = ((LABELS.file, self.labels), (UNRELATED.file, self.unrelated))
        optional = (*labels, (PERSONS.file, self.people), *size_files)
        return (*UMWP_FILES, *(name for name, path in optional if path is not None))


def evaluate_umwp(
    request: UmwpRequest,
    progress: Progress | None = None,
    picture: Callable[[Sequence[SizeRow]], str] | None = None,
) -> UmwpStudy:
    """Classify the replies in a file as answerable or unanswerable, and write the tables.

    `picture` returns the SVG of F1 by size, "" without any. Raises `InputError`, `BackendError`.
    """
    # Refuse before reading: embedding the replies of a large file takes minutes.
    label_files = {"labels": request.labels, "unrelated": request.unrelated}
    inputs = (request.problems, request.replies, request.templates, request.people)
    refuse_to_replace_inputs(
        request.output, request.written, (*inputs, *label_files.values(), request.systems)
    )
    problems = read_word_problems(request.problems)
    replies = read_word_problem_replies(request.replies, request.keep_thinking)
    hashes = {"problems": problems.sha256, "replies": replies.sha256}
    counts = {"repeated": replies.n_repeated}
    templates = load_built_in_templates()
    if request.templates is not None:
        templates, hashes["templates"] = read_templates(request.templates)
    known = {(reply.system, reply.item, reply.form) for reply in replies.replies}
    labels = {name: read_reply_labels(path, known) for name, path in label_files.items() if path}
    hashes |= {name: file.sha256 for name, file in labels.items()}
    systems = None if request.systems is None else read_systems(request.systems)
    if systems is not None:
        hashes["systems"] = systems.sha256
    left_out = Exclusions()
    people: list[WordProblemReply] = []
    people_warnings: list[str] = []
    if request.people is not None:
        if any(reply.system == PEOPLE for reply in replies.replies):
            raise InputError.single(
                replies.name,
                f"a system has the name {PEOPLE}, as the row of people would be",
                "Give the system another name.",
            )
        ids = [problem.id for problem in problems.problems]
        keeps = {"keep_html": request.keep_html, "keep_ids": request.keep_ids}
        answers = read_answers_to_items(request.people, request.columns, ids, **keeps)
        hashes |= answers.build_hashes("people")
        people_warnings = answers.warnings
        people = list(build_people_replies(answers.records, left_out))
    with OutputFolder(request.output) as folder:
        study = evaluate_replies(
            request.parameters,
            problems.problems,
            replies.replies,
            templates,
            request.templates is None,
            progress,
            people,
        )
        study.notes += [*replies.warnings, *people_warnings]
        if request.people is not None and not study.people:
            raise InputError.single(
                str(request.people),
                "there is no answer to any of the problems",
                "The column question holds the ids of the problems; --columns gives its name.",
            )
        study.exclusions.merge(left_out)
        draws = Draws(request.parameters.bootstrap, request.parameters.seed)
        labelled = {
            name: match_labels_to_replies(study.judged, file.labels, draws, study.failed)
            for name, file in labels.items()
        }
        for name, labelled_replies in labelled.items():
            study.exclusions.merge(labelled_replies.exclusions)
            annotators = "annotators" if name == "labels" else f"annotators_{name}"
            counts |= {name: len(labels[name].labels), annotators: len(labelled_replies.annotators)}
        if request.people is not None:
            counts["people"] = len(study.people)
            counts["peoples_answers"] = sum(map(len, study.people.values()))
        write_umwp(folder, study, hashes, counts, labelled=labelled.get("labels"))
        if "unrelated" in labelled:
            write_result_table(folder, UNRELATED, labelled["unrelated"].compute_unrelated_rows())
        if systems is not None:
            rows = build_size_rows(study.metrics, systems.systems)
            write_result_table(folder, SIZES, rows)
            write_result_table(folder, TRENDS, build_trend_rows(rows))
            if picture is not None and (drawn := picture(rows)):
                folder.write_lines(CHART_FILE, [drawn])
    return study


def write_umwp(
    folder: OutputFolder,
    study: UmwpStudy,
    hashes: Mapping[str, str],
    counts: Mapping[str, int],
    more: Mapping[str, Any] | None = None,
    labelled: LabelledReplies | None = None,
) -> None:
    """Write the result tables and summary.json of a study into a folder.

    `hashes` (SHA-256 of the inputs), `counts` and `more` are entries of summary.json. `labelled`
    is None without a file of labels.
    """
    for table in STUDY_TABLES:
        rows = table.rows(study)
        if table is METRICS and labelled is not None:
            rows = [*rows, *labelled.compute_agreement_rows()]
        write_result_table(folder, table, rows)
    if labelled is not None:
        write_result_table(folder, LABELS, labelled.build_label_rows())
    if study.people:
        write_result_table(folder, PERSONS, build_person_rows(study))
    folder.write_json(SUMMARY, {**_build_summary(study, hashes, counts), **(more or {})})


def _build_summary(
    study: UmwpStudy, hashes: Mapping[str, str], counts: Mapping[str, int]
) -> dict[str, Any]:
    """Return the content of summary.json for a study."""
    info = study.similarity.info
    labelled = load_labelled_replies()
    same, kappa = measure_label_agreement(labelled)
    signature_parts = {
        "encoder": info.model,
        "revision": info.revision,
        "precision": info.precision,
        "threshold": f"{study.threshold:.4g}",
    }
    return build_study_summary(
        "umwp",
        study.parameters,
        hashes,
        {**study.build_counts(), **counts},
        study.exclusions,
        made=signature_parts,
        warnings=[*study.notes, *TERMINAL.format_messages(study.list_warnings())],
        more={
            "complete": study.complete,
            "threshold": study.threshold,
            "threshold_on_labelled_replies": None if study.tuned is None else asdict(study.tuned),
            "labelled_replies": {"n": len(labelled), "agreement": same, "kappa": kappa},
            "encoder": info.as_dict(),
            "templates": list(study.similarity.templates),
        },
    )


@dataclass(frozen=True)
class UmwpStudyRequest:
    """Input files, options and output folder of ``study umwp``, which asks a model.

    The first `first` problems of the file are asked, all for None. `templates` None are the
    project's.
    """

    problems: Path
    templates: Path | None
    forms: tuple[str, ...]
    first: int | None
    parameters: UmwpParameters
    output: Path


def execute_study(
    request: UmwpStudyRequest, asking: AskSettings, progress: Progress
) -> tuple[UmwpStudy, bool]:
    """Send the missing requests, evaluate, write tables; return the study and whether complete.

    Returns the study, and whether every request has a reply. Raises `InputError` if a file is
    invalid. Raises `EndedEarlyError` if requests are missing: the same command then continues and
    repeats no finished request.
    """
    written = (*UMWP_FILES, REPLIES.file)
    refuse_to_replace_inputs(request.output, written, (request.problems, request.templates))
    file = read_word_problems(request.problems)
    problems = file.problems[: request.first]
    hashes = {"problems": file.sha256}
    templates = load_built_in_templates()
    if request.templates is not None:
        templates, hashes["templates"] = read_templates(request.templates)
    with StudyFolder(request.output, asking, progress) as folder:
        replies = []
        for form in request.forms:
            items = [
                Item(f"{form}-{problem.id}", build_conversation(problem.text, form))
                for problem in problems
            ]
            rows = folder.ask_step(Step(form, build_prompt_template(form)), items)
            for line, problem in enumerate(problems, 1):
                row = rows[f"{form}-{problem.id}", 0]
                replies.append(
                    WordProblemReply(line, folder.system, problem.id, form, row.answer, row.status)
                )
        study = evaluate_replies(
            request.parameters, problems, replies, templates, request.templates is None, progress
        )
        with OutputFolder(request.output) as tables:
            reply_rows = (
                ReplyRow(reply.system, reply.item, reply.form, reply.text, reply.status.value)
                for reply in replies
            )
            write_result_table(tables, REPLIES, reply_rows)
            write_umwp(tables, study, hashes, {}, {"asked": folder.summarise_steps()})
        return study, folder.complete


NOISE_FILES = (NOISE.file, SUMMARY)


def find_contradictions_in_file(problems: Path, least: float, output: Path) -> Contradictions:
    """Find contradictory labels in a file of problems; write noise.csv and summary.json.

    Problems are similar from the Jaccard index `least` on, above 0 to 1. Raises `InputError`.
    """
    refuse_to_replace_inputs(output, NOISE_FILES, (problems,))
    file = read_word_problems(problems)
    with OutputFolder(output) as folder:
        contradictions = find_contradictions(file.problems, least)
        write_result_table(folder, NOISE, contradictions.rows)
        folder.write_json(
            SUMMARY,
            {
                "signature": f"umwp_noise|similarity:{least:g}|inputs:{file.sha256[:16]}"
                f"|version:{metadata.version('crowdgrade')}",
                "counts": {
                    "problems": contradictions.problems,
                    "pairs": len(contradictions.rows),
                    **contradictions.counts,
                },
                "without_partner": contradictions.without_partner,
                "partners_missing": contradictions.partners_missing,
                "partners_unanswerable": contradictions.partners_unanswerable,
                "gold_of_unanswerable": contradictions.gold_of_unanswerable,
                "versions": collect_versions(),
                "input_hash": file.sha256,
            },
        )
    return contradictions


CANDIDATES, TEMPLATES = "candidates.csv", "templates.txt"
MINING_FILES = (CANDIDATES, TEMPLATES, SUMMARY)
WITHOUT_TEXT = "without_text"


@dataclass(frozen=True)
class MiningRequest:
    """Input files, options and output folder for extracting new templates from replies.

    `replies` are labelled, or get the labels of `problems`. `replies` None are the project's
    labelled replies, `templates` None the project's templates.
    """

    replies: Path | None
    problems: Path | None
    templates: Path | None
    parameters: MiningParameters
    output: Path


def mine_templates(request: MiningRequest, progress: Progress | None = None) -> MiningResult:
    """Extract templates from replies; write candidates, templates and summary.json.

    Raises `InputError` if a file is invalid or a half of the replies has only one label, and
    `BackendError` if the encoder is unavailable.
    """
    inputs = (request.replies, request.problems, request.templates)
    refuse_to_replace_inputs(request.output, MINING_FILES, inputs)
    exclusions, hashes = Exclusions(), dict[str, str]()
    replies = _read_replies_to_mine(request, exclusions, hashes)
    templates, parameters = load_built_in_templates(), request.parameters
    if request.templates is not None:
        templates, hashes["templates"] = read_templates(request.templates)
    threshold = parameters.threshold
    if threshold is None:
        threshold = (
            PAPER_THRESHOLD if request.templates else find_threshold(parameters.encoder, templates)
        )
    with OutputFolder(request.output) as folder:
        try:
            mined = extract_templates(replies, templates, threshold, parameters, progress)
        except OneLabelError as error:
            raise build_error(str(request.replies or "replies"), "half_of_one_label") from error
        folder.write_csv(CANDIDATES, CandidateRow._fields, mined.candidates)
        folder.write_lines(TEMPLATES, (f"{line}\n" for line in (*templates, *mined.chosen)))
        folder.write_json(SUMMARY, _build_mining_summary(parameters, mined, hashes, exclusions))
    return mined


def _read_replies_to_mine(
    request: MiningRequest, exclusions: Exclusions, hashes: dict[str, str]
) -> list[MinedReply]:
    """Return labelled replies, each in the mined or held-out half; count the exclusions."""
    if request.replies is None:
        # The half that measured the threshold stays held out.
        return [
            MinedReply(labelled.reply, labelled.first == UNANSWERABLE, labelled.half == TUNE)
            for labelled in load_labelled_replies()
            if labelled.first == labelled.second
        ]
    if request.problems is None:
        file = read_labelled_replies(request.replies)
        hashes["replies"] = file.sha256
        if file.n_empty:
            exclusions.add_all(WITHOUT_TEXT, [], file.n_empty)
        groups = [reply.item or f"line {reply.line}" for reply in file.replies]
        pairs = zip(file.replies, draw_halves(groups, request.parameters.seed), strict=True)
        return [MinedReply(reply.text, reply.unanswerable, mined) for reply, mined in pairs]
    return _read_replies_with_problems(request.problems, request, exclusions, hashes)


def _read_replies_with_problems(
    path: Path, request: MiningRequest, exclusions: Exclusions, hashes: dict[str, str]
) -> list[MinedReply]:
    """Return replies with the answerable/unanswerable labels of their problems.

    Replies to an unanswerable problem and to its original are in the same half.
    """
    assert request.replies is not None
    problems, replies = read_word_problems(path), read_word_problem_replies(request.replies)
    hashes |= {"problems": problems.sha256, "replies": replies.sha256}
    known = {problem.id: problem for problem in problems.problems}
    usable, groups = [], []
    for reply in replies.replies:
        key = {
            "system": reply.system, "form": reply.form, "item": reply.item, "line": reply.line,
        }  # fmt: skip
        if reply.item not in known:
            exclusions.add(UNKNOWN, key)
        elif reply.status.is_missing:
            exclusions.add(reply.status.value, key)
        elif reply.status is not AnswerStatus.TEXT:
            exclusions.add(WITHOUT_TEXT, key)
        else:
            usable.append(reply)
            # Partners are almost equal: in both halves they would make the held-out one look
            # better.
            groups.append(_find_original_id(known[reply.item], known))
    pairs = zip(usable, draw_halves(groups, request.parameters.seed), strict=True)
    return [
        MinedReply(reply.text, not known[reply.item].answerable, mined) for reply, mined in pairs
    ]


def _find_original_id(problem: WordProblem, known: Mapping[str, WordProblem]) -> str:
    """Return the id of a problem's first known original problem, or its own id without one."""
    return next((item for item in problem.relevant if item in known), problem.id)


def _build_mining_summary(
    parameters: MiningParameters,
    mined: MiningResult,
    hashes: Mapping[str, str],
    exclusions: Exclusions,
) -> dict[str, object]:
    """Return the content of summary.json for an extraction of templates."""
    sizes: Sequence[tuple[str, tuple[int, int]]] = (("mined", mined.mined), ("kept", mined.kept))
    return build_study_summary(
        "umwp_templates",
        parameters,
        hashes,
        {
            **{name: {"unanswerable": good, "answerable": other} for name, (good, other) in sizes},
            "patterns": mined.patterns,
            "candidates": len(mined.candidates),
            "chosen": len(mined.chosen),
            "templates": len(mined.templates),
        },
        exclusions,
        made={"threshold": f"{mined.threshold:.4g}"},
        more={
            "threshold": mined.threshold,
            "kept_before": asdict(mined.before),
            "kept_after": asdict(mined.after),
        },
    )
