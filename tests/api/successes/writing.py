"""Problems without an answer: who writes them, and who checks them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from django.contrib.auth.models import User

from annotations import writing
from annotations.models import WritingProject
from tests.api.successes.declaration import Sent, person, succeeds

LESS = "Where does it begin, and how many were there?"
"""A question of the set's, so changed that it has no answer."""


def published(world: SimpleNamespace) -> None:
    """Rana's version is published and its questions have answers, so that problems can be made."""
    world.version.questions.update(answerable=True)
    world.version.publish()


def wanda(world: SimpleNamespace) -> tuple[WritingProject, User]:
    """Rana has begun the writing, and Wanda writes."""
    published(world)
    project, writer = writing.start_project(world.version), person("wanda")
    writing.invite_user(project, writer, "writer")
    return project, writer


def handed_in(world: SimpleNamespace) -> Any:
    """Wanda's problem, which waits to be checked."""
    project, writer = wanda(world)
    problem = writing.take_question(project, writer.pk)
    writing.submit_problem(problem, LESS, 1)
    return problem


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
        "own_id": writing.take_question(project, writer.pk).public_id,
    }
    return Sent({"text": LESS, "category": 1, "hand_in": True}, ids=ids, by=writer)


@succeeds("taking_part_give_up")
def _(world):
    project, writer = wanda(world)
    ids = {
        "project_id": project.public_id,
        "own_id": writing.take_question(project, writer.pk).public_id,
    }
    return Sent(ids=ids, by=writer)


@succeeds("taking_part_vote")
def _(world):
    problem, vic = handed_in(world), person("vic")
    writing.invite_user(problem.project, vic, "validator")
    ids = {"project_id": problem.project.public_id, "check_id": problem.public_id}
    return Sent({"answerable": False, "category": 1, "note": "No number."}, ids=ids, by=vic)
