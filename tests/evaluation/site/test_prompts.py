"""Pages of prompts: versions that stay, shown as a model sees them."""

import pytest
from django.urls import reverse

from evaluation.models import Prompt, PromptVersion
from tests.annotations import world as crowd

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
    assert "There is no question yet to show it with." in page(site, made)
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
    assert "This is an older version." in older
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
    ("changed", "sentence"),
    [
        ({"template": "In one word."}, "The field {question} is missing"),
        ({"template": "{question} {answer}"}, "There is no field {answer}"),
        ({"template": "{question} {passage}"}, "{passage} is only there beside a passage"),
        ({"template": "{question} {"}, "write {{ for a brace itself"),
        ({"template": "{question!r}"}, "In {question} only the name"),
        ({"strategy": "passage"}, "The field {passage} is missing"),
        ({"template": ""}, "This field is required."),
        ({"template": "{question}" + 20_000 * "x"}, "at most 20000 characters"),
    ],
)
def test_a_template_that_cannot_be_filled_in_is_refused(site, rana, changed, sentence):
    response = site.post(reverse("admin:prompt-new"), {**NEW, **changed})
    assert response.status_code == 400
    [reason] = response.context["form"].errors["template"]
    assert sentence in reason
    assert "--" not in reason
    assert not Prompt.objects.exists()


def test_a_name_is_taken_once(site, made):
    response = site.post(reverse("admin:prompt-new"), NEW)
    assert response.status_code == 400
    assert "You have a prompt of this name." in response.content.decode()


def test_the_list_shows_ones_own_and_those_that_are_always_there(site, made):
    said = site.get(reverse("admin:prompts")).content.decode()
    assert reverse("admin:prompt", args=[made.public_id]) in said
    assert "Closed book" in said
    assert "Beside its passage" in said


def test_nobody_sees_the_prompt_of_another_requester(client, made):
    client.force_login(crowd.user("otto", is_staff=True))
    address = reverse("admin:prompt", args=[made.public_id])
    assert client.get(address).status_code == 404
    assert edit(client, made).status_code == 404
    assert "One word" not in client.get(reverse("admin:prompts")).content.decode()
