"""Store admission rules, and admit workers by their scores in an earlier set.

Across sets the raw leave-one-out score or the question contrast is used, never the grade, which is
relative to the other workers of its run. The scores are those of the earlier set's official
grading. When another grading becomes official, the list is updated (`apply_rules_of_set`): when a
user chooses a run, when a run is done, and when a run is archived, restored or deleted. Workers who
have begun can continue in any case. Workers see neither their score nor the threshold.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from annotations.answering import collecting
from annotations.models import Collection, QuestionSet
from annotations.web.scope import UserRequest, select_visible
from evaluation.models import Run, ScoreRule, WorkerGrade
from evaluation.models.runs import GRADING, choose_official_or_newest
from evaluation.runs.raw_scores import RAW, RawScore, load_worker_scores

End = ScoreRule.End


@dataclass(frozen=True, slots=True)
class AdmittedWorkers:
    """The workers who meet an admission rule now, with their number in the grading.

    Attributes
    ----------
    ids : the panel's ids of these workers, sorted.
    n_graded : number of workers of the panel in the run. n_too_few : number of these without a
        score or with too few answers for one; they are not admitted.
    run : the official grading; None if the earlier set has no finished one.
    """

    ids: list[str]
    n_graded: int
    n_too_few: int
    run: Run | None


def select_finished_gradings(question_set: QuestionSet | int) -> QuerySet[Run]:
    """Return a queryset of the finished gradings of a set, without interim gradings."""
    return Run.objects.filter(
        version__question_set=question_set,
        kind=GRADING,
        state=Run.State.DONE,
        interim__isnull=True,
    )


def select_earlier_sets(request: UserRequest, question_set: QuestionSet) -> QuerySet[QuestionSet]:
    """Return a queryset of the owner's other sets whose grades the user may see."""
    graded = select_visible(request, Run.objects.filter(kind=GRADING, state=Run.State.DONE))
    return (
        select_visible(request, QuestionSet.objects.filter(owner=question_set.owner_id))
        .filter(pk__in=graded.values("version__question_set"))
        .exclude(pk=question_set.pk)
        .order_by("name")
    )


def find_admitted_workers(
    collection: Collection, earlier: QuestionSet, at_least: float, end: str, score: str = RAW
) -> AdmittedWorkers:
    """Return the workers that a rule would admit now; store nothing.

    Workers are those of the collection's panel, and those of files that name no panel.
    """
    run = choose_official_or_newest(select_finished_gradings(earlier))
    if run is None:
        return AdmittedWorkers([], 0, 0, None)
    rows = list(
        WorkerGrade.objects.filter(run=run, worker__panel__in={collection.panel, ""})
        .order_by("worker__external_id")
        .values_list("worker", "worker__external_id")
    )
    scores = load_worker_scores(run, score=score)
    reached = {key: _get_compared_number(scores.get(key), end) for key, _ in rows}
    # A dictionary, because an id may occur twice: with the panel, and from a file without one.
    ids = dict.fromkeys(
        name for key, name in rows if (value := reached[key]) is not None and value >= at_least
    )
    too_few = sum(value is None for value in reached.values())
    return AdmittedWorkers(list(ids), len(rows), too_few, run)


def store_rule(
    collection: Collection, earlier: QuestionSet, at_least: float, end: str, score: str = RAW
) -> ScoreRule:
    """Store a collection's admission rule and apply it; repeating it updates the workers."""
    with transaction.atomic():
        rule, _ = ScoreRule.objects.update_or_create(
            collection=collection,
            defaults={
                "earlier": earlier,
                "at_least": at_least,
                "end": End(end),
                "score": ScoreRule.Score(score),
            },
        )
        apply_rule(rule)
    return rule


def delete_rule(collection: Collection) -> None:
    """Delete the admission rule; workers admitted by hand stay on the list."""
    with transaction.atomic():
        ScoreRule.objects.filter(collection=collection).delete()
        collecting.replace_admissions_by_score(collection, None)


def apply_rule(rule: ScoreRule) -> AdmittedWorkers:
    """Update the list of admitted workers: add those who meet the rule, remove those who do not."""
    with transaction.atomic():
        result = find_admitted_workers(
            rule.collection, rule.earlier, rule.at_least, rule.end, rule.score
        )
        what = "score" if rule.score == RAW else rule.get_score_display()
        note = f"{what} in {rule.earlier.name}"[:200]
        collecting.replace_admissions_by_score(rule.collection, result.ids, note)
        rule.run, rule.n_admitted = result.run, len(result.ids)
        rule.applied_at = timezone.now()
        rule.save(update_fields=["run", "n_admitted", "applied_at"])
    return result


def apply_rules_of_set(earlier: QuestionSet | int) -> int:
    """Apply the rules on a set's scores again if its official run changed; return their number."""
    rules = ScoreRule.objects.filter(earlier=earlier, collection__closed_at=None)
    rules = rules.select_related("collection__version__question_set", "earlier")
    if not rules:
        return 0
    counts = choose_official_or_newest(select_finished_gradings(earlier))
    # A rule of the same grading would give the same list; it is not applied again.
    stale = [score_rule for score_rule in rules if counts is None or score_rule.run_id != counts.pk]
    for rule in stale:
        apply_rule(rule)
    return len(stale)


def _get_compared_number(score: RawScore | None, end: str) -> float | None:
    """Return the number that a rule compares: a score or an interval end; None if missing."""
    if score is None or not score.supported:
        return None
    return {End.LOW: score.low, End.HIGH: score.high}.get(End(end), score.value)
