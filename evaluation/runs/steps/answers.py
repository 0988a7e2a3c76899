"""Load what runs read from the database: answers, graded answers, inputs of remedies.

Answers of workers and models are loaded as columns to grade. The graded answers of a question set
come from an uploaded file. Remedies need excluded workers and experts' grades.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from django.db.models import Avg, QuerySet
from pydantic import TypeAdapter

from annotations.exchange import AnswerStatus, InputError
from annotations.exchange.graded import LabelGrades, MarkedFile, read_marked_answers
from annotations.exchange.ids import clean_id, extract_wording
from annotations.exchange.model_replies import THINKING_KEPT, split_model_reply
from annotations.exchange.reading.source import Source
from annotations.models import GRADED, Question, QuestionSet, QuestionSetVersion, Response, Worker
from annotations.models.access import AnyUser
from evaluation.consensus.inputs import Answers, ModelAnswers, choose_question_groups
from evaluation.consensus.methods.scale import RemedyError
from evaluation.consensus.parameters import AqerParameters
from evaluation.core.messages.message import format_count
from evaluation.core.options import Problem, build_problem
from evaluation.core.text.matching import format_suggestion
from evaluation.models import GradedAnswers, HumanJudgement, LLMResponse, select_valid_judgements
from evaluation.models.judgements import LONGEST_NAME
from evaluation.runs.flow.graded import GradedOptions
from evaluation.runs.steps.checkpoints import RunInputError


def read_question_wordings(version_id: int) -> dict[int, str]:
    """Return the texts of a version's graded questions, by the question's primary key.

    A question without text gets its id as wording, if the id is a readable text.
    """
    rows = Question.objects.filter(version=version_id, role__in=GRADED)
    columns = rows.values_list("pk", "text", "external_id")
    return {key: text or extract_wording(question) for key, text, question in columns}


def read_question_groups(version_id: int, questions: Iterable[int]) -> dict[int, str]:
    """Return each question's group (passage or category) for question contrast, by key."""
    rows = Question.objects.filter(version=version_id, role__in=GRADED)
    groups = list(rows.values_list("pk", "passage_id", "category"))
    passages = {key: str(passage) for key, passage, _ in groups if passage is not None}
    return choose_question_groups(questions, passages, {key: name for key, _, name in groups})


def read_grading_parameters(stored: dict[str, Any]) -> AqerParameters:
    """Return the grading options that a run stored, with defaults for missing ones.

    Raises RunInputError for an option that this version does not know.
    """
    try:
        return AqerParameters.from_dict(stored)
    except KeyError as error:
        raise RunInputError("run.unknown_parameters", names=", ".join(error.args)) from None


def load_worker_answers(version_id: int) -> Answers:
    """Return the workers' submitted answers to a version's graded questions, as columns."""
    rows = Response.objects.filter(
        question__version=version_id,
        question__role__in=GRADED,
        state=Response.State.SUBMITTED,
    )
    columns = ("pk", "submission__worker_id", "question_id", "text", "rejected", "submitted_at")
    return Answers.from_rows(rows.order_by("pk").values_list(*columns))


def load_model_answers(version_id: int) -> ModelAnswers:
    """Return the models' answers to a version's graded questions, as columns."""
    rows = LLMResponse.objects.filter(question__version=version_id, question__role__in=GRADED)
    columns = (
        *("pk", "model_id", "question_id", "text", "status", "sample", "finish_reason"),
        f"extra__{THINKING_KEPT}",
    )
    # The order of asking matters: `ModelAnswers.select_first_samples` takes the latest.
    ordered = rows.order_by("asked_at", "pk")
    return ModelAnswers.from_rows(map(_remove_stored_thinking, ordered.values_list(*columns)))


