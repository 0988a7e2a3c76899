"""Invite the best again, on the page and by REST: counted first, then the list of ids."""

import pytest
from django.urls import reverse
from rest_framework.test import APIClient

from annotations.models import Worker
from annotations.panels.client import NotDoneError
from annotations.panels.groups import create_panel_group
from evaluation.payments.storage.invitations import LEFT_OUT
from tests.evaluation.grading.results.world import finished
from tests.evaluation.payments.crowd import rivers


@pytest.fixture
def run(rana):
    """Raw scores .65, .5875, .525, .4625 and .40 of five people; the last gave too few answers."""
    return finished(5, owner=rana)


@pytest.fixture
def desk(run, rana, client):
    client.force_login(rana)
    return client, reverse("admin:paying-invite", args=[run.version.question_set.public_id])


@pytest.fixture
def rest(run, rana):
    client = APIClient()
    client.force_authenticate(rana)
    return client, reverse("api:paying-invited", args=[run.version.question_set.public_id])


def sent(response):
    return b"".join(response.streaming_content).decode()


def test_people_are_counted_first_and_their_ids_downloaded(desk):
    client, link = desk
    assert client.get(link).context["found"] is None
    page = client.get(link, {"at_least": "0.5", "end": "score"})
    text = page.content.decode()
    assert "<strong>3</strong>of 5 people" in text
    assert page.context["found"].left_out == {"too_few": 1, "below": 1}
    assert LEFT_OUT["below"] in text
    listed = client.get(link + page.context["link"])
    assert listed["Content-Disposition"].startswith("attachment")
    assert sent(listed) == "w001\nw002\nw003\n"


def test_the_desk_leads_there(desk, run):
    client, link = desk
    shown = client.get(reverse("admin:paying", args=[run.version.question_set.public_id]))
    assert f'href="{link}"' in shown.content.decode()


def test_nobody_is_said_and_no_list_is_sent(desk):
    client, link = desk
    for more in ({}, {"take": "list"}):
        page = client.get(link, {"at_least": "0.9"} | more)
        assert 'data-state="nobody_reaches"' in page.content.decode()


class Panel:
    """Makes each group, but one that is called unlucky."""

    def create_group(self, workspace, name, participants):
        if name == "unlucky":
            raise NotDoneError("refused", status=400, reason="no")
        return f"id of {name}"


def test_groups_that_were_asked_for_are_listed_on_the_page_and_by_rest(desk, rest, run, rana):
    question_set = run.version.question_set
    link = reverse("api:paying-groups", args=[question_set.public_id])
    assert rest[0].get(link).json() == {"next": None, "results": []}
    for name in ("best", "better"):
        create_panel_group(question_set, rana, Panel(), "w1", name, ["w001", "w002"])
    with pytest.raises(NotDoneError):
        create_panel_group(question_set, rana, Panel(), "w1", "unlucky", ["w001"])
    first = rest[0].get(link, {"limit": 1}).json()
    second = rest[0].get(first["next"]).json()
    rows = first["results"] + second["results"]
    assert [(one["name"], one["people"], one["key"], one["by"]) for one in rows] == [
        ("better", 2, "id of better", "rana"),
        ("best", 2, "id of best", "rana"),
    ]
    assert second["next"] is None
    client, page = desk
    shown = client.get(page).content.decode()
    assert ("id of better" in shown, "unlucky" in shown) == (True, False)


@pytest.mark.parametrize("wrong", ["", "much", "nan", "1e9"])
def test_what_is_no_score_is_told_beside_its_field(desk, wrong):
    client, link = desk
    page = client.get(link, {"at_least": wrong, "take": "list"})
    assert page.status_code == 400
    assert "at_least" in page.context["form"].errors


def test_of_several_panels_one_is_chosen(desk):
    client, link = desk
    assert "panel" not in client.get(link).context["form"].fields
    Worker.objects.filter(external_id="w002").update(panel="Else")
    assert client.get(link, {"at_least": "0.5"}).status_code == 400
    page = client.get(link, {"at_least": "0.5", "panel": "Else"})
    assert page.context["found"].ids == ["w002"]


def test_without_a_grading_the_page_says_so(rana, client):
    client.force_login(rana)
    version, _ = rivers(rana)
    link = reverse("admin:paying-invite", args=[version.question_set.public_id])
    page = client.get(link, {"at_least": "0.5"})
    assert 'data-state="no_scores"' in page.content.decode()


def test_by_rest_counts_and_ids(rest, run):
    client, link = rest
    asked = {"at_least": "0.5", "end": "score"}
    assert client.get(link, asked).json() == {
        "run": str(run.public_id),
        "panel": "Prolific",
        "at_least": 0.5,
        "end": "score",
        "score": "raw",
        "people": 5,
        "invited": 3,
        "left_out": [
            {"why": "too_few", "message": LEFT_OUT["too_few"], "said": LEFT_OUT["too_few"], "n": 1},
            {"why": "below", "message": LEFT_OUT["below"], "said": LEFT_OUT["below"], "n": 1},
        ],
    }
    assert sent(client.get(f"{link}ids/", asked)) == "w001\nw002\nw003\n"
    assert sent(client.get(f"{link}ids/", {"at_least": "0.9"})) == ""


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ({}, "at_least"),
        ({"at_least": "much"}, "at_least"),
        ({"at_least": "nan"}, "at_least"),
        ({"at_least": "0.5", "end": "high"}, "end"),
        ({"at_least": "0.5", "panel": "Else"}, "panel"),
    ],
)
def test_by_rest_the_parameter_is_named(rest, asked, name):
    client, link = rest
    answer = client.get(link, asked)
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["parameter"] == name


def test_by_rest_without_a_grading_is_a_conflict(rana):
    client = APIClient()
    client.force_authenticate(rana)
    version, _ = rivers(rana)
    link = reverse("api:paying-invited", args=[version.question_set.public_id])
    assert client.get(link, {"at_least": "0.5"}).status_code == 409
