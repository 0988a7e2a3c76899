"""Start interim gradings of open collections, on request or after every so many workers.

A collection has at most one unfinished interim grading. A background process computes the texts of
the page after the grading, so that no page request has to wait for them.
"""

from __future__ import annotations

import logging
from typing import Any

from django.db import transaction
from django.db.models import Count, Q

from annotations.answering.places import compute_questions_per_worker
from annotations.models import Collection
from annotations.web.scope import RefusedError
from evaluation.consensus.parameters import AqerParameters
from evaluation.core.options import OptionError
from evaluation.grading.results.report.questions import read_answered_questions
from evaluation.models import Alarm, Interim
from evaluation.models.alarms import SETTLED
from evaluation.models.collecting import (
    FEWEST,
    select_completed_submissions,
    select_due_collections,
    select_unreported_interims,
)
from evaluation.models.runs import FINISHED
from evaluation.runs.background import runs as lifecycle
from evaluation.runs.background.exclusions import add_excluded_workers
from evaluation.runs.flow.forecast import WITHIN, convert_forecast_to_dict, forecast_more_workers
from evaluation.trust.report import build_trust_report

logger = logging.getLogger(__name__)

WITHOUT_MEANING = "tfidf-char"


class TooFewError(ValueError):
    """Error: too few workers have submitted for an interim grading; `done` is their number."""

    def __init__(self, done: int) -> None:
        super().__init__(f"{done} of {FEWEST} people have handed in")
        self.done = done


class NotDueError(ValueError):
    """Error: another background process has just started the interim grading that was due."""


def count_submitted_workers(collection: Collection) -> int:
    """Return how many workers have submitted their answers to a collection."""
    return select_completed_submissions().filter(version=collection.version_id).count()


def find_unfinished_interim(collection: Collection) -> Interim | None:
    """Return the collection's queued or running interim grading; None without one."""
    rows = Interim.objects.filter(collection=collection).exclude(run__state__in=FINISHED)
    return rows.select_related("run").first()


@transaction.atomic
def start_interim(collection: Collection, owner_id: int, *, by_itself: bool = False) -> Interim:
    """Start an interim grading of the submissions so far, or return the unfinished one.

    Raises `TooFewError`, `NotDueError` for one `by_itself`, and what `runs.queue` raises.
    """
    # Two who press at once wait for each other here, and the second finds the first one's.
    locked = (
        # Of the collection only: rows of the joined tables stay free for others.
        Collection.objects.select_for_update(of=("self",))
        .select_related("version__question_set")
        .get(pk=collection.pk)
    )
    going = find_unfinished_interim(locked)
    if going is not None:
        return going
    # Asked again under the lock: another background process may have been faster.
    if by_itself and not select_due_collections().filter(pk=locked.pk).exists():
        raise NotDueError
    done = count_submitted_workers(locked)
    if done < FEWEST:
        raise TooFewError(done)
    run = lifecycle.queue_run(
        locked.version,
        owner_id,
        add_excluded_workers(_build_grading_options(locked), locked.version),
        name=f"Interim, {done:,} people",
        notes="Made while people were still answering: it may change.",
    )
    return Interim.objects.create(collection=locked, run=run, n_people=done, by_itself=by_itself)


def run_interim_turn() -> None:
    """Compute the page results of finished interim gradings, and start the gradings that are due.

    Errors in page texts, and gradings that cannot be started, are logged and do not stop the
    others.
    """
    for interim in select_unreported_interims().select_related(
        "run__version", "collection__version"
    ):
        try:
            findings = _build_page_findings(interim)
        except Exception:
            # Whoever works here has other runs to do: this one is told without it.
            logger.exception("the forecast of interim grading %s cannot be computed", interim.pk)
            # Stored all the same, so that it is not tried again at every turn.
            findings = {}
        Interim.objects.filter(pk=interim.pk).update(found=findings)
    for collection in select_due_collections().select_related("version__question_set"):
        try:
            start_interim(collection, collection.version.question_set.owner_id, by_itself=True)
        except NotDueError:
            continue
        except (OptionError, RefusedError, TooFewError) as error:
            logger.warning("no interim grading of collecting %s: %s", collection.pk, error)


def _build_grading_options(collection: Collection) -> AqerParameters:
    """Return the options of an interim grading: leave-one-out, embedder by language."""
    known = collection.version.all_languages
    english = all(not one or one.lower().partition("-")[0] == "en" for one in known)
    # The default model knows English only; letters compare in any language.
    embedder = AqerParameters().embedder if english else WITHOUT_MEANING
    return AqerParameters(leave_one_out=True, embedder=embedder)


def _build_page_findings(interim: Interim) -> dict[str, Any]:
    """Return what the collection's page shows of an interim grading: verdict, alarms, forecast."""
    run = interim.run
    verdict = build_trust_report(run).verdict
    alarms = Alarm.objects.filter(run=run).exclude(SETTLED)
    counts = alarms.aggregate(
        alarms=Count("pk", filter=Q(severity=Alarm.Severity.ALARM)),
        notices=Count("pk", filter=Q(severity=Alarm.Severity.NOTICE)),
    )
    hint = forecast_more_workers(
        read_answered_questions(run), compute_questions_per_worker(interim.collection), WITHIN
    )
    return {
        "level": verdict.level,
        "headline": verdict.headline.as_dict(),
        **counts,
        "hint": None if hint is None else convert_forecast_to_dict(hint),
    }
