"""Roles of an imported file's columns, problems by worker, and files that are not imported yet."""

import json

import pytest
from django.urls import reverse
from django.utils.timezone import now

from annotations.models import Question, QuestionSet, Response, Upload
from annotations.models.uploads import LIFETIME
from tests.annotations.exchange.reading.mturk_export import batch_text
from tests.desk.test_import_wizard import Wizard

WAITING = ("question-set", "imports")


@pytest.fixture
def question_set(rana, client):
    client.force_login(rana)
    return QuestionSet.objects.create(owner=rana, name="rivers")


@pytest.fixture
def wizard(client, question_set):
    return Wizard(client, question_set)


ROLES = """ID,Began,Ended,Why do rivers run?,Colour,Group,Internal
w1,2026-03-04T09:00:00Z,2026-03-04T09:05:00Z,Water runs down the hill,Blue,a,x1
w2,2026-03-04T09:00:00Z,2026-03-04T09:09:00Z,Rain falls on the high ground,Red,b,x2
w3,2026-03-04T09:00:00Z,2026-03-04T09:07:00Z,Gravity pulls it to the sea,Blue,a,x3
"""


@pytest.mark.medium
def test_each_role_of_a_column_is_chosen_and_stored_as_it_says(wizard):
    wizard.send("roles.csv", ROLES.encode())
    assert wizard.roles == {"ID": "worker", "Why do rivers run?": "answer"}
    right = {wizard.field("Colour", "right"): "Blue"}
    times = {"Began": "time", "Ended": "time"}
    told = wizard.say(roles={**times, "Colour": "check", "Internal": "ignore"}, **right)
    assert "attention check, right: Blue" in told
    mapping = wizard.upload.options["mapping"]
    assert (mapping["times"], mapping["ignored"]) == (["Began", "Ended"], ["Internal"])
    # What was chosen is shown again.
    assert {wizard.roles[name] for name in times} == {"time"}
    assert (wizard.roles["Colour"], wizard.roles["Internal"]) == ("check", "ignore")
    wizard.say("check")
    wizard.confirm()
    answer = Response.objects.get(
        submission__worker__external_id="w2", question__role=Question.Role.GRADED
    )
    # From 9:00 to 9:09 are 540 seconds.
    assert (answer.submission.submitted_at - answer.submission.started_at).seconds == 540
    assert answer.extra["Group"] == "b"
    assert "Internal" not in answer.extra
    check = Question.objects.get(role=Question.Role.ATTENTION)
    assert (check.external_id, check.accepted_answers) == ("Colour", ["Blue"])


def test_without_a_worker_column_the_rows_are_the_workers_after_a_tick(wizard):
    wizard.send("roles.csv", ROLES.encode())
    wizard.say(roles={"ID": "extra"}, rows_are_workers="on")
    assert {who for who, _, _ in wizard.shown} == {"1", "2", "3"}
    wizard.say(roles={"ID": "worker"}, rows_are_workers="on")
    assert wizard.errors == {"__all__": ["role_twice"]}


def test_columns_without_a_selector_keep_their_roles(wizard, monkeypatch):
    monkeypatch.setattr("annotations.desk.mapping_form.MOST_SELECTORS", 2)
    told = wizard.send("roles.csv", ROLES.encode())
    form = wizard.page.context["form"]
    # Of seven columns the worker and the answer have a role.
    assert [one.name for one in form.columns] == ["ID", "Why do rivers run?"]
    assert form.n_unselectable == 5
    assert "5 further columns" in told
    wizard.say("check")
    assert wizard.upload.report["n_new"] == 3
    wizard.confirm()
    assert Response.objects.first().extra["Group"] == "a"


@pytest.mark.medium
def test_fields_of_crowd_elements_have_their_roles_although_they_are_no_columns(wizard):
    cells = [
        {"Answer.taskAnswers": json.dumps([{"why": f"The moon pulls {n}", "age": 30}])}
        for n in range(3)
    ]
    batch = batch_text([("H1", f"w{n}", one) for n, one in enumerate(cells)])
    wizard.send("batch.csv", batch.encode())
    assert wizard.roles == {"Answer.why": "answer"}
    wizard.say("check", roles={"Answer.why": "extra", "Answer.age": "extra"})
    assert wizard.errors == {"__all__": ["no_answers"]}
    wizard.page = wizard.client.get(wizard.address("import-columns"))
    wizard.say("check")
    wizard.confirm()
    assert Response.objects.get(submission__worker__external_id="w1").text == "The moon pulls 1"


def test_a_record_with_a_row_for_each_event_comes_in_whole(wizard):
    header = "record_id,redcap_event_name,bread,salt,science_complete"
    people = [
        (f"{n},first_arm_1,The yeast makes a gas {n},,2", f"{n},later_arm_1,,Brine stays wet {n},2")
        for n in (1, 2, 3)
    ]
    rows = [row for pair in people for row in pair]
    wizard.send("data.csv", "\n".join([header, *rows]).encode())
    wizard.say("check")
    # Three records answered a question in each of two events.
    assert wizard.upload.report["n_new"] == 6
    wizard.confirm()
    assert Response.objects.filter(status="text").count() == 6


TWICE = """ID,Why do rivers run?,Why is the sea salty?
w1,"Water runs
down the hill",Rivers wash the salt in
w2,Rain falls on high ground,Salt comes out of stones
w1,It is gravity,Fish bring the salt
w2,It is the slope,The sun dries the water
,Nobody knows it,Nobody knows that
"""


