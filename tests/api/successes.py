"""What has to stand before each writing operation of the API can succeed, and what is sent then.

To add an operation, add a function under its `operationId` that makes what it needs in Rana's
graded set and returns what is sent:

    @succeeds("prompts_create")
    def _(world):
        return Sent({"name": "ours", "strategy": "closed", "template": "{question}"})

`test_contract` sends exactly that, which has to succeed, and then the same with values of the
schema's in place of some. What stands in the address comes from `route_values`, unless `ids` says
otherwise; Rana sends it, unless `by` says otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from io import BytesIO
from types import SimpleNamespace
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone
from PIL import Image as Picture

from annotations import writing
from annotations.models import Collection, Import, QuestionSet, Share, WritingProject
from evaluation.background import removals, runs
from evaluation.background.work import work_one_turn
from evaluation.flow.parameters import AqerParameters
from evaluation.judging.audit import ask_for_audit, draw_audit
from evaluation.models import LanguageModel, Run
from evaluation.reports.triage.rest import rest_of
from evaluation.triaging import decide
from tests.annotations.world import submission as submission_of
from tests.annotations.world import version as draft_of
from tests.desk.route_values import collecting_of
from tests.evaluation.kinds.words import WordOptions

LESS = "Where does it begin, and how many were there?"
"""A question of the set's, so changed that it has no answer."""


@dataclass(frozen=True)
class Sent:
    """A request that succeeds: its body, its query, what stands in its address, and whose it is."""

    body: dict[str, Any] | None = None
    query: dict[str, str] = field(default_factory=dict)
    ids: dict[str, Any] = field(default_factory=dict)
    by: User | None = None


Ready = Callable[[SimpleNamespace], Sent]
SUCCESSES: dict[str, Ready] = {}


def succeeds(operation: str) -> Callable[[Ready], Ready]:
    """Say how the operation of that id succeeds."""

    def keep(ready: Ready) -> Ready:
        assert operation not in SUCCESSES
        SUCCESSES[operation] = ready
        return ready

    return keep


def draft(world: SimpleNamespace) -> dict[str, Any]:
    """A set of Rana's with a draft of two questions and a passage, by the names in addresses."""
    version = draft_of(world.rana, "a draft")
    passage = version.passages.create(external_id="p1", text="It rises in Wales.", position=1)
    question = version.questions.order_by("position").first()
    of_set = version.question_set
    return {
        "set_id": of_set.public_id,
        "question_id": question.public_id,
        "passage_id": passage.public_id,
    }


def queued(world: SimpleNamespace) -> Run:
    """A run of Rana's that waits for a worker."""
    return runs.queue(world.version, world.rana.pk, AqerParameters(embedder="bow", bootstrap=0))


def model(world: SimpleNamespace) -> LanguageModel:
    """A model of Rana's that answered nothing."""
    return LanguageModel.objects.create(owner=world.rana, name="small-2")


def person(name: str) -> User:
    """Somebody who has signed in before, and so takes part at once."""
    return User.objects.create_user(name, last_login=timezone.now())


def expert(world: SimpleNamespace) -> User:
    """An expert of Rana's set."""
    ed = person("ed")
    Share.objects.create(question_set=world.set, user=ed, role="expert")
    return ed


def audited(world: SimpleNamespace) -> User:
    """An expert who is asked to grade answers of Rana's run."""
    ed = expert(world)
    ask_for_audit(draw_audit(world.run, 2, "question", with_models=False, seed=0), ed.pk)
    return ed


def task(world: SimpleNamespace, ed: User) -> Any:
    """The id of an answer that the expert is asked to grade."""
    return ed.judgement_requests.earliest("pk").public_id


def published(world: SimpleNamespace) -> None:
    """Rana's version is published and its questions have answers, so that problems can be made."""
    world.version.questions.update(answerable=True)
    world.version.publish()


def wanda(world: SimpleNamespace) -> tuple[WritingProject, User]:
    """Rana has begun the writing, and Wanda writes."""
    published(world)
    project, writer = writing.start(world.version), person("wanda")
    writing.invite(project, writer, "writer")
    return project, writer


def handed_in(world: SimpleNamespace) -> Any:
    """Wanda's problem, which waits to be checked."""
    project, writer = wanda(world)
    problem = writing.take(project, writer.pk)
    writing.submit(problem, LESS, 1)
    return problem


def excluded(world: SimpleNamespace) -> Any:
    """A worker whom Rana has excluded from her run."""
    worker = world.version.submissions.earliest("pk").worker
    decide(world.run, worker, world.rana, "exclude", category="copied")
    return worker


