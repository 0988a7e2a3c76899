"""The pages of workers over several sets, and the same by the API."""

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotations.models import Membership, Share, Team, WorkerNote
from evaluation.core.messages.run_sentences import FEWEST
from tests.evaluation.runs.reports.across.world import graded_set, named, worker
from tests.evaluation.site.handles import error_codes, states
from tests.sentences import api_sentence

pytestmark = pytest.mark.django_db
SCORES = {"ada": [0.5, 0.7], "ben": [0.6, 0.6], "cy": [0.2, 0.4], "dee": [0.2, 0.4]}


@pytest.fixture
def rana(client):
    user = User.objects.create_user("rana", is_staff=True)
    client.force_login(user)
    return user


@pytest.fixture
def run(rana):
    run = graded_set(rana, "rivers", SCORES)
    named(run, "cy", "dee")
    return run


def page(client, name, *ids, query=""):
    response = client.get(reverse(f"admin:{name}", args=ids) + query)
    assert response.status_code == 200
    return response.content.decode()


def test_the_list_says_what_it_is_without_workers_and_without_any_that_fit(client, rana):
    assert states(page(client, "workers")) == ["no_workers"]
    graded_set(rana, "rivers", SCORES)
    assert states(page(client, "workers", query="?q=nobody")) == ["none_found"]


def test_a_click_on_a_head_sorts_and_another_one_turns_it_round(client, run):
    first = client.get(reverse("admin:workers"), {"sort": "mean", "q": "d"})
    (mean,) = [head for head in first.context_data["heads"] if head.label == "Mean score"]
    assert (mean.sorted, mean.link) == ("ascending", "?sort=-mean&q=d")
    assert 'aria-sort="ascending"' in first.content.decode()


@pytest.mark.parametrize(
    ("query", "said"),
    [("?question_set=x", "Enter a valid UUID"), ("?excluded=perhaps", "true or false")],
)
def test_a_filter_that_will_not_do_is_said_beside_it(client, run, query, said):
    found = page(client, "workers", query=query)
    assert said in found
    assert "not_searched" in states(found)


def test_a_bad_order_or_cursor_finds_no_page(client, run):
    for query in ("?sort=shoe-size", "?after=x"):
        assert client.get(reverse("admin:workers") + query).status_code == 404


def test_the_number_of_queries_does_not_grow_with_workers_nor_with_sets(client, rana, run):
    addresses = [
        reverse("admin:workers") + "?sort=-mean&alarms=any&notes=false",
        reverse("admin:worker", args=[worker(rana, "cy").public_id]),
    ]

    def queries():
        counts = []
        for address in addresses:
            with CaptureQueriesContext(
                connection,
            ) as asked:
                assert client.get(address).status_code == 200
            counts.append(len(asked))
        return counts

    before = queries()
    for at in range(3):
        more = graded_set(
            rana, f"more {at}", SCORES | {f"w{at}{n}": [0.1, 0.2] for n in range(5)}, at + 1
        )
        named(more, "cy", *(f"w{at}{n}" for n in range(5)))
    assert queries() == before


def plans(client, query, beginning):
    """How SQLite reads the queries of the list that begin so: its own words, one text a query."""
    with CaptureQueriesContext(connection) as asked:
        assert client.get(reverse("admin:workers") + query).status_code == 200
    found = [one["sql"] for one in asked if one["sql"].startswith(beginning)]
    told = []
    for sql in found:
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN QUERY PLAN {sql}")
            told.append("\n".join(str(row[-1]) for row in cursor.fetchall()))
    return told


@pytest.mark.skipif(connection.vendor != "sqlite", reason="the words of SQLite's plans")
def test_a_page_of_workers_asks_of_nobody_row_by_row_where_they_answered(client, rana, run):
    # (Which index is taken hangs on what SQLite knows of the tables, so on the tests before.)
    for beginning in (
        'SELECT "annotations_worker"."id", "annotations_worker"."public_id"',
        'SELECT COUNT(*) AS "__count" FROM "annotations_worker"',
        'SELECT "annotations_worker"."panel"',
    ):
        (plan,) = plans(client, "", beginning)
        assert "CORRELATED" not in plan, plan


