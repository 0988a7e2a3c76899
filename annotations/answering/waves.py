"""Waves: repetitions of a question set at a later time, with the same or other workers.

A wave is a question set with an `earlier_wave`. Its answers, runs and links are its own; workers
belong to the common owner. Publishing the wave settles which workers may take part. Sets imported
from files can be linked as waves afterwards, which changes nothing else of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from annotations.answering.sentences import WAVES
from annotations.models import Collection, QuestionSet, QuestionSetVersion, Submission
from annotations.models.access import AnyUser
from annotations.sentences import CodedError

People = QuestionSet.WavePeople
MAX_WAVES = 500

COPIED_SETTINGS = (
    *("places", "answers_per_question", "questions_per_worker", "protocol", "title", "contact"),
    *("reading_seconds", "reservation_minutes", "most_characters", "practice_needed", "signals"),
    *("checks_needed", "screened_out_pay", "failed_checks_pay"),
    *("panel", "worker_parameter", "study_parameter", "session_parameter", "anonymous", "signed"),
    *("pay", "currency", "panel_fee", "least_hourly_pay", "grade_every", "base_url", "return_url"),
)
"""Settings of a collection that the next wave copies; codes, seed and key are always new."""


class WaveError(CodedError, ValueError):
    """Error: a wave cannot be created or linked; `field` names the invalid input."""

    sentences = WAVES

    def __init__(self, code: str, field: str = "", **values: Any) -> None:
        super().__init__(code, **values)
        self.field = field


@dataclass(frozen=True, slots=True)
class QuestionMatch:
    """Ids of the questions that two waves share or only one has, each in the order of its set.

    Attributes
    ----------
    same : ids in both sets with the same text, or without a text in one of them (sets of which only
        answers were imported).
    other_text : ids in both sets with different texts.
    only_later, only_earlier : ids in one set only.
    """

    same: Sequence[str]
    other_text: Sequence[str]
    only_later: Sequence[str]
    only_earlier: Sequence[str]

    @property
    def n_common(self) -> int:
        """Number of questions in both question sets."""
        return len(self.same) + len(self.other_text)


def find_version_to_repeat(question_set: QuestionSet) -> QuestionSetVersion | None:
    """Return the version that a new wave copies: the newest answered one, else the latest.

    None for a question set without a version.
    """
    answered = question_set.versions.filter(submissions__isnull=False).order_by("-number")
    return answered.first() or question_set.latest_version()


def suggest_wave_name(question_set: QuestionSet) -> str:
    """Return an unused name for the next wave of a question set, such as "Rivers, wave 2"."""
    stem, _, number = question_set.name.rpartition(", wave ")
    stem = stem if number.isdigit() and stem else question_set.name
    used = set(
        QuestionSet.objects.filter(
            owner=question_set.owner_id, name__startswith=stem[:180]
        ).values_list("name", flat=True)
    )
    # 180 of the 200 characters of a name: ", wave" and the number follow.
    names = (f"{stem[:180]}, wave {n}" for n in range(2, len(used) + 3))
    return next(name for name in names if name not in used)


@transaction.atomic
def create_next_wave(question_set: QuestionSet, name: str, people: str) -> QuestionSet:
    """Create and return the next wave of a question set: a draft with the same questions.

    Answers, runs, experts and viewers are not copied. Raises `WaveError`: no questions, a name that
    is missing, taken or too long, or `people` not in `QuestionSet.WavePeople`.
    """
    version = find_version_to_repeat(question_set)
    if version is None or not version.questions.exists():
        raise WaveError("no_questions")
    if people not in People.values:
        raise WaveError("bad_people", "people", known=People.values)
    if not (name := name.strip()):
        raise WaveError("name_missing", "name")
    longest = QuestionSet._meta.get_field("name").max_length
    if longest is not None and len(name) > longest:
        raise WaveError("name_too_long", "name", most=longest)
    try:
        # A savepoint: without it, the outer transaction could not go on after an IntegrityError.
        with transaction.atomic():
            wave = QuestionSet.objects.create(
                owner_id=question_set.owner_id,
                team_id=question_set.team_id,
                name=name,
                description=question_set.description,
                notice=question_set.notice,
                language=question_set.language,
                licence=question_set.licence,
                earlier_wave=question_set,
                wave_people=people,
            )
    except IntegrityError:
        raise WaveError("name_taken", "name") from None
    version.copy_into_set(wave, 1)
    return wave


def list_linkable_sets(user: AnyUser, question_set: QuestionSet) -> QuerySet[QuestionSet]:
    """Return the question sets that a user may link as the earlier wave, by name.

    These are the owner's other sets that the user may edit.
    """
    editable = QuestionSet.objects.editable_by(user).filter(owner=question_set.owner_id)
    return editable.exclude(pk=question_set.pk).order_by("name")


def match_questions(later: QuestionSet, earlier: QuestionSet) -> QuestionMatch:
    """Return the ids of graded questions that two question sets share, or that only one has.

    Versions with answers are compared.
    """
    after, before = _load_question_texts(later), _load_question_texts(earlier)
    both = [name for name in after if name in before]
    other = {name for name in both if after[name] and before[name] and after[name] != before[name]}
    return QuestionMatch(
        same=[name for name in both if name not in other],
        other_text=[name for name in both if name in other],
        only_later=[name for name in after if name not in before],
        only_earlier=[name for name in before if name not in after],
    )


def _load_question_texts(question_set: QuestionSet) -> dict[str, str]:
    """Return the texts of a question set's graded questions by question id, in the set's order."""
    version = find_version_to_repeat(question_set)
    if version is None:
        return {}
    rows = version.questions.graded().order_by("position", "pk")
    return {name: text.strip() for name, text in rows.values_list("external_id", "text")}


def find_link_error(later: QuestionSet, earlier: QuestionSet) -> WaveError | None:
    """Return the error that prevents linking two sets as waves; None if they can be linked."""
    # Workers and models are identified per owner, so both sets need the same owner.
    if later.pk == earlier.pk:
        return WaveError("itself", "earlier")
    if later.owner_id != earlier.owner_id:
        return WaveError("other_owner", "earlier")
    if later.earlier_wave_id == earlier.pk:
        return WaveError("linked_already", "earlier", earlier=str(earlier))
    if later.earlier_wave_id is not None:
        # The error does not name the linked set: the user may not be allowed to see it.
        return WaveError("linked_to_another", "earlier")
    if later in list_earlier_waves(earlier):
        return WaveError("circle", "earlier", earlier=str(earlier), later=str(later))
    if not match_questions(later, earlier).n_common:
        return WaveError("no_common_question", "earlier")
    return None


@transaction.atomic
def link_waves(later: QuestionSet, earlier: QuestionSet) -> QuestionMatch:
    """Link a question set as a later wave of another; return the match of their questions.

    Nothing else of either set changes. Raises `WaveError` if the sets cannot be linked.
    """
    # Both rows, always in the same order: two requests that link two sets in a circle wait for each
    # other instead of deadlocking, and the second is refused.
    keys = [later.pk, earlier.pk]
    rows = {row.pk: row for row in _lock_question_sets(keys)}
    if (error := find_link_error(rows[later.pk], rows[earlier.pk])) is not None:
        raise error
    QuestionSet.objects.filter(pk=later.pk).update(earlier_wave=earlier, wave_people="")
    later.earlier_wave, later.wave_people = earlier, ""
    return match_questions(later, earlier)


@transaction.atomic
def remove_wave_link(later: QuestionSet) -> QuestionSet:
    """Remove the link to the earlier wave, and return the earlier question set.

    Raises `WaveError`: no_link; not_published for an unpublished wave for the same or other people.
    """
    # Without the link, that wave would be published for everybody.
    (row,) = _lock_question_sets([later.pk])
    earlier = row.earlier_wave
    if earlier is None:
        raise WaveError("no_link")
    published = Collection.objects.filter(version__question_set=later.pk).exists()
    if row.wave_people in {People.SAME, People.OTHERS} and not published:
        raise WaveError("not_published", people=row.wave_people)
    QuestionSet.objects.filter(pk=later.pk).update(earlier_wave=None, wave_people="")
    later.earlier_wave, later.wave_people = None, ""
    return earlier


def _lock_question_sets(keys: Sequence[int]) -> list[QuestionSet]:
    """Return question sets (by key) as stored now, locked until the transaction ends."""
    # One lock order: two users who link the same sets the other way round cannot deadlock.
    return list(QuestionSet.objects.select_for_update().filter(pk__in=keys).order_by("pk"))


def list_earlier_waves(question_set: QuestionSet) -> list[QuestionSet]:
    """Return the earlier waves of a question set, newest first, at most 500."""
    waves: list[QuestionSet] = []
    current = question_set.earlier_wave
    # `not in waves`: links that form a circle must not loop forever.
    while current is not None and current not in waves and len(waves) < MAX_WAVES:
        waves.append(current)
        current = current.earlier_wave
    return waves


def load_default_settings(question_set: QuestionSet) -> dict[str, Any]:
    """Return the default settings for publishing a wave, copied from the earlier wave.

    {} for a set that is not a later wave. The title is copied unless it is the earlier set's name.
    """
    if question_set.earlier_wave_id is None:
        return {}
    collections = Collection.objects.filter(version__question_set=question_set.earlier_wave_id)
    newest = collections.order_by("-version__number").first()
    copied = {name: getattr(newest, name) for name in COPIED_SETTINGS} if newest else {}
    if copied.get("title") == question_set.earlier_wave.name:  # type: ignore[union-attr]
        copied["title"] = question_set.name
    return copied | {"listed_only": question_set.wave_people == People.SAME}


def list_invited_worker_ids(collection: Collection) -> list[str]:
    """Return the ids of the workers to admit: those who submitted in the earlier wave.

    [] unless the wave is for the same workers. Only ids of the collection's panel and ids imported
    without a panel. Withdrawn and erased workers are left out.
    """
    question_set = collection.version.question_set
    if question_set.wave_people != People.SAME or question_set.earlier_wave_id is None:
        return []
    rows = Submission.objects.filter(
        version__question_set=question_set.earlier_wave_id,
        state=Submission.State.SUBMITTED,
        withdrawn_at=None,
        worker__erased_at=None,
        worker__panel__in={collection.panel, ""},
    )
    return sorted(set(rows.values_list("worker__external_id", flat=True)))


def list_excluded_sets(question_set: QuestionSet) -> list[QuestionSet]:
    """Return the earlier waves whose workers this wave excludes; [] if it admits them."""
    return list_earlier_waves(question_set) if question_set.wave_people == People.OTHERS else []