ONE_OR_ALL = ("duplicates=first", "duplicates-of=first=w1", "duplicates-of=first=w2")


@pytest.mark.medium
def test_problems_are_grouped_by_worker_with_the_row_and_the_choice(wizard):
    wizard.send("twice.csv", TWICE.encode())
    told = wizard.say("check")
    # The title is row 1; the first record has two lines, so that line 5 is row 4.
    found = [(one["worker"], one["line"], one["row"]) for one in wizard.upload.problems]
    assert sorted(found) == [("", 7, 6), ("w1", 5, 4), ("w2", 6, 5)]
    groups = wizard.page.context["groups"]
    assert [(one["worker"], one["choice"]) for one in groups] == [
        ("", ""),
        ("w1", "duplicates"),
        ("w2", "duplicates"),
    ]
    assert [told.count(f'value="{value}"') for value in ONE_OR_ALL] == [1, 1, 1]
    # The row of no worker needs a correction of the file; the others a choice, with one click.
    wizard.send("twice.csv", TWICE.replace(",Nobody knows it", "w3,Nobody knows it").encode())
    wizard.say("check")
    wizard.say("choose", choose="duplicates=last")
    assert (wizard.upload.state, wizard.upload.options["duplicates"]) == ("checked", "last")
    wizard.confirm()
    texts = Response.objects.filter(submission__worker__external_id="w1")
    assert set(texts.values_list("text", flat=True)) == {"It is gravity", "Fish bring the salt"}


@pytest.mark.medium
def test_a_choice_beside_a_worker_counts_for_that_worker_alone(wizard):
    content = TWICE.replace(",Nobody knows it", "w3,Nobody knows it").encode()
    wizard.send("twice.csv", content)
    wizard.say("check")
    wizard.say("choose", choose="duplicates-of=last=w1")
    # What is left to decide is the other worker.
    assert [one["worker"] for one in wizard.upload.problems] == ["w2"]
    assert wizard.page.context["worker_rules"] == {"w1": "last"}
    assert wizard.upload.options["duplicates"] == "refuse"
    wizard.say("choose", choose="duplicates-of=first=w2")
    assert wizard.upload.state == "checked"
    # Back on the page of the columns a choice can be taken back.
    wizard.page = wizard.client.get(wizard.address("import-columns"))
    wizard.say("choose", choose="duplicates-of=refuse=w2")
    assert [one["worker"] for one in wizard.upload.problems] == ["w2"]
    # The choice for all others does not touch that of w1.
    wizard.say("check", duplicates="first")
    wizard.confirm()
    texts = dict(
        Response.objects.filter(question__text="Why do rivers run?").values_list(
            "submission__worker__external_id", "text"
        )
    )
    assert texts == {
        "w1": "It is gravity",
        "w2": "Rain falls on high ground",
        "w3": "Nobody knows it",
    }


@pytest.mark.medium
def test_another_worker_column_forgets_the_choices_for_workers(wizard):
    content = TWICE.replace("ID,", "ID,Seat,").replace("w1,", "w1,a,").replace("w2,", "w2,b,")
    wizard.send("twice.csv", content.replace(",Nobody knows it", "w3,c,Nobody knows it").encode())
    wizard.say("choose", choose="duplicates-of=last=w1")
    assert wizard.upload.options["duplicates_of"] == {"w1": "last"}
    wizard.page = wizard.client.get(wizard.address("import-columns"))
    wizard.say(roles={"ID": "extra", "Seat": "worker"})
    assert wizard.upload.options["duplicates_of"] == {}
    for choice in ("duplicates-of=both=w1", "duplicates-of=last=", "duplicates-of"):
        wizard.say("choose", choose=choice)
        assert wizard.upload.options["duplicates_of"] == {}


@pytest.mark.medium
def test_a_file_that_is_not_imported_yet_waits_on_the_page_of_its_set(wizard, question_set, otto):
    pages = [reverse(f"admin:{name}", args=[question_set.public_id]) for name in WAITING]
    wizard.send("rivers.csv", ROLES.encode())
    for address in pages:
        page = wizard.client.get(address)
        assert page.context["uploads"] == [wizard.upload]
        assert f'href="{wizard.address("uploaded")}"' in page.content.decode()
    wizard.say("check")
    assert wizard.client.get(pages[0]).context["uploads"] == [wizard.upload]
    wizard.confirm()
    wizard.send("empty.csv", b" \n")  # it cannot be read, so that nothing waits
    for address in pages:
        page = wizard.client.get(address)
        assert (page.context["uploads"], 'data-state="uploads_wait"' in page.content.decode()) == (
            [],
            False,
        )
    wizard.send("again.csv", ROLES.encode())
    wizard.client.post(wizard.address("upload-discard"))
    assert wizard.client.get(pages[0]).context["uploads"] == []


def test_a_file_of_somebody_else_and_one_of_yesterday_wait_no_longer(wizard, question_set, otto):
    wizard.send("rivers.csv", ROLES.encode())
    address = reverse("admin:question-set", args=[question_set.public_id])
    assert len(wizard.client.get(address).context["uploads"]) == 1
    Upload.objects.update(owner=otto)
    assert wizard.client.get(address).context["uploads"] == []
    Upload.objects.update(owner=question_set.owner, created_at=now() - LIFETIME)
    assert wizard.client.get(address).context["uploads"] == []