def test_notes_say_who_and_when_and_their_author_takes_them_back(client, rana, run):
    ada = worker(rana, "ada").public_id
    empty = client.post(reverse("admin:worker-note", args=[ada]), {"text": " "})
    assert (empty.status_code, WorkerNote.objects.count()) == (400, 0)
    errors = empty.context["form"].errors
    assert error_codes(errors.as_data()["text"]) == ["required"]
    assert errors["text"][0] in empty.content.decode()
    client.post(reverse("admin:worker-note", args=[ada]), {"text": "<b>late</b> again"})
    shown = page(client, "worker", ada)
    assert "&lt;b&gt;late&lt;/b&gt; again" in shown
    assert "rana, " in shown
    note = WorkerNote.objects.get()
    client.post(reverse("admin:worker-note-remove", args=[ada, note.public_id]))
    assert not WorkerNote.objects.exists()


def test_team_mates_read_notes_and_viewers_do_not(client, rana, run):
    ada = worker(rana, "ada")
    WorkerNote.objects.create(worker=ada, author=rana, text="answers late")
    question_set = run.version.question_set
    tara, vera = User.objects.create_user("tara", is_staff=True), User.objects.create_user("vera")
    question_set.team = Team.objects.create(owner=rana, name="team")
    question_set.save()
    Membership.objects.create(team=question_set.team, user=tara)
    Share.objects.create(question_set=question_set, user=vera, role="viewer")
    for who, reads in ((tara, True), (vera, False)):
        client.force_login(who)
        shown = page(client, "worker", ada.public_id)
        assert ("answers late" in shown) is reads
        assert ('name="text"' in shown) is reads
        kept = client.post(reverse("admin:worker-note", args=[ada.public_id]), {"text": "me too"})
        assert kept.status_code == (302 if reads else 403)
    assert {note.author for note in WorkerNote.objects.all()} == {rana, tara}


def test_the_picture_of_two_sets_can_be_taken_away(client, rana, run):
    ada = worker(rana, "ada").public_id
    address = reverse("admin:worker-history", args=[ada])
    assert client.get(address).status_code == 404
    graded_set(rana, "lakes", SCORES, 1)
    picture = client.get(address)
    assert picture["Content-Type"] == "image/svg+xml"
    assert b"lakes" in picture.content
    assert "worker-ada.svg" in picture["Content-Disposition"]


def test_the_api_lists_filters_and_tells_histories(client, rana, run):
    rows = client.get(reverse("api:worker-list"), {"sort": "name", "limit": 3}).json()
    assert [row["name"] for row in rows["results"]] == ["ada", "ben", "cy"]
    assert [row["name"] for row in client.get(rows["next"]).json()["results"]] == ["dee"]
    named_ones = client.get(reverse("api:worker-list"), {"alarms": "any", "sort": "name"}).json()
    assert [(row["name"], row["n_copies"]) for row in named_ones["results"]] == [
        ("cy", 1),
        ("dee", 1),
    ]
    bad = client.get(reverse("api:worker-list"), {"sets": "many"})
    assert bad.status_code == 400
    assert bad.json()["errors"][0]["parameter"] == "sets"
    cy = worker(rana, "cy").public_id
    history = client.get(reverse("api:worker-detail", args=[cy])).json()
    assert history["companions"][0]["name"] == "dee"
    assert history["told"][0] == api_sentence("trend.too_few", n=1, fewest=FEWEST)
    made = client.post(
        reverse("api:worker-notes", args=[cy]),
        {"text": "ask why"},
        content_type="application/json",
    )
    assert (made.status_code, made.json()["author"]) == (201, "rana")
    gone = client.delete(reverse("api:worker-note", args=[cy, made.json()["id"]]))
    assert gone.status_code == 204
