"""Pages of prompts: versions that stay, shown as a model sees them."""

import pytest
from django.urls import reverse
from django.utils.html import escape

from evaluation.models import Prompt, PromptVersion
from tests.annotations import world as crowd
from tests.evaluation.site.handles import error_codes, states

TEMPLATE = "{question}{choices} In one word."
NEW = {"name": "One word", "strategy": "closed", "system": "Be brief.", "template": TEMPLATE}


@pytest.fixture
def made(site):
    site.post(reverse("admin:prompt-new"), NEW)
    return Prompt.objects.get()


def page(site, made, query=""):
    return site.get(reverse("admin:prompt", args=[made.public_id]) + query).content.decode()


def edit(site, made, **changed):
    address = reverse("admin:prompt-edit", args=[made.public_id])
    given = {name: value for name, value in NEW.items() if name != "name"}
    return site.post(address, {**given, **changed})


def test_a_prompt_is_made_and_shown_with_the_first_question_of_a_set(site, rana, made):
    assert "no_question" in states(page(site, made))
    version = crowd.version(rana)
    version.questions.filter(external_id="r1").update(choices=["north", "south"])
    said = page(site, made)
    assert "Where is river 1?\nChoices:\n- north\n- south In one word." in said
    assert "Be brief." in said
    other = crowd.version(rana, "lakes")
    other.questions.update(text="Where is the lake?")
    chosen = page(site, made, f"?set={other.question_set.public_id}")
    assert "Where is the lake? In one word." in chosen


def test_an_edit_is_a_new_version_and_the_older_one_stays(site, made):
    edit(site, made, template="{question} In two words.")
    assert list(made.versions.values_list("number", "template")) == [
        (1, TEMPLATE),
        (2, "{question} In two words."),
    ]
    assert "In two words." in page(site, made)
    older = page(site, made, "?version=1")
    assert "older_version" in states(older)
    assert "older_version" not in states(page(site, made))
    assert "In one word." in older
    address = reverse("admin:prompt", args=[made.public_id])
    assert site.get(f"{address}?version=3").status_code == 404


def test_an_edit_that_changes_nothing_makes_no_version(site, made):
    edit(site, made)
    assert PromptVersion.objects.count() == 1


def test_line_breaks_of_a_browser_are_no_change(site, made):
    edit(site, made, template="{question}\nIn one word.")
    edit(site, made, template="{question}\r\nIn one word.")
    assert PromptVersion.objects.count() == 2


@pytest.mark.parametrize(
    ("changed", "code", "named"),
    [
        ({"template": "In one word."}, "missing", "{question}"),
        ({"template": "{question} {answer}"}, "unknown", "{answer}"),
        ({"template": "{question} {passage}"}, "of_passage", "{passage}"),
        ({"template": "{question} {"}, "braces", "{{"),
        ({"template": "{question!r}"}, "bare", "{question}"),
        ({"strategy": "passage"}, "missing", "{passage}"),
        ({"template": ""}, "required", ""),
        ({"template": "{question}" + 20_000 * "x"}, "max_length", "20000"),
    ],
)
def test_a_template_that_cannot_be_filled_in_is_refused(site, rana, changed, code, named):
    response = site.post(reverse("admin:prompt-new"), {**NEW, **changed})
    assert response.status_code == 400
    errors = response.context["form"].errors
    [reason] = errors["template"]
    assert error_codes(errors.as_data()["template"]) == [code]
    assert named in reason
    assert escape(reason) in response.content.decode()
    assert "--" not in reason
    assert not Prompt.objects.exists()


def test_a_name_is_taken_once(site, made):
    response = site.post(reverse("admin:prompt-new"), NEW)
    assert response.status_code == 400
    assert error_codes(response.context["form"].errors.as_data()["name"]) == ["name_taken"]


def test_the_list_shows_ones_own_and_those_that_are_always_there(site, made):
    said = site.get(reverse("admin:prompts")).content.decode()
    assert reverse("admin:prompt", args=[made.public_id]) in said
    assert "Closed book" in said
    assert "With its passage" in said


def test_nobody_sees_the_prompt_of_another_requester(client, made):
    client.force_login(crowd.user("otto", is_staff=True))
    address = reverse("admin:prompt", args=[made.public_id])
    assert client.get(address).status_code == 404
    assert edit(client, made).status_code == 404
    assert "One word" not in client.get(reverse("admin:prompts")).content.decode()
