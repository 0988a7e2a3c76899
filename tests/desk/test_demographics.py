"""A demographic export of Prolific on the site: named for what it is, previewed, joined by id."""

import pytest
from django.urls import reverse

from annotations.exchange.importing import import_answers
from annotations.models import QuestionSet, Response, Upload, Worker
from tests.annotations.exchange.presets.test_demographics import (
    ANA,
    BEN,
    CAI,
    DAN,
    EVE,
    export,
    survey,
)
from tests.annotations.exchange.presets.test_survey_tools import table
from tests.desk.test_import_wizard import Wizard


@pytest.fixture
def question_set(rana, client):
    client.force_login(rana)
    return QuestionSet.objects.create(owner=rana, name="rivers")


class Join(Wizard):
    """Somebody who uploads a demographic export and chooses what is joined."""

    def choose(self, action="show", roles=None, **changes):
        """Send the form as it stands, with changes and other roles, as a browser does."""
        form = self.page.context["form"]
        changes |= {self.field(name): role for name, role in (roles or {}).items()}
        data = {name: form[name].value() for name in form.fields}
        data = {name: value for name, value in data.items() if value not in (None, "refuse")}
        sent = {**data, action: "yes", **changes}
        self.page = self.client.post(self.address("import-demographics"), sent, follow=True)
        self.upload.refresh_from_db()
        return self.text

    @property
    def counts(self):
        join = self.page.context["join"]
        sizes = (join.n_rows, join.n_matched, len(join.only_in_file), len(join.only_in_answers))
        return dict(zip(("rows", "matched", "only_in_file", "only_in_answers"), sizes, strict=True))

    @property
    def codes(self):
        return [problem["code"] for problem in self.upload.problems]


@pytest.fixture
def join(client, question_set):
    return Join(client, question_set)


@pytest.fixture
def answered(join):
    """The same person, after the answers of Ana, Ben, Cai and Dan were imported."""
    join.send("survey.csv", survey())
    join.say("check")
    join.confirm()
    return join


def stored():
    """The extra information and the flag of the answers, by worker and question."""
    rows = Response.objects.values_list(
        "submission__worker__external_id", "question__external_id", "extra", "rejected"
    )
    return {(worker, question): (extra, rejected) for worker, question, extra, rejected in rows}


@pytest.mark.medium
def test_facts_are_joined_by_worker_after_preview_and_confirmation(answered):
    before = stored()
    updated = dict(Response.objects.values_list("pk", "updated_at"))
    answered.send("demographics.csv", export(ben="APPROVED", cai="APPROVED"))
    assert (answered.upload.kind, answered.upload.state) == ("demographics", "mapping")
    # Ana, Ben and Cai match; Eve is only in the file, Dan only in the answers.
    assert answered.counts == {"rows": 4, "matched": 3, "only_in_file": 1, "only_in_answers": 1}
    assert answered.page.context["form"].columns[1].role.value() == "worker"
    answered.choose("check", {"Total approvals": "ignore", "Completed at": "ignore"})
    assert answered.upload.state == "checked"
    assert stored() == before
    answered.confirm()
    assert answered.upload.state == "done"
    after = stored()
    facts = {"Submission id": "65aa0", "Time taken": "600"}
    assert after[ANA, "rain"] == ({**facts, "Age": "31", "Sex": "Female"}, False)
    assert after[ANA, "salt"] == after[ANA, "rain"]
    # Prolific deleted Ben's age: nothing is stored for it, not the text DATA_EXPIRED.
    assert after[BEN, "rain"][0] == {**facts, "Submission id": "65aa1", "Sex": "Male"}
    assert after[DAN, "rain"] == before[DAN, "rain"]
    # No grade depends on these facts, so no grade becomes stale.
    assert dict(Response.objects.values_list("pk", "updated_at")) == updated
    assert not Worker.objects.filter(external_id=EVE).exists()


@pytest.mark.medium
@pytest.mark.parametrize(("rule", "flagged"), [("apply", {BEN, CAI}), ("keep", set())])
def test_statuses_are_asked_about_and_flag_answers_only_if_chosen(answered, rule, flagged):
    answered.send("demographics.csv", export(ben="REJECTED", cai="TIMED-OUT"))
    assert answered.page.context["counts"] == "1 timed-out, 1 rejected"
    answered.choose("check")
    assert (answered.upload.state, answered.codes) == ("mapping", ["panel_statuses_undecided"])
    assert not Response.objects.filter(rejected=True).exists()
    answered.choose("check", statuses=rule)
    assert answered.upload.report["n_flagged"] == 2 * len(flagged)
    assert not Response.objects.filter(rejected=True).exists()
    answered.confirm()
    assert {worker for (worker, _), (_, is_rejected) in stored().items() if is_rejected} == flagged


@pytest.mark.medium
def test_the_same_file_again_changes_nothing_and_other_values_are_announced(answered):
    content = export(ben="APPROVED", cai="APPROVED")
    answered.send("demographics.csv", content)
    answered.choose("check")
    answered.confirm()
    answered.send("demographics.csv", content)
    assert answered.page.context["join"].replaced == {}
    answered.choose("check")
    assert answered.upload.report["changed"] is False
    answered.send("demographics.csv", content.replace(b",31,", b",32,"))
    assert answered.page.context["join"].replaced == {"Age": 1}
    answered.choose("check", {"Age": "ignore"})
    assert answered.upload.report["changed"] is False


