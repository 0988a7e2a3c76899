"""A question set asked again: a copy of its questions and settings, and who is asked.

A wave is a set of its own with an `earlier_wave`; its answers, runs and links are its own, its
workers those of the same owner. Who takes part is settled when it is published.
"""

from __future__ import annotations

from typing import Any

from django.db import IntegrityError, transaction

from annotations.models import Collection, QuestionSet, QuestionSetVersion, Submission

People = QuestionSet.WavePeople
MOST_WAVES = 500

KEPT = (
    *("places", "answers_per_question", "questions_per_worker", "protocol", "title", "contact"),
    *("reading_seconds", "reservation_minutes", "most_characters", "practice_needed", "signals"),
    *("panel", "worker_parameter", "study_parameter", "session_parameter", "anonymous", "signed"),
    *("pay", "currency", "panel_fee", "least_hourly_pay", "grade_every", "base_url", "return_url"),
)
"""Settings of the collecting that the next wave begins with; codes, seed and key are its own."""


class WaveError(ValueError):
    """Why there can be no such wave; `field` is what it is about, "" for none."""

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field


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
    name that is taken, `people` that is none of `QuestionSet.WavePeople`.
    """
    version = asked_version(question_set)
    if version is None or not version.questions.exists():
        raise WaveError("there is nothing to ask again: it has no questions yet")
    if people not in People.values:
        raise WaveError(f"people is one of {', '.join(People.values)}", "people")
    if not (name := name.strip()):
        raise WaveError("the new wave needs a name", "name")
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
        raise WaveError("the owner has a question set of this name", "name") from None
    version.copied_into(wave, 1)
    return wave


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