def _remove_stored_thinking(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return an answer's row without its last two columns, and without thinking in the text.

    Thinking stays where the import was asked to keep it.
    """
    key, model, question, text, status, sample, reason, thinking = row
    read = split_model_reply(text, AnswerStatus(status), reason, keep_thinking=bool(thinking))
    return key, model, question, read.text, read.status, sample


_MARKED = TypeAdapter(MarkedFile)
# Labels that are told of a file.
LISTED = 20


def store_graded_answers(question_set: QuestionSet, source: Source, uploaded_by: int) -> list[str]:
    """Store a set's file of graded answers, replacing an earlier one; return sentences on it.

    Worker names are replaced by numbers, in the order of the file.
    """
    marked = read_marked_answers(source)
    # The stored file needs no names: only which answers are of one person.
    numbers = {name: str(n) for n, name in enumerate(_list_workers(marked), 1)}
    marked.answers = [
        replace(answer, worker=numbers[answer.worker]) if answer.worker else answer
        for answer in marked.answers
    ]
    GradedAnswers.objects.update_or_create(
        question_set=question_set,
        defaults={
            "name": marked.name[:LONGEST_NAME],
            "sha256": marked.sha256,
            "marked": asdict(marked),
            "uploaded_by_id": uploaded_by,
        },
    )
    return [f"Read: {describe_graded_answers(marked)}.", *marked.warnings]


def load_graded_answers(question_set_id: int) -> MarkedFile | None:
    """Return the graded answers of a question set; None without an uploaded file."""
    stored_answers = GradedAnswers.objects.filter(question_set_id=question_set_id)
    stored: Any = stored_answers.values_list("marked", flat=True).first()
    return None if stored is None else _MARKED.validate_python(stored)


def describe_graded_answers(marked: MarkedFile) -> str:
    """Return a phrase with the numbers of answers, workers, questions and labels of a file."""
    n_workers = len(_list_workers(marked))
    whose = format_count(n_workers, "worker") if n_workers else "unknown workers"
    questions = len({answer.question for answer in marked.answers})
    return (
        f"{format_count(len(marked.answers), 'graded answer')} of {whose} to "
        f"{format_count(questions, 'question')}{''.join(_describe_labels(marked))}"
    )


def find_start_problems(
    version: QuestionSetVersion, _user: Any, options: GradedOptions
) -> list[Problem]:
    """Return the problems that prevent a run's start: no file, or a label without a value."""
    marked = load_graded_answers(version.question_set_id)
    if marked is None:
        return [build_problem("no_graded_answers")]
    try:
        marked.compute_grades(LabelGrades.parse(options.labels or ""))
    except InputError as error:
        reasons = "; ".join(problem.reason for problem in error.problems[:LISTED])
        return [build_problem("unknown_labels", "labels", reason=reasons)]
    return []


def _list_workers(marked: MarkedFile) -> dict[str, None]:
    """Return the workers of a file of graded answers, without duplicates, in order."""
    return dict.fromkeys(answer.worker for answer in marked.answers if answer.worker)


def _describe_labels(marked: MarkedFile) -> Iterator[str]:
    """Yield a phrase with the labels and their counts; nothing without labels."""
    if labels := marked.labels:
        listing = ", ".join(f"{label[:40]} ({n:,})" for label, n in list(labels.items())[:LISTED])
        yield f", with the labels {listing}"


# Ids that an error spells out.
NAMED = 20


@dataclass
class _ResolvedIds:
    """Result of looking up worker ids: primary keys, unknown ids, ambiguous ids."""

    keys: list[int] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    several: list[str] = field(default_factory=list)


def find_worker_keys(
    version: QuestionSetVersion, ids: Sequence[str], voting: Sequence[int]
) -> list[int]:
    """Return the primary keys of the graded workers with these external or public ids.

    `voting` are the keys of the graded workers; the others, whose answers were rejected, are
    left out. Raises `RunInputError` for an id of no worker or of several workers; options that
    `queue_run` accepted have no such id.
    """
    if not ids:
        return []
    resolved = _resolve_worker_ids(version, ids)
    if wrong := [*resolved.unknown, *resolved.several]:
        ids = ", ".join(wrong[:NAMED])
        raise RunInputError("run.unknown_workers", ids=ids, more=max(0, len(wrong) - NAMED))
    graded = set(voting)
    # dict.fromkeys: a worker named by the own and by the platform's id counts once.
    return [key for key in dict.fromkeys(resolved.keys) if key in graded]


def find_known_worker_keys(version: QuestionSetVersion, ids: Sequence[str]) -> list[int]:
    """Return the primary keys of the version's workers with these ids; skip other ids."""
    return _resolve_worker_ids(version, ids).keys


def find_worker_id_problems(
    version: QuestionSetVersion, user: AnyUser, parameters: Any, *, needed: bool = True
) -> list[Problem]:
    """Return the problems of worker ids in options: unknown, ambiguous, no worker left.

    With `needed` it is a problem if the exclusions leave no worker.
    """
    wrong = []
    for option, code in (("exclude_workers", "workers"), ("collapse_workers", "in_groups")):
        ids = getattr(parameters, option, ())
        resolved = _resolve_worker_ids(version, ids) if ids else _ResolvedIds()
        if resolved.unknown:
            known = sorted(select_answering_workers(version).values_list("external_id", flat=True))
            names = [format_suggestion(one, known) for one in resolved.unknown[:NAMED]]
            reason = _join_names(names, len(resolved.unknown))
            wrong.append(build_problem(f"unknown_{code}", option, reason=reason))
        elif resolved.several:
            reason = _join_names(resolved.several[:NAMED], len(resolved.several))
            wrong.append(build_problem(f"several_{code}", option, reason=reason))
        elif ids and needed and option == "exclude_workers":
            voting = select_answering_workers(version, rejected=parameters.include_rejected)
            if not voting.exclude(pk__in=resolved.keys).exists():
                wrong.append(build_problem("nobody_left", option))
    return wrong


def remove_worker_answers(
    version: QuestionSetVersion, ids: Sequence[str], answers: Answers
) -> Answers:
    """Return the answers without those of the workers who have these ids."""
    out = set(find_worker_keys(version, ids, answers.workers))
    return answers.select_rows(worker not in out for worker in answers.workers)


def select_answering_workers(
    version: QuestionSetVersion, *, rejected: bool = True
) -> QuerySet[Worker]:
    """Return the workers who submitted an answer to a version, with rejected ones or not."""
    answers = Response.objects.filter(submission__version=version, state=Response.State.SUBMITTED)
    if not rejected:
        answers = answers.filter(rejected=False)
    return Worker.objects.filter(pk__in=answers.values("submission__worker"))


def _resolve_worker_ids(version: QuestionSetVersion, ids: Sequence[str]) -> _ResolvedIds:
    """Return the keys of the version's workers with these ids, and unknown and ambiguous ids."""
    by_id: dict[str, list[int]] = {}
    public: dict[str, int] = {}
    for key, public_id, name in select_answering_workers(version).values_list(
        "pk", "public_id", "external_id"
    ):
        public[str(public_id)] = key
        by_id.setdefault(name, []).append(key)
    resolved_ids = _ResolvedIds()
    for text in ids:
        # The ids are cleaned like those of imported files, or "007 " would not be found.
        keys = by_id.get(clean_id(text), [])
        # The platform's own id names one worker, even where own ids are equal in several panels.
        if (of_platform := public.get(text.strip().lower())) is not None:
            keys = [of_platform]
        if len(keys) == 1:
            resolved_ids.keys += keys
        else:
            (resolved_ids.several if keys else resolved_ids.unknown).append(text)
    return resolved_ids


def _join_names(names: Sequence[str], total: int) -> str:
    """Return names joined by commas, with the number of `total` that are not listed."""
    more = f" and {total - len(names)} more" if total > len(names) else ""
    return ", ".join(names) + more


def select_answer_judgements(
    question_set: QuestionSet | QuestionSetVersion,
) -> QuerySet[HumanJudgement]:
    """Return the experts' judgements of answers to a question set, or to one version."""
    path = "response__submission__version"
    if isinstance(question_set, QuestionSet):
        path += "__question_set"
    return HumanJudgement.objects.filter(**{path: question_set}).order_by("pk")


def compute_expert_grades(version: QuestionSetVersion) -> dict[int, float]:
    """Return the expert grade of each judged answer, by the answer's primary key.

    The adjudicator's grade where a disagreement was settled, else the mean of the experts' grades.
    """
    # Replaces the order by pk, which would be in GROUP BY and split the grades of an answer.
    rows = (
        select_valid_judgements(select_answer_judgements(version))
        .order_by("response_id")
        .values_list("response_id")
    )
    return dict(rows.annotate(mean=Avg("grade")))


def convert_to_run_input_error(error: RemedyError) -> RunInputError:
    """Return the run's error for an error of a remedy, with the same code."""
    return RunInputError(f"run.{error.code}", **error.values)