def archived(world: SimpleNamespace, thing: Any) -> Any:
    removals.archive(thing, world.rana.pk)
    return thing


# Language models and prompts


@succeeds("language_models_create")
def _(world):
    return Sent({"name": "small-1", "family": "Small", "spec": "", "notice": "as it came"})


@succeeds("language_models_partial_update")
def _(world):
    return Sent({"version": "2", "size": "135M"})


@succeeds("language_models_destroy")
def _(world):
    return Sent(ids={"model_id": model(world).public_id})


@succeeds("language_models_archive")
def _(world):
    return Sent()


@succeeds("language_models_restore")
def _(world):
    return Sent(ids={"model_id": archived(world, model(world)).public_id})


@succeeds("language_models_delete")
def _(world):
    return Sent({"name": LanguageModel.objects.filter(owner=world.rana).earliest("pk").name})


@succeeds("language_models_note")
def _(world):
    return Sent({"text": "It repeats the question."})


@succeeds("language_models_note_destroy")
def _(world):
    return Sent()


@succeeds("prompts_create")
def _(world):
    return Sent({"name": "short", "strategy": "closed", "template": "Shortly: {question}"})


@succeeds("prompts_versions_create")
def _(world):
    return Sent({"strategy": "closed", "template": "In a word: {question}", "system": ""})


# Question sets


@succeeds("question_sets_create")
def _(world):
    return Sent({"name": "Lakes", "description": "Of Wales.", "language": "en"})


@succeeds("question_sets_partial_update")
def _(world):
    return Sent({"name": "Lakes", "description": "Of Wales."})


@succeeds("question_sets_texts_partial_update")
def _(world):
    return Sent({"guidelines": "Write a sentence.", "consent_text": "Yes."}, ids=draft(world))


@succeeds("question_sets_publish_create")
def _(world):
    return Sent(ids=draft(world))


@succeeds("question_sets_questions_create")
def _(world):
    return Sent({"rows": [{"question": "r9", "text": "How long is it?"}]}, ids=draft(world))


@succeeds("question_sets_questions_partial_update")
def _(world):
    return Sent({"text": "How long is it?", "category": "length"}, ids=draft(world))


@succeeds("question_sets_passages_create")
def _(world):
    return Sent({"rows": [{"passage": "p9", "text": "It is long."}]}, ids=draft(world))


@succeeds("question_sets_passages_partial_update")
def _(world):
    return Sent({"title": "The Wye", "text": "It is long."}, ids=draft(world))


@succeeds("question_sets_answers_create")
def _(world):
    rows = [{"worker": "dot", "question": "q1", "answer": "in Wales"}]
    return Sent({"rows": rows}, {"duplicates": "last"})


@succeeds("question_sets_model_answers_create")
def _(world):
    return Sent({"rows": [{"model": "small-1", "question": "q1", "answer": "in Wales"}]})


@succeeds("question_sets_archive")
def _(world):
    return Sent()


@succeeds("question_sets_restore")
def _(world):
    archived(world, world.set)
    return Sent()


@succeeds("question_sets_delete")
def _(world):
    lakes = QuestionSet.objects.create(owner=world.rana, name="Lakes")
    return Sent({"name": "Lakes"}, ids={"set_id": lakes.public_id})


@succeeds("question_sets_import_undo")
def _(world):
    brought = Import.objects.filter(question_set=world.set, what="answers").earliest("pk")
    return Sent(ids={"import_id": brought.public_id})


# Runs


@succeeds("runs_create")
def _(world):
    parameters = {"embedder": "bow", "bootstrap": 0}
    return Sent({"question_set": str(world.set.public_id), "parameters": parameters})


@succeeds("runs_partial_update")
def _(world):
    return Sent({"name": "the first", "notes": "to be looked at"})


@succeeds("runs_cancel_create")
def _(world):
    return Sent(ids={"run_id": queued(world).public_id})


@succeeds("runs_pause_create")
def _(world):
    return Sent(ids={"run_id": queued(world).public_id})


@succeeds("runs_resume_create")
def _(world):
    paused = queued(world)
    assert runs.pause(paused)
    return Sent(ids={"run_id": paused.public_id})


@succeeds("runs_again_create")
def _(world):
    return Sent()


@succeeds("runs_use_create")
def _(world):
    return Sent()


@succeeds("runs_archive")
def _(world):
    return Sent()


@succeeds("runs_restore")
def _(world):
    archived(world, world.run)
    return Sent()


@succeeds("runs_delete")
def _(world):
    return Sent()


# What people decide of results


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
    rest = rest_of(world.run, "everybody", with_alarms=True)
    return Sent({"who": "everybody", "alarms": True, "seen": rest.seen})


