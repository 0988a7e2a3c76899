"""Actions of a requester on a collection: publish, change settings, pause, close, admit workers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import ValidationError
from django.core.validators import URLValidator
from django.db import transaction
from django.db.models import Count, F, Q, QuerySet
from django.utils import timezone

from annotations.answering import waves
from annotations.answering.checks import count_checks
from annotations.answering.errors import BegunError, SettingsError
from annotations.answering.links import PROLIFIC as PROLIFIC
from annotations.answering.places import GRADED
from annotations.editing.checks import list_blocking_findings
from annotations.models import (
    Admission,
    Collection,
    QuestionSet,
    QuestionSetVersion,
    is_counting_signals,
)
from annotations.models.collections import MOST_PLACES, new_code

PROLIFIC_RETURN = "https://app.prolific.com/submissions/complete?cc={code}"
CODE = "{code}"
BATCH = 1000

FIXED_SETTINGS = ("protocol", "worker_parameter", "panel")
"""Settings that cannot change once a worker has begun: the answers would not be comparable."""

BOUNDS = {
    "questions_per_worker": (1, 100_000),
    "reading_seconds": (10, 24 * 3600),
    "reservation_minutes": (1, 30 * 24 * 60),
    "most_characters": (1, 20_000),
    "practice_needed": (0, 100_000),
    "checks_needed": (0, 100_000),
    "grade_every": (1, MOST_PLACES),
}
"""The smallest and the largest value of each numeric setting."""


@dataclass(frozen=True, slots=True)
class PublishResult:
    """Result of publishing: the collection, whether it is new, and the changed settings."""

    collection: Collection
    is_new: bool
    changed: tuple[str, ...] = ()


def find_publishing_error(version: QuestionSetVersion | None) -> SettingsError | None:
    """Return the error that prevents publishing a version to workers; None without one."""
    if version is None:
        return SettingsError("no_questions")
    numbers = version.questions.aggregate(
        all=Count("pk"),
        graded=Count("pk", filter=GRADED),
        without_text=Count("pk", filter=Q(text="")),
    )
    if not numbers["all"]:
        return SettingsError("no_questions")
    if not numbers["graded"]:
        return SettingsError("nothing_graded")
    missing = [] if version.is_published else list_blocking_findings(version)
    if missing:
        first = missing[0]
        item = "" if first.item is None else str(first.item)
        return SettingsError("blocked", item=item, reason=first.words, n_more=len(missing) - 1)
    if not numbers["without_text"]:
        return None
    without_text = version.questions.filter(text="").order_by("position", "pk")
    # Four: the message names three and says that there are more.
    names = list(without_text.values_list("external_id", flat=True)[:4])
    return SettingsError("without_text", names=names)


@transaction.atomic
def publish_question_set(question_set: QuestionSet, **settings: Any) -> PublishResult:
    """Freeze the latest version of a question set, open it to workers, and return the result.

    `settings` are fields of `Collection`; None means the default. If the version has a collection,
    its settings are changed instead. Raises `SettingsError`.
    """
    # The lock orders requests: a version has one collection, and two must not create it at once.
    QuestionSet.objects.select_for_update(of=("self",)).get(pk=question_set.pk)
    chosen = {name: value for name, value in settings.items() if value is not None}
    version = question_set.latest_version()
    reason = find_publishing_error(version)
    if reason is not None:
        raise reason
    assert version is not None
    existing = Collection.objects.filter(version=version).select_related("version").first()
    if existing is not None:
        version.publish()
        return PublishResult(existing, False, change_settings(existing, **chosen))
    defaults = {"title": question_set.name, "signals": is_counting_signals(question_set)}
    defaults |= waves.load_default_settings(question_set)
    values: dict[str, Any] = defaults | chosen
    if "places" not in values:
        raise SettingsError("places_missing", "places")
    collection = Collection(version=version, **values)
    if collection.worker_parameter == PROLIFIC:
        values = {"panel": "Prolific", "return_url": PROLIFIC_RETURN} | values
        collection.panel, collection.return_url = values["panel"], values["return_url"]
    _ensure_failed_checks_code(collection)
    check_settings(collection)
    version.publish()
    collection.save()
    if collection.listed_only:
        admit_workers(
            collection, waves.list_invited_worker_ids(collection), "took part in the wave before"
        )
    collection.excludes.add(*waves.list_excluded_sets(question_set))
    return PublishResult(collection, True)


def change_settings(collection: Collection, **settings: Any) -> tuple[str, ...]:
    """Change settings of a collection; return the names of those whose value changed.

    Raises `SettingsError` for invalid values, and `BegunError` for settings that cannot change once
    a worker has begun.
    """
    changed = tuple(name for name, value in settings.items() if getattr(collection, name) != value)
    if not changed:
        return ()
    fixed = next((name for name in FIXED_SETTINGS if name in changed), None)
    if fixed and has_begun(collection):
        raise BegunError("compares_answers", fixed)
    # Counting can be turned off later, but not on: earlier workers were not informed about it.
    if settings.get("signals") and "signals" in changed and has_begun(collection):
        raise BegunError("signals_not_told", "signals")
    for name in changed:
        setattr(collection, name, settings[name])
    if "checks_needed" in changed and _ensure_failed_checks_code(collection):
        changed = tuple(dict.fromkeys((*changed, "code_failed_checks")))
    check_settings(collection)
    collection.save(update_fields=changed)
    return changed


@transaction.atomic
def set_excluded_question_sets(
    collection: Collection, question_sets: Iterable[QuestionSet], visible: QuerySet[QuestionSet]
) -> None:
    """Replace the question sets whose workers may not take part in a collection.

    `visible` are the sets that the user may see: other excluded sets stay excluded. Raises
    `SettingsError` for a set of another owner, because workers belong to an owner.
    """
    excluded = {question_set.pk: question_set for question_set in question_sets}
    owner = collection.version.question_set.owner_id
    if any(question_set.owner_id != owner for question_set in excluded.values()):
        raise SettingsError("other_owner", "excludes")
    unseen = collection.excludes.exclude(pk__in=visible.values("pk"))
    collection.excludes.set({*excluded, *unseen.values_list("pk", flat=True)})


def has_begun(collection: Collection) -> bool:
    """Return whether any worker has begun, that is, was assigned questions."""
    return collection.version.submissions.filter(source="collected").exists()


@transaction.atomic
def set_collection_state(collection: Collection, state: str, was: str | None = None) -> bool:
    """Set a collection to open, paused or closed; return False if its state is not `was`.

    `was` is the state that the user saw. If another user changed it since, nothing changes and the
    result is False.
    """
    # Locked before the states are compared: of two users who open and close at once, the second
    # sees what the first did.
    current = Collection.objects.select_for_update(of=("self",)).get(pk=collection.pk)
    collection.state, collection.closed_at = current.state, current.closed_at
    if was is not None and current.state not in (was, state):
        return False
    if current.state == state:
        return True
    collection.state = Collection.State(state)
    collection.closed_at = timezone.now() if state == Collection.State.CLOSED else None
    collection.save(update_fields=["state", "closed_at"])
    return True


@transaction.atomic
def add_places(collection: Collection, more: int, was: int | None = None) -> bool:
    """Add `more` places to a collection; return False if it does not have `was` places.

    So a second click, or a click in an outdated window, adds nothing. Raises `SettingsError`.
    """
    # The lock and `was` together make a repeated click harmless.
    current = Collection.objects.select_for_update(of=("self",)).get(pk=collection.pk)
    collection.places = current.places
    if was is not None and current.places != was:
        return False
    if more < 1:
        raise SettingsError("no_place_added", "places")
    change_settings(collection, places=current.places + more)
    return True


def count_declined_consent(collection: Collection) -> None:
    """Count a worker who declined consent, without storing anything about the worker."""
    # In the database, so that two refusals at the same time both count.
    Collection.objects.filter(pk=collection.pk).update(declined=F("declined") + 1)


def admit_workers(
    collection: Collection, ids: list[str], why: str = "", *, by_score: bool = False
) -> int:
    """Add worker ids to a collection's admission list; return the number of new ids.

    An id added without `by_score` stays on the list when `replace_admissions_by_score` removes
    others.
    """
    before = collection.admissions.count()
    ids = list(dict.fromkeys(filter(None, (external_id.strip() for external_id in ids))))
    Admission.objects.bulk_create(
        [
            Admission(collection=collection, external_id=external_id, why=why, by_score=by_score)
            for external_id in ids
        ],
        # Ids that are already on the list keep their row; batches, because a query has a limit of
        # parameters.
        ignore_conflicts=True,
        batch_size=BATCH,
    )
    if not by_score:
        for i in range(0, len(ids), BATCH):
            rows = collection.admissions.filter(external_id__in=ids[i : i + BATCH], by_score=True)
            rows.update(by_score=False, why=why)
    return collection.admissions.count() - before


@dataclass(frozen=True, slots=True)
class RemovalResult:
    """Result of removing worker ids from the admission list of a collection.

    Attributes
    ----------
    off : ids added by hand that were removed.
    by_score : ids that stay, because an earlier score admits them.
    """

    off: int
    by_score: int


@transaction.atomic
def remove_admissions(collection: Collection, ids: list[str]) -> RemovalResult:
    """Remove manually added worker ids from the admission list; return how many and how many stay.

    Workers who have begun can continue.

    Ids admitted by a score stay, because the next run would add them again. An id that was added
    both ways is removed now and added again by the next run.
    """
    off = by_score = 0
    ids = list(dict.fromkeys(ids))
    for i in range(0, len(ids), BATCH):
        rows = collection.admissions.filter(external_id__in=ids[i : i + BATCH])
        by_score += rows.filter(by_score=True).count()
        off += rows.filter(by_score=False).delete()[0]
    return RemovalResult(off, by_score)


@transaction.atomic
def replace_admissions_by_score(
    collection: Collection, ids: list[str] | None, why: str = ""
) -> None:
    """Replace the worker ids that a score admits; None admits workers whatever their score.

    An id that is left out is refused from now on, unless its worker has begun. Manually added ids
    stay admitted.
    """
    Collection.objects.filter(pk=collection.pk).update(by_score=ids is not None)
    collection.by_score = ids is not None
    before = collection.admissions.filter(by_score=True)
    wanted = set(ids or ())
    gone = [pk for pk, name in before.values_list("pk", "external_id") if name not in wanted]
    for i in range(0, len(gone), BATCH):
        Admission.objects.filter(pk__in=gone[i : i + BATCH]).delete()
    admit_workers(collection, ids or [], why, by_score=True)


def check_settings(collection: Collection) -> None:
    """Raise `SettingsError` if a collection's settings are invalid or contradictory."""
    places, each = collection.places, collection.answers_per_question
    if not 1 <= places <= MOST_PLACES:
        raise SettingsError("places_out_of_range", "places", most=MOST_PLACES)
    if each is not None and each < 1:
        raise SettingsError("no_answers_each", "answers_per_question")
    if each is not None and each > places:
        raise SettingsError("too_few_places", "answers_per_question", each=each)
    for name, (least, most) in BOUNDS.items():
        value = getattr(collection, name)
        if value is not None and not least <= value <= most:
            raise SettingsError(f"{name}_out_of_range", name, least=least, most=most)
    _check_link_parameters(collection)
    _check_completion_codes(collection)
    _check_attention_checks(collection)
    _check_pay(collection)
    _check_url(collection.return_url.replace(CODE, "code"), ("https",), "return_url")
    _check_url(collection.base_url, ("http", "https"), "base_url")


