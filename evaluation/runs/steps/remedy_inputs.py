"""Load what a grading's remedies need from the database: excluded workers, experts' grades.

`judgements_of` is for the pages of experts as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Avg, QuerySet

from annotations.exchange.ids import clean_id
from annotations.models import QuestionSet, QuestionSetVersion, Response, Worker
from annotations.models.access import AnyUser
from evaluation.consensus.inputs import Answers
from evaluation.consensus.methods.electorate import RemedyError
from evaluation.core.options import Problem
from evaluation.core.options.problems import build_problem
from evaluation.core.text.similar_ids import format_suggestion
from evaluation.models import HumanJudgement, counting
from evaluation.runs.steps.checkpoints import RunInputError

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
    """Return primary keys of the graded workers named by external or public ids.

    `voting` are the keys of those who are graded; of the others, whose answers were rejected, none
    is returned. Raises `RunInputError` for an id that is of nobody, or of several: what `queue_run`
    lets pass has none.
    """
    if not ids:
        return []
    found = _resolve_ids(version, ids)
    if wrong := [*found.unknown, *found.several]:
        ids = ", ".join(wrong[:NAMED])
        raise RunInputError("run.unknown_workers", ids=ids, more=max(0, len(wrong) - NAMED))
    graded = set(voting)
    return [key for key in dict.fromkeys(found.keys) if key in graded]


def find_named_workers(version: QuestionSetVersion, ids: Sequence[str]) -> list[int]:
    """Return primary keys of the version's workers with these ids; wrong ids are skipped."""
    return _resolve_ids(version, ids).keys


def find_worker_problems(
    version: QuestionSetVersion, user: AnyUser, parameters: Any, *, needed: bool = True
) -> list[Problem]:
    """Return the problems of worker ids in options: unknown, ambiguous, no worker left.

    `needed` says that somebody must be left whose answers are read.
    """
    wrong = []
    for option, code in (("exclude_workers", "workers"), ("collapse_workers", "in_groups")):
        ids = getattr(parameters, option, ())
        found = _resolve_ids(version, ids) if ids else _ResolvedIds()
        if found.unknown:
            known = sorted(select_answering_workers(version).values_list("external_id", flat=True))
            names = [format_suggestion(one, known) for one in found.unknown[:NAMED]]
            reason = _join_names(names, len(found.unknown))
            wrong.append(build_problem(f"unknown_{code}", option, reason=reason))
        elif found.several:
            reason = _join_names(found.several[:NAMED], len(found.several))
            wrong.append(build_problem(f"several_{code}", option, reason=reason))
        elif ids and needed and option == "exclude_workers":
            voting = select_answering_workers(version, rejected=parameters.include_rejected)
            if not voting.exclude(pk__in=found.keys).exists():
                wrong.append(build_problem("nobody_left", option))
    return wrong


def remove_workers(version: QuestionSetVersion, ids: Sequence[str], answers: Answers) -> Answers:
    """Return the answers without those of the workers with these ids."""
    out = set(find_worker_keys(version, ids, answers.workers))
    return answers.kept(worker not in out for worker in answers.workers)


def select_answering_workers(
    version: QuestionSetVersion, *, rejected: bool = True
) -> QuerySet[Worker]:
    """Return the workers who submitted an answer to a version, with rejected ones or not."""
    answers = Response.objects.filter(submission__version=version, state=Response.State.SUBMITTED)
    if not rejected:
        answers = answers.filter(rejected=False)
    return Worker.objects.filter(pk__in=answers.values("submission__worker"))


def _resolve_ids(version: QuestionSetVersion, ids: Sequence[str]) -> _ResolvedIds:
    """Return the primary keys of a version's workers by id, with unknown and ambiguous ids."""
    by_id: dict[str, list[int]] = {}
    public: dict[str, int] = {}
    for key, public_id, name in select_answering_workers(version).values_list(
        "pk", "public_id", "external_id"
    ):
        public[str(public_id)] = key
        by_id.setdefault(name, []).append(key)
    found = _ResolvedIds()
    for text in ids:
        # The ids are cleaned like those of imported files, or "007 " would not be found.
        keys = by_id.get(clean_id(text), [])
        # The platform's own id names one worker, even where own ids are equal in several panels.
        if (of_platform := public.get(text.strip().lower())) is not None:
            keys = [of_platform]
        if len(keys) == 1:
            found.keys += keys
        else:
            (found.several if keys else found.unknown).append(text)
    return found


def _join_names(names: Sequence[str], total: int) -> str:
    """Return names joined by commas, with the number of `total` that are not listed."""
    more = f" and {total - len(names)} more" if total > len(names) else ""
    return ", ".join(names) + more


def select_judgements(question_set: QuestionSet | QuestionSetVersion) -> QuerySet[HumanJudgement]:
    """Return the experts' judgements of answers to a question set, or to one version."""
    path = "response__submission__version"
    if isinstance(question_set, QuestionSet):
        path += "__question_set"
    return HumanJudgement.objects.filter(**{path: question_set}).order_by("pk")


def compute_mean_judgements(version: QuestionSetVersion) -> dict[int, float]:
    """Return the valid expert grade of each judged answer, by the answer's primary key.

    The adjudicator's where experts disagreed and it was settled, else the mean.
    """
    rows = counting(select_judgements(version)).order_by("response_id").values_list("response_id")
    return dict(rows.annotate(mean=Avg("grade")))


def convert_to_run_input_error(error: RemedyError) -> RunInputError:
    """Return the run's error for an error of a remedy, with the same code."""
    return RunInputError(f"run.{error.code}", **error.values)
