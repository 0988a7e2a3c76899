"""The lists that are searched, filtered and sorted: every order of each, its pages, and REST's."""

from types import SimpleNamespace

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from rest_framework.test import APIClient

from annotations import writing
from annotations.models import QuestionSet, Team
from annotations.web.filtering import AFTER
from annotations.web.lists import ProblemFilter, QuestionSetFilter, TeamFilter
from evaluation.consensus.parameters import AqerParameters
from evaluation.language_models.views import models, prompts
from evaluation.models import LanguageModel, Prompt, Run
from evaluation.runs.reports import lists
from evaluation.runs.reports.lists import ModelFilter, PromptFilter, RunApiFilter, RunFilter
from evaluation.site import runs
from tests.annotations.writing.conftest import made_world
from tests.desk.conftest import User

pytestmark = pytest.mark.django_db

NAMES = ("ash", "birch", "cedar")
LISTS = {
    "question-sets": QuestionSetFilter,
    "runs": RunFilter,
    "models": ModelFilter,
    "prompts": PromptFilter,
    "teams": TeamFilter,
    "writing": ProblemFilter,
}
BY_REST = {
    "question-sets": QuestionSetFilter,
    "runs": RunApiFilter,
    "language-models": ModelFilter,
    "prompts": PromptFilter,
}


@pytest.fixture
def three(db):
    """Three rows in every list: Rana's, called after trees, made in the order of their names."""
    world = made_world()
    rana = world.rana
    for name in NAMES:
        QuestionSet.objects.create(owner=rana, name=name)
        Team.objects.create(owner=rana, name=name)
        LanguageModel.objects.create(owner=rana, name=name, family="trees")
        prompt = Prompt.objects.create(owner=rana, name=name)
        prompt.versions.create(number=1, author=rana, strategy="closed", template=name, hash=name)
        Run.objects.create(
            owner=rana,
            version=world.version,
            name=name,
            parameters=AqerParameters(embedder="bow").as_dict(),
        )
    for _ in range(2):
        writing.take_question(world.project, world.wanda.pk)
    client, api = Client(), APIClient()
    client.force_login(rana)
    api.force_authenticate(rana)
    return SimpleNamespace(
        client=client, api=api, rana=rana, set=world.version.question_set, version=world.version
    )


def address(three, name):
    return reverse(f"admin:{name}", args=[three.set.public_id] if name == "writing" else [])


def found(three, name, **asked):
    response = three.client.get(address(three, name), asked)
    assert response.status_code == 200, asked
    return response.context_data["page"], response.content.decode()


EVERY_ORDER = [(name, sort) for name, of in LISTS.items() for sort in of.ORDERS]


@pytest.mark.medium
@pytest.mark.parametrize(("name", "sort"), EVERY_ORDER)
def test_every_order_of_every_list_shows_all_rows_once_page_by_page(three, name, sort, monkeypatch):
    whole, said = found(three, name, sort=sort)
    rows = [row.public_id for row in whole]
    assert len(set(rows)) == whole.count >= 2
    assert f'<option value="{sort}" selected>' in said
    # Through the same list by pages of one row, as long as there is a next one.
    asked = LISTS[name]
    seen, after = [], ""
    real = asked.load_page
    monkeypatch.setattr(
        asked,
        "load_page",
        lambda self, request, size=1, add=lambda rows: rows: real(self, request, 1, add),
    )
    while True:
        page, _ = found(three, name, sort=sort, **({AFTER: after} if after else {}))
        seen += [row.public_id for row in page]
        if page.next is None:
            break
        after = page.next
    assert seen == rows


@pytest.mark.parametrize("name", [name for name in LISTS if name not in ("runs", "writing")])
def test_names_are_sorted_both_ways_and_searched(three, name):
    def names(**asked):
        page, _ = found(three, name, **asked)
        return [row.name for row in page if row.name in NAMES]

    assert names() == ["cedar", "birch", "ash"]  # the newest first
    assert names(sort="name") == ["ash", "birch", "cedar"]
    assert names(sort="-name") == ["cedar", "birch", "ash"]
    assert names(q="IRC") == ["birch"]
    _, said = found(three, name, q="no such tree")
    assert 'data-state="nothing_fits"' in said
    assert "Show all" in said


@pytest.mark.parametrize("name", LISTS)
def test_a_head_that_sorts_says_so_and_turns_the_order_round(three, name):
    sorting = [head for head in LISTS[name].COLUMNS if head.up and head.down]
    assert sorting, name
    column = sorting[0]
    response = three.client.get(address(three, name), {"sort": column.up})
    (head,) = [one for one in response.context_data["heads"] if one.label == column.label]
    assert (head.sorted, head.link) == ("ascending", f"?sort={column.down}")
    assert 'aria-sort="ascending"' in response.content.decode()
    assert three.client.get(address(three, name), {"sort": "shoe-size"}).status_code == 404


@pytest.mark.medium
def test_runs_are_filtered_by_state_kind_and_set_and_a_bad_state_is_said(three):
    Run.objects.filter(name="ash").update(state="cancelled", finished_at=timezone.now())

    def names(**asked):
        return {row.name for row in found(three, "runs", **asked)[0]}

    assert names(state="cancelled") == {"ash"}
    assert names(state="queued", kind="aqer") == {"birch", "cedar"}
    assert names(question_set=three.set.public_id) == set(NAMES)
    other = QuestionSet.objects.get(name="ash")
    assert names(question_set=other.public_id) == set()
    page, said = found(three, "runs", state="perhaps")
    assert page.rows == []
    assert "Select a valid choice" in said
    assert "Nothing was searched" in said


def test_sets_are_filtered_by_whose_they_are_and_by_answers(three):
    otto = User.objects.create_user("otto", is_staff=True)
    theirs = QuestionSet.objects.create(owner=otto, name="oak")
    theirs.shares.create(user=three.rana, role="viewer")

    def names(**asked):
        return {row.name for row in found(three, "question-sets", **asked)[0]}

    assert names(whose="others") == {"oak"}
    assert names(whose="mine") == {*NAMES, "problems"}
    assert names(answered="true") == set()


@pytest.mark.medium
@pytest.mark.parametrize(
    ("name", "sort"), [(name, sort) for name, of in BY_REST.items() for sort in of.ORDERS]
)
def test_rest_sorts_by_the_same_orders_and_follows_its_pages(three, name, sort):
    whole = three.api.get(f"/api/v1/{name}/", {"sort": sort})
    assert whole.status_code == 200, whole.json()
    rows = [row["id"] for row in whole.json()["results"]]
    seen, following = [], f"/api/v1/{name}/?sort={sort}&limit=1"
    while following:
        page = three.api.get(following).json()
        seen += [row["id"] for row in page["results"]]
        following = page["next"]
    assert seen == rows
    assert len(rows) >= 3


@pytest.mark.parametrize("name", BY_REST)
def test_rest_searches_and_names_a_bad_order(three, name):
    rows = three.api.get(f"/api/v1/{name}/", {"q": "birch"}).json()["results"]
    assert [row["name"] for row in rows] == ["birch"]
    refused = three.api.get(f"/api/v1/{name}/", {"sort": "shoe-size"})
    assert refused.status_code == 400
    assert "sort" in refused.content.decode()


def test_every_filter_of_these_rooms_is_among_the_lists_above():
    known = {*LISTS.values(), *BY_REST.values()}
    declared = {
        value
        for room in (lists, models, prompts, runs)
        for value in vars(room).values()
        if isinstance(value, type)
        and value.__name__.endswith("Filter")
        and value.__name__ not in ("ListFilter", "SearchFilter", "FlagFilter")
    }
    assert declared <= known
