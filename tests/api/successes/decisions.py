"""What people decide of results."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from django.contrib.auth.models import User

from annotations.models import Share
from evaluation.models import HumanJudgement
from evaluation.runs.background import runs
from evaluation.runs.background.work import work_one_turn
from evaluation.runs.judging.audit import draw_audit_sample, request_audit_grades
from evaluation.triage.report.queue import find_undecided
from evaluation.triage.storage import decide
from tests.api.successes.declaration import Sent, person, succeeds
from tests.evaluation.runs.run_types.words import WordOptions


def expert(world: SimpleNamespace) -> User:
    """An expert of Rana's set."""
    ed = person("ed")
    Share.objects.create(question_set=world.set, user=ed, role="expert")
    return ed


def audited(world: SimpleNamespace) -> User:
    """An expert who is asked to grade answers of Rana's run."""
    ed = expert(world)
    request_audit_grades(
        draw_audit_sample(world.run, 2, "question", with_models=False, seed=0), ed.pk
    )
    return ed


def task(world: SimpleNamespace, ed: User) -> Any:
    """The id of an answer that the expert is asked to grade."""
    return ed.judgement_requests.earliest("pk").public_id


def excluded(world: SimpleNamespace) -> Any:
    """A worker whom Rana has excluded from her run."""
    worker = world.version.submissions.earliest("pk").worker
    decide(world.run, worker, world.rana, "exclude", category="copied")
    return worker


@succeeds("results_triage_decide")
def _(world):
    return Sent({"verdict": "exclude", "category": "copied", "rejects": False, "seen": None})


@succeeds("results_triage_undo")
def _(world):
    return Sent({}, ids={"worker": excluded(world).public_id})


@succeeds("results_triage_apply")
def _(world):
    excluded(world)
    return Sent({"name": "without", "notes": "the copies"})


@succeeds("results_triage_accept")
def _(world):
    rest = find_undecided(world.run, "everybody", with_alarms=True)
    return Sent({"who": "everybody", "alarms": True, "seen": rest.seen})


@succeeds("results_triage_accept_undo")
def _(world):
    return Sent()


@succeeds("results_audit_ask")
def _(world):
    return Sent({"count": 2, "design": "question", "experts": [expert(world).username]})


@succeeds("results_audit_settle")
def _(world):
    audit = draw_audit_sample(world.run, 2, "question", with_models=False, seed=0)
    item = audit.items.earliest("place")
    for name, grade in (("eve", 1), ("eva", 5)):
        HumanJudgement.objects.create(
            response_id=item.response_id, expert=person(name), grade=grade
        )
    return Sent({"expert": expert(world).username})


@succeeds("results_audit_take_back")
def _(world):
    return Sent({"expert": audited(world).username})


@succeeds("results_judging_ask")
def _(world):
    # A kind of the tests' that has something judged.
    kinds = [*world.settings.RUN_KINDS, "tests.evaluation.runs.run_types.words.JUDGED"]
    world.settings.RUN_KINDS = kinds
    run = runs.queue_run(world.version, world.rana.pk, WordOptions(), "words")
    while work_one_turn():
        pass
    ids = {"run_id": run.public_id, "name": "plenty"}
    return Sent({"count": 2, "seed": 1, "experts": [expert(world).username]}, ids=ids)


@succeeds("judging_judge")
def _(world):
    ed = audited(world)
    return Sent({"choice": "4"}, ids={"task_id": task(world, ed)}, by=ed)


@succeeds("judging_undo")
def _(world):
    ed = audited(world)
    return Sent(ids={"task_id": task(world, ed)}, by=ed)


@succeeds("workers_erase")
def _(world):
    worker = world.version.submissions.earliest("pk").worker
    return Sent({"worker": worker.external_id}, ids={"worker_id": worker.public_id})


@succeeds("workers_notes_create")
def _(world):
    return Sent({"text": "Look again."})


@succeeds("workers_notes_destroy")
def _(world):
    return Sent()