@pytest.mark.medium
def test_before_the_answers_it_waits_and_names_what_it_is(join, question_set):
    text = join.send("demographics.csv", export(ben="APPROVED", cai="APPROVED"))
    assert 'data-state="no_answers"' in text
    assert f'href="{reverse("admin:import", args=[question_set.public_id])}"' in text
    assert 'name="check"' not in text
    waiting = join.upload
    join.send("survey.csv", survey())
    join.say("check")
    text = join.confirm()
    address = reverse("admin:uploaded", args=[question_set.public_id, waiting.public_id])
    assert f'href="{address}"' in text
    join.page = join.client.get(address, follow=True)
    assert join.counts["matched"] == 3


@pytest.mark.medium
def test_one_click_moves_it_to_the_set_in_which_the_participants_answered(answered, rana):
    empty = QuestionSet.objects.create(owner=rana, name="empty")
    answered_set, answered.set = answered.set, empty
    answered.send("demographics.csv", export(ben="APPROVED", cai="APPROVED"))
    assert answered.page.context["others"] == [(answered_set, 3)]
    move = answered.address("demographics-move")
    page = answered.client.post(move, {"into": str(answered_set.public_id)}, follow=True)
    assert page.status_code == 200
    assert page.context["join"].n_matched == 3
    answered.upload.refresh_from_db()
    assert answered.upload.question_set == answered_set


@pytest.mark.medium
def test_it_cannot_be_moved_to_a_set_of_somebody_else(answered, django_user_model):
    other = django_user_model.objects.create_user("other", password="-")
    foreign = QuestionSet.objects.create(owner=other, name="foreign")
    answered.send("demographics.csv", export(ben="APPROVED", cai="APPROVED"))
    for target in (str(foreign.public_id), "no id"):
        page = answered.client.post(answered.address("demographics-move"), {"into": target})
        assert page.status_code == 404
    answered.upload.refresh_from_db()
    assert answered.upload.question_set == answered.set


@pytest.mark.medium
def test_participants_who_did_not_answer_here_are_named_as_such(answered):
    content = table(["Participant id", "Age", "Sex"], ["f" * 24, 30, "Male"])
    text = answered.send("demographics.csv", content)
    assert 'data-state="nobody_matches"' in text
    assert answered.counts == {"rows": 1, "matched": 0, "only_in_file": 1, "only_in_answers": 4}
    answered.choose("check")
    assert answered.codes == ["participants_unmatched"]


@pytest.mark.medium
def test_roles_must_name_one_worker_column(answered):
    answered.send("demographics.csv", export(ben="APPROVED", cai="APPROVED"))
    answered.choose("check", {"Participant id": "ignore"})
    assert answered.page.status_code == 400
    assert answered.errors == {"__all__": ["no_worker"]}
    answered.page = answered.client.get(answered.address("import-demographics"))
    answered.choose("check", {"Submission id": "worker"})
    assert answered.errors == {"__all__": ["role_twice"]}


@pytest.mark.medium
def test_a_discarded_file_has_no_page(answered):
    answered.send("demographics.csv", export(ben="APPROVED", cai="APPROVED"))
    answered.client.post(answered.address("upload-discard"))
    assert not Upload.objects.filter(kind="demographics").exists()
    assert answered.client.get(answered.address("import-demographics")).status_code == 404


@pytest.mark.medium
def test_answers_of_two_submissions_of_a_worker_get_the_facts(answered, rana, tmp_path):
    # The same id on another panel is another person, unless no panel is named.
    own = tmp_path / "own.csv"
    own.write_text(f"worker,question,answer\n{ANA},rain,Never on a Monday\n")
    import_answers(answered.set, own, panel="MTurk")
    answered.send("demographics.csv", export(ben="APPROVED", cai="APPROVED"))
    answered.choose("check")
    answered.confirm()
    rows = Response.objects.filter(submission__worker__external_id=ANA)
    by_panel = dict(rows.values_list("submission__worker__panel", "extra"))
    assert by_panel["MTurk"] == {}
    assert by_panel["Prolific"]["Sex"] == "Female"


@pytest.mark.medium
@pytest.mark.parametrize(("choice", "n_matched"), [({}, 3), ({"keep_ids": "on"}, 2)])
def test_ids_with_decimals_are_joined_as_whole_numbers_unless_they_are_kept(
    join, choice, n_matched
):
    rows = ["101,Yeast makes gas", "102,It swells up", "103,So that it rises"]
    join.send("answers.csv", "\n".join(["Participant ID,Why does bread rise?", *rows]).encode())
    join.say("check")
    join.confirm()
    # One of three ids ends in .0: as typed, 101.0 matches no worker of the answers.
    content = table(
        ["Participant id", "Age", "Sex"], ["101.0", 31, "f"], [102, 32, "m"], [103, 33, "f"]
    )
    join.send("demographics.csv", content)
    assert join.upload.kind == "demographics"
    assert join.counts["matched"] == 3
    assert "(rows: 1 and 2)" in join.page.context["notes"][0]
    join.choose("show", **choice)
    assert join.counts["matched"] == n_matched
    assert join.text.count("data-note") == 1
    join.choose("check", **choice)
    join.confirm()
    ages = {worker: extra.get("Age") for (worker, _), (extra, _) in stored().items()}
    assert ages == {"101": None if choice else "31", "102": "32", "103": "33"}
