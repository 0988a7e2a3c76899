"""What remedies need of the database: whom to leave out, what experts graded, which answers to ask.

`judgements_of` and `suggested_anchors` are for the pages of experts as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from django.db.models import Avg, QuerySet

from annotations.models import QuestionSet, QuestionSetVersion, Response, Worker
from evaluation.flow.aqer_summary import summary_of
from evaluation.methods.aqer.electorate import RemedyError
from evaluation.models import HumanJudgement, Run
from evaluation.steps.checkpoints import RunInputError
from evaluation.words.message import Message

# Ids that an error spells out.
NAMED = 20


def excluded_ids(public_ids: Sequence[str], workers: Sequence[int]) -> list[int]:
    """Return the primary keys of workers to exclude, by their public ids.

    `workers` are the keys of those who answered. Raises `RunInputError` for an id that is none of
    theirs.
    """
    if not public_ids:
        return []
    valid, wrong = [], []
    for text in public_ids:
        try:
            valid.append(UUID(text))
        except ValueError:
            wrong.append(text)
    found = dict(Worker.objects.filter(public_id__in=valid).values_list("public_id", "pk"))
    answering = set(workers)
    wrong += [str(public) for public in valid if found.get(public) not in answering]
    if wrong:
        more = f" and {len(wrong) - NAMED} more" if len(wrong) > NAMED else ""
        raise RunInputError(
            f"Workers to exclude that gave no answer here: {', '.join(wrong[:NAMED])}{more}. Give "
            "the platform's own ids (public ids) of workers who answered."
        )
    return [found[public] for public in valid]


def judgements_of(question_set: QuestionSet | QuestionSetVersion) -> QuerySet[HumanJudgement]:
    """Return the experts' judgements of answers to a question set, or to one version of it."""
    path = "response__submission__version"
    if isinstance(question_set, QuestionSet):
        path += "__question_set"
    return HumanJudgement.objects.filter(**{path: question_set}).order_by("pk")


def mean_judgements(version: QuestionSetVersion) -> dict[int, float]:
    """Return the mean grade of each judged answer, by the answer's primary key."""
    rows = judgements_of(version).order_by("response_id").values_list("response_id")
    return dict(rows.annotate(mean=Avg("grade")))


def suggested_anchors(run: Run) -> list[Response]:
    """Return the answers that an expert should grade for a run, the most telling first.

    Empty where the run suggested none; its summary says why. Answers that were withdrawn since are
    left out.
    """
    remedies = summary_of(run).remedies
    suggested = remedies and remedies.suggested_anchors
    keys = suggested.responses if suggested else ()
    found = Response.objects.select_related("question", "submission__worker").in_bulk(keys)
    return [found[key] for key in keys if key in found]


def as_run_input_error(error: RemedyError) -> RunInputError:
    """Return the error of a run for that of a remedy; each door says it."""
    return RunInputError(Message(f"run.{error.code}", error.values).as_text())
