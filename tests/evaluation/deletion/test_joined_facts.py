"""Undoing the join of a demographic export: earlier values come back, and nothing else is lost."""

import pytest
from django.urls import reverse

from annotations.exchange.importing.demographics import import_demographics
from annotations.exchange.presets.demographics import DemographicMapping
from annotations.exchange.reading.source import make_bytes_source
from annotations.models import AuditEntry, Import, JoinedFacts, QuestionSet, Response
from evaluation.deletion.storage import record, undoing
from evaluation.deletion.storage.joined_facts import FACTS
from evaluation.payments.storage.fairness import load_worker_facts
from evaluation.runs.background.work import work_one_turn
from tests.annotations.exchange.presets.test_demographics import ANA, BEN, DAN, survey
from tests.annotations.exchange.presets.test_survey_tools import table
from tests.desk.test_demographics import Join, stored

pytestmark = pytest.mark.django_db


@pytest.fixture
def question_set(rana, client):
    """The survey of Ana, Ben, Cai and Dan, imported."""
    client.force_login(rana)
    made = QuestionSet.objects.create(owner=rana, name="rivers")
    wizard = Join(client, made)
    wizard.send("survey.csv", survey())
    wizard.say("check")
    wizard.confirm()
    return made


def join(question_set, name, people, rule="keep", columns=("Age", "Sex")):
    """Join a file with the columns Participant id, Status, Age, Sex; the import."""
    content = table(["Participant id", "Status", "Age", "Sex"], *people)
    mapping = DemographicMapping("Participant id", "Status", columns).as_dict()
    report = import_demographics(
        question_set,
        make_bytes_source(name, content),
        mapping=mapping,
        statuses=rule,
        imported_by=question_set.owner_id,
    )
    return Import.objects.get(public_id=report.brought_by)


def undo(brought):
    undoing.request_undo(brought, brought.question_set.owner_id)
    while work_one_turn():
        pass
    brought.refresh_from_db()
    assert brought.undone_at is not None


def notes_of(brought):
    return {note.code: note.values for note in undoing.find_import_dependents(brought).notes}


def test_what_was_stored_before_comes_back_with_the_flag(question_set, monkeypatch):
    monkeypatch.setattr(record, "BATCH", 3)
    before = stored()
    Response.objects.filter(submission__worker__external_id=BEN).update(extra={"Age": "40"})
    kept = stored()
    brought = join(
        question_set,
        "facts.csv",
        [[ANA, "APPROVED", 31, "Female"], [BEN, "REJECTED", 41, "Male"]],
        "apply",
    )
    assert (brought.what, brought.n_new, brought.n_unchanged) == ("demographics", 2, 0)
    assert brought.columns == ["Age", "Sex"]
    assert stored()[BEN, "rain"] == ({"Age": "41", "Sex": "Male"}, True)
    # Two answers each: Ben's two ages return, his two answers are counted again.
    assert notes_of(brought) == {
        "facts_return": {"n": 2},
        "flags_return": {"n": 2},
        "answers_stay": {},
    }
    undo(brought)
    assert stored() == kept
    assert stored()[ANA, "rain"] == before[ANA, "rain"]
    assert not JoinedFacts.objects.exists()
    entries = AuditEntry.objects.order_by("pk").values_list("action", "name")
    assert list(entries) == [("undo", "rivers: facts.csv"), ("undone", "rivers: facts.csv")]


def test_a_later_file_keeps_its_values_and_gets_what_was_before(question_set):
    before = stored()
    first = join(question_set, "first.csv", [[ANA, "APPROVED", 31, "Female"]])
    second = join(question_set, "second.csv", [[ANA, "APPROVED", 32, "Female"]])
    assert notes_of(first)["facts_changed"] == {"n": 4}
    undo(first)
    # The sex was the same in both files: it stays, because the second one says so too.
    assert stored()[ANA, "rain"] == ({"Age": "32", "Sex": "Female"}, False)
    undo(second)
    assert stored() == before


def test_the_files_can_be_undone_in_the_reverse_order_too(question_set):
    before = stored()
    first = join(question_set, "first.csv", [[ANA, "APPROVED", 31, "Female"]])
    second = join(question_set, "second.csv", [[ANA, "APPROVED", 32, "Female"]])
    undo(second)
    assert stored()[ANA, "rain"] == ({"Age": "31", "Sex": "Female"}, False)
    undo(first)
    assert stored() == before


def test_a_flag_stays_while_another_joined_file_rejects_the_worker(question_set):
    first = join(question_set, "first.csv", [[BEN, "RETURNED", 41, "Male"]], "apply")
    second = join(question_set, "second.csv", [[BEN, "REJECTED", 42, "Male"]], "apply")
    undo(first)
    assert stored()[BEN, "rain"][1] is True
    undo(second)
    assert stored()[BEN, "rain"] == ({}, False)


def test_a_value_changed_since_stays(question_set):
    brought = join(question_set, "facts.csv", [[DAN, "APPROVED", 31, "Male"]])
    Response.objects.filter(submission__worker__external_id=DAN).update(
        extra={"Age": "33", "Sex": "Male", "note": "called"}
    )
    assert notes_of(brought)["facts_changed"] == {"n": 2}
    undo(brought)
    assert stored()[DAN, "rain"][0] == {"Age": "33", "note": "called"}


def test_the_page_lists_the_file_and_asks_before_it_is_undone(question_set, client):
    brought = join(question_set, "facts.csv", [[ANA, "APPROVED", 31, "Female"]])
    address = reverse("admin:imports", args=[question_set.public_id])
    row = next(one for one in client.get(address).context["rows"] if one.what == "demographics")
    # One worker with two answers.
    assert (row.file, row.n_new, row.n_left, row.state) == ("facts.csv", 1, 1, "kept")
    assert row.imported_by == "rana"
    undoing_page = reverse("admin:import-undo", args=[question_set.public_id, brought.public_id])
    page = client.get(undoing_page)
    assert page.context["hanging"].counts == {FACTS: 2}
    assert stored()[ANA, "rain"][0] == {"Age": "31", "Sex": "Female"}
    assert client.post(undoing_page).status_code == 302
    while work_one_turn():
        pass
    assert stored()[ANA, "rain"][0] == {}
    rows = client.get(address).context["rows"]
    assert [one.state for one in rows if one.what == "demographics"] == ["undone"]


def test_columns_of_an_undone_file_are_no_groups_any_more(question_set):
    brought = join(question_set, "facts.csv", [[ANA, "APPROVED", 31, "left"]], "keep", ("Sex",))
    version = question_set.latest_version()
    keys = set(version.submissions.values_list("pk", flat=True))
    assert list(load_worker_facts(version, keys)) == ["Sex"]
    undo(brought)
    assert load_worker_facts(version, keys) == {}
