"""Prompts are kept in versions that never change."""

import pytest
from django.db import IntegrityError, transaction

from annotations.models import AppendOnlyError
from evaluation.models import PromptVersion
from evaluation.runs.flow.asking.plan import SYSTEM, TEMPLATES, Prompt
from evaluation.runs.steps.asking.registration import (
    UnknownPromptError,
    create_prompt,
    edit_prompt,
    find_prompt,
    list_prompts,
)
from tests.annotations import world as crowd

pytestmark = pytest.mark.django_db
BRIEF = Prompt("closed", "{question} In one word.", "")


@pytest.fixture
def rana():
    return crowd.user("rana", is_staff=True)


@pytest.fixture
def otto():
    return crowd.user("otto", is_staff=True)


def test_an_edit_is_another_version_and_the_first_stays(rana):
    first = create_prompt(rana.pk, "brief", BRIEF)
    second = edit_prompt(first.prompt, rana.pk, Prompt("closed", "{question} In two words.", ""))
    assert (first.number, second.number) == (1, 2)
    assert (first.hash, second.author) == (BRIEF.hash, rana)
    assert first.prompt.find_latest_version() == second
    assert PromptVersion.objects.get(number=1).template == BRIEF.template
    assert find_prompt(str(first.public_id), rana).prompt == BRIEF


def test_an_edit_that_changes_nothing_makes_no_version(rana):
    first = create_prompt(rana.pk, "brief", BRIEF)
    assert edit_prompt(first.prompt, rana.pk, BRIEF) == first
    assert PromptVersion.objects.count() == 1


def test_a_version_is_neither_changed_nor_deleted(rana):
    first = create_prompt(rana.pk, "brief", BRIEF)
    first.template = "{question} In ten words."
    with pytest.raises(AppendOnlyError):
        first.save()
    with pytest.raises(AppendOnlyError):
        first.delete()
    with pytest.raises(AppendOnlyError):
        PromptVersion.objects.update(template="x")


def test_a_name_is_taken_once_for_each_owner(rana, otto):
    create_prompt(rana.pk, "brief", BRIEF)
    create_prompt(otto.pk, "brief", BRIEF)
    with pytest.raises(IntegrityError), transaction.atomic():
        create_prompt(rana.pk, "brief", BRIEF)


def test_the_built_in_prompts_are_there_without_a_row(rana):
    for strategy in ("closed", "passage"):
        found = find_prompt(strategy, rana).prompt
        assert (found.template, found.system) == (TEMPLATES[strategy], SYSTEM)


def test_nobody_uses_a_prompt_of_somebody_else(rana, otto):
    first = create_prompt(rana.pk, "brief", BRIEF)
    for user, id in ((otto, str(first.public_id)), (rana, "brief"), (rana, "")):
        with pytest.raises(UnknownPromptError):
            find_prompt(id, user)
    assert [one.id for one in list_prompts(otto)] == ["closed", "passage"]


def test_one_chooses_among_the_latest_versions(rana):
    first = create_prompt(rana.pk, "brief", BRIEF)
    second = edit_prompt(first.prompt, rana.pk, Prompt("closed", "{question}?", ""))
    other = create_prompt(rana.pk, "a long one", BRIEF)
    assert [one.id for one in list_prompts(rana)] == [
        *("closed", "passage"),
        str(other.public_id),
        str(second.public_id),
    ]
