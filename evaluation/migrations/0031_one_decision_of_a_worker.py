"""Give each worker one decision: verdicts and the log of payments say the same from now on.

Decisions were made on two pages, and each page showed its own only. No row is changed:

- A verdict without a decision in the log adds one: approve, or reject with the message that the
  lists for panels had. The log has the person and the time of the verdict.
- A decision in the log without a verdict adds one: accept, or exclude and reject.
- Where both exist and differ, the log counts, because panels learned it. An approved worker who was
  excluded stays excluded from grades.
"""

from __future__ import annotations

from collections import defaultdict

from django.db import migrations
from django.db.models import Max, Q

BATCH = 500
OWN = "own"
CATEGORY = {
    "low_effort": "LOW_EFFORT",
    "instructions": "FAILED_INSTRUCTIONS",
    "skipped": "FAILED_INSTRUCTIONS",
    "attention": "FAILED_CHECK",
    "too_fast": "TOO_QUICKLY",
}
CODE = {
    "LOW_EFFORT": "low_effort",
    "FAILED_INSTRUCTIONS": "instructions",
    "FAILED_CHECK": "attention",
    "TOO_QUICKLY": "too_fast",
}
OPENING = {
    "copied": "Your answers are, but for light edits, the same as another participant's answers to "
    "the same questions.",
    "low_effort": "Your answers show clear low effort.",
    "instructions": "Your answers do not follow the instructions of the task.",
    "skipped": "You left questions without an answer that the task asks everybody to answer.",
    "attention": "You failed an attention check of the task.",
    "too_fast": "You finished the task far too fast to have read what it asks.",
}
CLOSING = (
    "A person compared your answers with those of the other participants before this was decided; "
    "write to us if you think that it is wrong."
)


def build_message(category, reason):
    """Return the message to a rejected worker, as the lists for panels had it."""
    own_words = " ".join(reason.split())
    if own_words and own_words[-1] not in ".!?…。":
        own_words += "."
    return " ".join(filter(None, [OPENING.get(category, ""), own_words, CLOSING]))


def join_decisions(apps, schema_editor):
    """Add the rows that are missing on either side, version by version."""
    version_model = apps.get_model("annotations", "QuestionSetVersion")
    verdicts = apps.get_model("evaluation", "WorkerVerdict").objects
    log = apps.get_model("annotations", "Decision").objects
    for model in (verdicts.model, log.model):
        # The rows have the time of the decision, not that of the upgrade.
        model._meta.get_field("created_at").auto_now_add = False
    decided = Q(pk__in=log.values("submission__version"))
    in_sets = Q(question_set__in=verdicts.values("question_set"))
    for version in version_model.objects.filter(decided | in_sets).order_by("pk"):
        to_log, to_verdicts = _compare(apps, version)
        log.bulk_create(to_log, batch_size=BATCH)
        verdicts.bulk_create(to_verdicts, batch_size=BATCH)


def _compare(apps, version):
    """Return the missing rows of the log, and the missing verdicts, of a version."""
    verdict_model = apps.get_model("evaluation", "WorkerVerdict")
    decision_model = apps.get_model("annotations", "Decision")
    rows = verdict_model.objects.filter(
        Q(run__version=version) | Q(run=None),
        question_set=version.question_set_id,
        takes_back=None,
        taken_back=None,
    )
    current = {row.worker_id: row for row in rows.order_by("pk")}
    rows = decision_model.objects.filter(submission__version=version).order_by("pk")
    newest = {row.submission_id: row for row in rows}
    grades = apps.get_model("evaluation", "WorkerGrade").objects.filter(
        run__version=version, run__state="done"
    )
    runs = dict(grades.order_by().values_list("worker").annotate(newest=Max("run")))
    to_log, to_verdicts = [], []
    submissions = apps.get_model("annotations", "Submission").objects.filter(version=version)
    for key, worker, withdrawn, erased in submissions.order_by("pk").values_list(
        "pk", "worker_id", "withdrawn_at", "worker__erased_at"
    ):
        verdict, decision = current.get(worker), newest.get(key)
        if decision is None or decision.kind == "open":
            is_open = verdict is None or verdict.kind == "look"
            # A verdict of a deleted run is about the versions that graded the worker.
            is_of_version = verdict is not None and (verdict.run_id or worker in runs)
            if is_open or not is_of_version or withdrawn or erased:
                continue
            values = {"kind": "approve"}
            if verdict.rejects:
                category = CATEGORY.get(verdict.category, "OTHER")
                message = build_message(verdict.category, verdict.reason)
                values = {"kind": "reject", "category": category, "reason": message}
            to_log.append(
                decision_model(
                    submission_id=key,
                    decided_by_id=verdict.decided_by_id,
                    created_at=verdict.created_at,
                    **values,
                )
            )
        elif (values := _find_missing(verdict, decision)) is not None:
            to_verdicts.append(
                verdict_model(
                    question_set_id=version.question_set_id,
                    run_id=runs.get(worker),
                    worker_id=worker,
                    decided_by_id=decision.decided_by_id,
                    created_at=decision.created_at,
                    **values,
                )
            )
    return to_log, to_verdicts


def _find_missing(verdict, decision):
    """Return the values of the verdict that a decision in the log lacks; None if there is one."""
    kind = verdict.kind if verdict else "look"
    rejects = verdict is not None and verdict.rejects
    if decision.kind == "approve":
        if kind == "look":
            return {"kind": "accept"}
        if not rejects:
            return None
        return {"kind": kind, "category": verdict.category, "reason": verdict.reason}
    if rejects:
        return None
    return {
        "kind": "exclude",
        "category": CODE.get(decision.category, OWN),
        "reason": decision.reason,
        "rejects": True,
    }


class Migration(migrations.Migration):
    dependencies = [
        ("annotations", "0032_appeals_that_came_elsewhere"),
        ("evaluation", "0030_verdicts_of_sets"),
    ]

    operations = [migrations.RunPython(join_decisions, migrations.RunPython.noop, elidable=True)]