def _ensure_failed_checks_code(collection: Collection) -> bool:
    """Set a random code for failed attention checks if it is missing; return whether it was."""
    is_missing = bool(collection.checks_needed) and not collection.code_failed_checks.strip()
    if is_missing:
        collection.code_failed_checks = new_code()
    return is_missing


def _check_completion_codes(collection: Collection) -> None:
    """Raise `SettingsError` if outcomes with different pay have the same completion code."""
    # The panel pays by code: two cases with the same code would be paid alike.
    codes = [
        collection.code_no_consent, collection.code_screened_out, collection.code_too_late,
        collection.code_not_chosen,
    ]  # fmt: skip
    if not collection.code_done.strip() or collection.code_done in codes:
        raise SettingsError("code_done_not_unique", "code_done")
    failed = collection.code_failed_checks
    if failed and failed in (collection.code_done, *codes):
        raise SettingsError("code_failed_checks_not_unique", "code_failed_checks")
    others = (collection.code_no_consent, collection.code_too_late, collection.code_not_chosen)
    if collection.screened_out_pay is not None and collection.code_screened_out in others:
        raise SettingsError("code_screened_out_not_unique", "code_screened_out")


def _check_attention_checks(collection: Collection) -> None:
    """Raise `SettingsError` if too many attention checks are required, or without a code."""
    needed = collection.checks_needed
    if not needed:
        return
    if needed > (n_checks := count_checks(collection.version)):
        raise SettingsError("too_few_checks", "checks_needed", needed=needed, n=n_checks)
    if not collection.code_failed_checks.strip():
        raise SettingsError("code_failed_checks_missing", "code_failed_checks")


