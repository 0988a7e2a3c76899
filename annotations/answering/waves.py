"""A question set asked again: a copy of its questions and settings, and who is asked.

A wave is a set of its own with an `earlier_wave`; its answers, runs and links are its own, its
workers those of the same owner. Who takes part is settled when it is published. Sets that came
from files, month by month, are linked as waves afterwards: nothing of either set is changed by it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from annotations.answering.sentences import WAVES
from annotations.models import Collection, QuestionSet, QuestionSetVersion, Submission
from annotations.models.access import Anybody
from annotations.sentences import CodedError

People = QuestionSet.WavePeople
MOST_WAVES = 500

KEPT = (
    *("places", "answers_per_question", "questions_per_worker", "protocol", "title", "contact"),
    *("reading_seconds", "reservation_minutes", "most_characters", "practice_needed", "signals"),
    *("checks_needed", "screened_out_pay", "failed_checks_pay"),
    *("panel", "worker_parameter", "study_parameter", "session_parameter", "anonymous", "signed"),
    *("pay", "currency", "panel_fee", "least_hourly_pay", "grade_every", "base_url", "return_url"),
)
"""Settings of the collecting that the next wave begins with; codes, seed and key are its own."""


class WaveError(CodedError, ValueError):
    """Why there can be no such wave; `field` is what it is about, "" for none."""

    sentences = WAVES

    def __init__(self, code: str, field: str = "", **values: Any) -> None:
        super().__init__(code, **values)
        self.field = field


@dataclass(frozen=True, slots=True)
class Match:
    """How the questions of two sets match by their ids; each list is in the order of its set.

    Attributes
    ----------
    same : ids with the same text in both, or of which one of them knows no text, as where only
        answers were imported. other_text : ids that are in both, with another text.
    only_later, only_earlier : ids of one set only.
    """

    same: Sequence[str]
    other_text: Sequence[str]
    only_later: Sequence[str]
    only_earlier: Sequence[str]

    @property
    def n_common(self) -> int:
        """Questions of both."""
        return len(self.same) + len(self.other_text)


def asked_version(question_set: QuestionSet) -> QuestionSetVersion | None:
    """Return the version that a wave repeats: the newest that was answered, else the latest."""
    answered = question_set.versions.filter(submissions__isnull=False).order_by("-number")
    return answered.first() or question_set.latest_version()


def next_name(question_set: QuestionSet) -> str:
    """Return a name that its owner has not used: "..., wave 2" and on."""
    stem, _, number = question_set.name.rpartition(", wave ")
    stem = stem if number.isdigit() and stem else question_set.name
    taken = set(
        QuestionSet.objects.filter(
            owner=question_set.owner_id, name__startswith=stem[:180]
        ).values_list("name", flat=True)
    )
    names = (f"{stem[:180]}, wave {n}" for n in range(2, len(taken) + 3))
    return next(name for name in names if name not in taken)


@transaction.atomic
def repeat(question_set: QuestionSet, name: str, people: str) -> QuestionSet:
    """Make the next wave: the same questions in a draft, of the same owner and team.

    Answers, runs, experts and viewers stay with the earlier one. Raises WaveError: no questions, a
    name that is taken or too long, `people` that is none of `QuestionSet.WavePeople`.
    """
    version = asked_version(question_set)
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
    version.copied_into(wave, 1)
    return wave


def linkable(user: Anybody, question_set: QuestionSet) -> QuerySet[QuestionSet]:
    """Return the sets that somebody may name as the wave before a set: the owner's other ones.

    Whoever links two sets may change both.
    """
    of_owner = QuestionSet.objects.editable_by(user).filter(owner=question_set.owner_id)
    return of_owner.exclude(pk=question_set.pk).order_by("name")


def matched(later: QuestionSet, earlier: QuestionSet) -> Match:
    """Return how the graded questions of two sets match, in the versions that were answered."""
    after, before = _texts(later), _texts(earlier)
    both = [name for name in after if name in before]
    other = {name for name in both if after[name] and before[name] and after[name] != before[name]}
    return Match(
        same=[name for name in both if name not in other],
        other_text=[name for name in both if name in other],
        only_later=[name for name in after if name not in before],
        only_earlier=[name for name in before if name not in after],
    )


def _texts(question_set: QuestionSet) -> dict[str, str]:
    version = asked_version(question_set)
    if version is None:
        return {}
    rows = version.questions.graded().order_by("position", "pk")
    return {name: text.strip() for name, text in rows.values_list("external_id", "text")}


def refusal(later: QuestionSet, earlier: QuestionSet) -> WaveError | None:
    """Return why a set cannot be linked as a later wave of another; None where it can.

    People and models are told apart for each owner, so both sets are of one owner.
    """
    if later.pk == earlier.pk:
        return WaveError("itself", "earlier")
    if later.owner_id != earlier.owner_id:
        return WaveError("other_owner", "earlier")
    if later.earlier_wave_id == earlier.pk:
        return WaveError("linked_already", "earlier", earlier=str(earlier))
    if later.earlier_wave_id is not None:
        # Not by its name: who changes this set need not see that one.
        return WaveError("linked_to_another", "earlier")
    if later in earlier_waves(earlier):
        return WaveError("circle", "earlier", earlier=str(earlier), later=str(later))
    if not matched(later, earlier).n_common:
        return WaveError("no_common_question", "earlier")
    return None


@transaction.atomic
def link(later: QuestionSet, earlier: QuestionSet) -> Match:
    """Say that a set is a later wave of another, which changes nothing else of either.

    Raises WaveError as `refusal` has it.
    """
    # In one order, so that two who link two sets in a circle wait for each other.
    keys = [later.pk, earlier.pk]
    rows = {row.pk: row for row in _locked(keys)}
    if (error := refusal(rows[later.pk], rows[earlier.pk])) is not None:
        raise error
    QuestionSet.objects.filter(pk=later.pk).update(earlier_wave=earlier, wave_people="")
    later.earlier_wave, later.wave_people = earlier, ""
    return matched(later, earlier)


@transaction.atomic
def unlink(later: QuestionSet) -> QuestionSet:
    """Take the link to the wave before away, and return that; everything else stays.

    Raises WaveError: there is none, or the set is a wave for the same or for other people that was
    not published yet, and would be one for anybody.
    """
    (row,) = _locked([later.pk])
    earlier = row.earlier_wave
    if earlier is None:
        raise WaveError("no_link")
    published = Collection.objects.filter(version__question_set=later.pk).exists()
    if row.wave_people in {People.SAME, People.OTHERS} and not published:
        raise WaveError("not_published", people=row.wave_people)
    QuestionSet.objects.filter(pk=later.pk).update(earlier_wave=None, wave_people="")
    later.earlier_wave, later.wave_people = None, ""
    return earlier


def _locked(keys: Sequence[int]) -> list[QuestionSet]:
    return list(QuestionSet.objects.select_for_update().filter(pk__in=keys).order_by("pk"))


def earlier_waves(question_set: QuestionSet) -> list[QuestionSet]:
    """Return the waves before a set, the newest first."""
    found: list[QuestionSet] = []
    current = question_set.earlier_wave
    while current is not None and current not in found and len(found) < MOST_WAVES:
        found.append(current)
        current = current.earlier_wave
    return found


def settings_of(question_set: QuestionSet) -> dict[str, Any]:
    """Return with which settings a wave is published where nobody says others; {} for no wave."""
    if question_set.earlier_wave_id is None:
        return {}
    of_earlier = Collection.objects.filter(version__question_set=question_set.earlier_wave_id)
    before = of_earlier.order_by("-version__number").first()
    kept = {name: getattr(before, name) for name in KEPT} if before is not None else {}
    if kept.get("title") == question_set.earlier_wave.name:  # type: ignore[union-attr]
        kept["title"] = question_set.name
    return kept | {"listed_only": question_set.wave_people == People.SAME}


def asked_again(collection: Collection) -> list[str]:
    """Return whom a new collecting has on its list: who handed in in the wave before.

    Nobody, unless the wave is for the same people. Ids of the collection's panel, and from files
    that name no panel; who withdrew or was erased is not asked again.
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


def kept_out(question_set: QuestionSet) -> list[QuestionSet]:
    """Return the sets whose people a wave for others excludes: all waves before it."""
    return earlier_waves(question_set) if question_set.wave_people == People.OTHERS else []
