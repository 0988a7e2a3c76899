"""What the requester does: publishes, changes the settings, pauses, closes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import ValidationError
from django.core.validators import URLValidator
from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from annotations.answering import waves
from annotations.answering.checks import n_checks
from annotations.answering.links import PROLIFIC as PROLIFIC
from annotations.answering.places import GRADED
from annotations.answering.refused import BegunError, SettingsError
from annotations.editing.checks import blocking
from annotations.models import (
    Admission,
    Collection,
    QuestionSet,
    QuestionSetVersion,
    counts_signals,
)
from annotations.models.collections import MOST_PLACES, new_code

PROLIFIC_RETURN = "https://app.prolific.com/submissions/complete?cc={code}"
CODE = "{code}"
BATCH = 1000

FIXED_ONCE_BEGUN = ("protocol", "worker_parameter", "panel")
"""Settings that stay when somebody has begun: with others their answers would not compare."""


BOUNDS = {
    "questions_per_worker": (1, 100_000),
    "reading_seconds": (10, 24 * 3600),
    "reservation_minutes": (1, 30 * 24 * 60),
    "most_characters": (1, 20_000),
    "practice_needed": (0, 100_000),
    "checks_needed": (0, 100_000),
    "grade_every": (1, MOST_PLACES),
}
"""The smallest and the largest value of each number."""


@dataclass(frozen=True, slots=True)
class Published:
    """A collection, and whether it was made now."""

    collection: Collection
    is_new: bool
    changed: tuple[str, ...] = ()


def why_not_publishable(version: QuestionSetVersion | None) -> SettingsError | None:
    """Return why nobody could answer a version; None if people can."""
    if version is None or not version.questions.exists():
        return SettingsError("no_questions")
    if not version.questions.filter(GRADED).exists():
        return SettingsError("nothing_graded")
    missing = [] if version.is_published else blocking(version)
    if missing:
        first = missing[0]
        item = "" if first.item is None else str(first.item)
        return SettingsError("blocked", item=item, reason=first.words, n_more=len(missing) - 1)
    without = version.questions.filter(text="").order_by("position", "pk")
    names = list(without.values_list("external_id", flat=True)[:4])
    return SettingsError("without_text", names=names) if names else None


@transaction.atomic
def publish(question_set: QuestionSet, **settings: Any) -> Published:
    """Freeze the latest version and open it to workers; what was published before is changed.

    `settings` are fields of `Collection`; None counts as not given. Raises `SettingsError`.
    """
    QuestionSet.objects.select_for_update(of=("self",)).get(pk=question_set.pk)
    given = {name: value for name, value in settings.items() if value is not None}
    version = question_set.latest_version()
    reason = why_not_publishable(version)
    if reason is not None:
        raise reason
    assert version is not None
    existing = Collection.objects.filter(version=version).select_related("version").first()
    if existing is not None:
        version.publish()
        return Published(existing, False, change(existing, **given))
    usual = {"title": question_set.name, "signals": counts_signals(question_set)}
    usual |= waves.settings_of(question_set)
    if "places" not in usual | given:
        raise SettingsError("places_missing", "places")
    collection = Collection(version=version, **(usual | given))
    if collection.worker_parameter == PROLIFIC:
        named: dict[str, Any] = {"panel": "Prolific", "return_url": PROLIFIC_RETURN} | usual | given
        collection.panel, collection.return_url = named["panel"], named["return_url"]
    _make_code(collection)
    check(collection)
    version.publish()
    collection.save()
    if collection.listed_only:
        admit(collection, waves.asked_again(collection), "took part in the wave before")
    collection.excludes.add(*waves.kept_out(question_set))
    return Published(collection, True)


def change(collection: Collection, **settings: Any) -> tuple[str, ...]:
    """Change settings; return the names of those that differ from before.

    Raises `SettingsError` for what will not do, `BegunError` for what must stay once somebody has
    begun.
    """
    changed = tuple(name for name, value in settings.items() if getattr(collection, name) != value)
    if not changed:
        return ()
    fixed = next((name for name in FIXED_ONCE_BEGUN if name in changed), None)
    if fixed and has_begun(collection):
        raise BegunError("compares_answers", fixed)
    if settings.get("signals") and "signals" in changed and has_begun(collection):
        raise BegunError("signals_not_told", "signals")
    for name in changed:
        setattr(collection, name, settings[name])
    if "checks_needed" in changed and _make_code(collection):
        changed = tuple(dict.fromkeys((*changed, "code_failed_checks")))
    check(collection)
    collection.save(update_fields=changed)
    return changed


@transaction.atomic
def exclude(
    collection: Collection, question_sets: Iterable[QuestionSet], among: QuerySet[QuestionSet]
) -> None:
    """Keep those out who took part in these sets, and in no other of `among`.

    `among` are the sets that the one who asks may see: others that are excluded stay. Raises
    `SettingsError` for a set of another owner, whose workers are others.
    """
    wanted = {one.pk: one for one in question_sets}
    owner = collection.version.question_set.owner_id
    if any(one.owner_id != owner for one in wanted.values()):
        raise SettingsError("other_owner", "excludes")
    unseen = collection.excludes.exclude(pk__in=among.values("pk"))
    collection.excludes.set({*wanted, *unseen.values_list("pk", flat=True)})


def has_begun(collection: Collection) -> bool:
    """Whether anybody was given questions."""
    return collection.version.submissions.filter(source="collected").exists()


@transaction.atomic
def set_state(collection: Collection, state: str, was: str | None = None) -> bool:
    """Open, pause or close it; what is there stays.

    `was` is the state in which the one who asks saw it: if somebody else has changed it since then,
    nothing is done and False comes back.
    """
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
    """Let `more` people more take part; False if there are no longer `was` places.

    Pressed twice, or in two windows, the second finds another number of places than it saw, and
    adds nothing. Raises `SettingsError`.
    """
    current = Collection.objects.select_for_update(of=("self",)).get(pk=collection.pk)
    collection.places = current.places
    if was is not None and current.places != was:
        return False
    if more < 1:
        raise SettingsError("no_place_added", "places")
    change(collection, places=current.places + more)
    return True


def note_declined(collection: Collection) -> None:
    """Count that somebody did not agree; nothing of who it was is kept."""
    Collection.objects.filter(pk=collection.pk).update(declined=F("declined") + 1)


def admit(collection: Collection, ids: list[str], why: str = "", *, by_score: bool = False) -> int:
    """Add ids to the list of those who may take part; return how many were not on it.

    An id that is written by hand stays when a rule would take it off (`admit_by_score`).
    """
    before = collection.admissions.count()
    ids = list(dict.fromkeys(filter(None, (one.strip() for one in ids))))
    Admission.objects.bulk_create(
        [
            Admission(collection=collection, external_id=one, why=why, by_score=by_score)
            for one in ids
        ],
        ignore_conflicts=True,
        batch_size=BATCH,
    )
    if not by_score:
        for i in range(0, len(ids), BATCH):
            found = collection.admissions.filter(external_id__in=ids[i : i + BATCH], by_score=True)
            found.update(by_score=False, why=why)
    return collection.admissions.count() - before


@dataclass(frozen=True, slots=True)
class Struck:
    """What became of ids that were to come off the list.

    Attributes
    ----------
    off : those that were on it by hand, and are not any more.
    by_score : those that stay, because an earlier score admits them.
    """

    off: int
    by_score: int


@transaction.atomic
def strike(collection: Collection, ids: list[str]) -> Struck:
    """Take ids off the list that were written on it by hand; who has begun goes on.

    Who is on it by a score stays: the rule would put them back with its next grading. An id that
    both put there goes now, and comes back with that grading.
    """
    off = by_score = 0
    ids = list(dict.fromkeys(ids))
    for i in range(0, len(ids), BATCH):
        found = collection.admissions.filter(external_id__in=ids[i : i + BATCH])
        by_score += found.filter(by_score=True).count()
        off += found.filter(by_score=False).delete()[0]
    return Struck(off, by_score)


@transaction.atomic
def admit_by_score(collection: Collection, ids: list[str] | None, why: str = "") -> None:
    """Let only these in, and those who were written on the list by hand; None takes the rule away.

    Who is not among them any more and has not begun is refused from now on; who has begun goes on.
    """
    Collection.objects.filter(pk=collection.pk).update(by_score=ids is not None)
    collection.by_score = ids is not None
    before = collection.admissions.filter(by_score=True)
    wanted = set(ids or ())
    gone = [pk for pk, name in before.values_list("pk", "external_id") if name not in wanted]
    for i in range(0, len(gone), BATCH):
        Admission.objects.filter(pk__in=gone[i : i + BATCH]).delete()
    admit(collection, ids or [], why, by_score=True)


def check(collection: Collection) -> None:
    """Raise `SettingsError` for settings that cannot be kept together."""
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
    _check_parameters(collection)
    _check_codes(collection)
    _check_checks(collection)
    _check_money(collection)
    _check_address(collection.return_url.replace(CODE, "code"), ("https",), "return_url")
    _check_address(collection.base_url, ("http", "https"), "base_url")


def _make_code(collection: Collection) -> bool:
    """Make a code of who failed the checks up where one is needed and nobody said any."""
    is_missing = bool(collection.checks_needed) and not collection.code_failed_checks.strip()
    if is_missing:
        collection.code_failed_checks = new_code()
    return is_missing


def _check_codes(collection: Collection) -> None:
    """Refuse codes by which a panel could not tell what it decides by."""
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


def _check_checks(collection: Collection) -> None:
    """Refuse to ask for more right attention checks than there are, or without a code."""
    needed = collection.checks_needed
    if not needed:
        return
    if needed > (there := n_checks(collection.version)):
        raise SettingsError("too_few_checks", "checks_needed", needed=needed, n=there)
    if not collection.code_failed_checks.strip():
        raise SettingsError("code_failed_checks_missing", "code_failed_checks")


def _check_parameters(collection: Collection) -> None:
    """Refuse names that cannot stand in a link, or stand there twice."""
    names = [collection.worker_parameter, collection.study_parameter, collection.session_parameter]
    for name in filter(None, names):
        if not name.isprintable() or any(mark in name for mark in " &=?#%+/"):
            raise SettingsError("bad_parameter", "worker_parameter", name=name)
    if not collection.worker_parameter:
        raise SettingsError("worker_parameter_missing", "worker_parameter")
    if len(set(filter(None, names))) < len(list(filter(None, names))):
        raise SettingsError("parameter_twice", "worker_parameter")


def _check_money(collection: Collection) -> None:
    """Refuse amounts that are none, or have no currency, and a part that is more than the pay."""
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


def _check_address(address: str, schemes: tuple[str, ...], field: str) -> None:
    """Refuse what is no address; names inside a house, such as http://survey:8000, are some."""
    if not address:
        return
    try:
        parts = urlsplit(address)
        URLValidator(schemes=list(schemes))(
            parts._replace(netloc=f"example.org{f':{parts.port}' if parts.port else ''}").geturl()
        )
    except (ValidationError, ValueError):
        parts = urlsplit("")
    if not parts.hostname or parts.username is not None or parts.fragment:
        raise SettingsError("bad_address", field, address=address, scheme=schemes[0])