@succeeds("results_triage_accept_undo")
def _(world):
    return Sent()


@succeeds("results_audit_ask")
def _(world):
    return Sent({"count": 2, "design": "question", "experts": [expert(world).username]})


@succeeds("results_audit_take_back")
def _(world):
    return Sent({"expert": audited(world).username})


@succeeds("results_judging_ask")
def _(world):
    # A kind of the tests' that has something judged.
    kinds = [*world.settings.RUN_KINDS, "tests.evaluation.kinds.words.JUDGED"]
    world.settings.RUN_KINDS = kinds
    run = runs.queue(world.version, world.rana.pk, WordOptions(), "words")
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


# Problems without an answer


@succeeds("writing_create")
def _(world):
    published(world)
    return Sent()


@succeeds("writing_partial_update")
def _(world):
    wanda(world)
    return Sent({"instructions": "Be brief.", "per_original": 2, "is_open": False})


@succeeds("writing_invite")
def _(world):
    wanda(world)
    return Sent({"username": person("vic").username, "role": "validator"})


@succeeds("writing_remove")
def _(world):
    project, _ = wanda(world)
    return Sent(ids={"member_id": project.members.get().public_id})


@succeeds("writing_decide")
def _(world):
    problem = handed_in(world)
    return Sent(
        {"state": "returned", "note": "It has an answer."}, ids={"problem_id": problem.public_id}
    )


@succeeds("taking_part_take")
def _(world):
    project, writer = wanda(world)
    return Sent(ids={"project_id": project.public_id}, by=writer)


@succeeds("taking_part_write")
def _(world):
    project, writer = wanda(world)
    ids = {
        "project_id": project.public_id,
        "own_id": writing.take(project, writer.pk).public_id,
    }
    return Sent({"text": LESS, "category": 1, "hand_in": True}, ids=ids, by=writer)


@succeeds("taking_part_give_up")
def _(world):
    project, writer = wanda(world)
    ids = {
        "project_id": project.public_id,
        "own_id": writing.take(project, writer.pk).public_id,
    }
    return Sent(ids=ids, by=writer)


@succeeds("taking_part_vote")
def _(world):
    problem, vic = handed_in(world), person("vic")
    writing.invite(problem.project, vic, "validator")
    ids = {"project_id": problem.project.public_id, "check_id": problem.public_id}
    return Sent({"answerable": False, "category": 1, "note": "No number."}, ids=ids, by=vic)


def collection(world: SimpleNamespace) -> Collection:
    """Rana's set, published to workers."""
    return collecting_of(SimpleNamespace(set=world.set, version=world.version))


@succeeds("collecting_publish")
def _(world):
    collection(world)
    return Sent({"places": 7, "pay": "2.50", "currency": "GBP"})


@succeeds("collecting_change")
def _(world):
    collection(world)
    return Sent({"places": 9, "practice_needed": None, "excludes": []})


@succeeds("collecting_state")
def _(world):
    collection(world)
    return Sent({"state": "paused", "was": "open"})


@succeeds("collecting_add_places")
def _(world):
    return Sent({"more": 2, "was": collection(world).places})


@succeeds("collecting_links")
def _(world):
    collection(world)
    return Sent({"workers": ["ada", "ben"]})


@succeeds("collecting_admit")
def _(world):
    collection(world)
    return Sent({"workers": ["ada", "ben"], "why": "pilot"})


def rule(world: SimpleNamespace) -> dict[str, Any]:
    """A rule by the score in another graded set of Rana's."""
    collection(world)
    earlier = draft_of(world.rana, "an earlier one")
    Run.objects.create(owner=world.rana, version=earlier, state="done", finished_at=timezone.now())
    return {"earlier": str(earlier.question_set.public_id), "at_least": 0.5, "end": "low"}


@succeeds("collecting_score_rule_set")
def _(world):
    return Sent(rule(world))


@succeeds("collecting_score_rule_count")
def _(world):
    return Sent(rule(world))


@succeeds("collecting_score_rule_drop")
def _(world):
    collection(world)
    return Sent()


@succeeds("collecting_interims_start")
def _(world):
    made = collection(world)
    for name in ("ann", "bob", "cat"):
        begun = submission_of(made.version, name)
        begun.state, begun.source, begun.submitted_at = "submitted", "collected", timezone.now()
        begun.save()
    return Sent()


@succeeds("passages_picture_send")
def _(world):
    written = BytesIO()
    Picture.new("RGB", (3, 2)).save(written, "PNG")
    return Sent({"picture": written.getvalue(), "image_alt": "A river."}, ids=draft(world))


@succeeds("passages_picture_delete")
def _(world):
    return Sent(ids=draft(world))