def _check_link_parameters(collection: Collection) -> None:
    """Raise `SettingsError` for invalid or repeated query parameters of the link."""
    names = [collection.worker_parameter, collection.study_parameter, collection.session_parameter]
    for name in filter(None, names):
        # These characters end or split a query parameter, or need escaping.
        if not name.isprintable() or any(mark in name for mark in " &=?#%+/"):
            raise SettingsError("bad_parameter", "worker_parameter", name=name)
    if not collection.worker_parameter:
        raise SettingsError("worker_parameter_missing", "worker_parameter")
    if len(set(filter(None, names))) < len(list(filter(None, names))):
        raise SettingsError("parameter_twice", "worker_parameter")


def _check_pay(collection: Collection) -> None:
    """Raise `SettingsError` for invalid pay, a missing currency, or too high partial pay."""
    if collection.pay is not None and (collection.pay < Decimal(0) or not collection.currency):
        raise SettingsError("currency_missing", "currency")
    if not Decimal(0) <= collection.panel_fee < 1000:
        raise SettingsError("panel_fee_out_of_range", "panel_fee")
    least = collection.least_hourly_pay
    if least is not None and (least < 0 or collection.pay is None):
        raise SettingsError("hourly_without_pay", "least_hourly_pay" if least < 0 else "pay")
    for name in ("screened_out_pay", "failed_checks_pay"):
        part = getattr(collection, name)
        if part is None:
            continue
        if not part > 0:
            raise SettingsError("part_not_positive", name)
        if collection.pay is None:
            raise SettingsError("part_without_pay", "pay")
        if part >= collection.pay:
            raise SettingsError("part_not_less", name)


def _check_url(address: str, schemes: tuple[str, ...], field: str) -> None:
    """Raise `SettingsError` for an invalid URL; local host names are valid."""
    if not address:
        return
    try:
        # `URLValidator` refuses host names without a dot, so it checks the rest of the address.
        parts = urlsplit(address)
        URLValidator(schemes=list(schemes))(
            parts._replace(netloc=f"example.org{f':{parts.port}' if parts.port else ''}").geturl()
        )
    except (ValidationError, ValueError):
        parts = urlsplit("")
    if not parts.hostname or parts.username is not None or parts.fragment:
        raise SettingsError("bad_address", field, address=address, scheme=schemes[0])
