"""Pay people: everybody with the evidence, decided one by one or several at once, lists, files."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotations.ledger.decisions import decide_on_submission
from annotations.models import Collection, Decision, PanelFile, PanelStatus
from annotations.panels.sentences import REPORTS
from tests.desk.flashes import flashed
from tests.evaluation.fact_world import with_facts
from tests.evaluation.grading.results.world import finished
from tests.evaluation.payments.crowd import rivers
from tests.numbers import numbers_in
from tests.sentences import site_sentence

REASON = "You answered the question that checks whether it is read otherwise than it asks for. " * 2


@pytest.fixture
def crowd(rana, client):
    client.force_login(rana)
    version, people = rivers(rana)
    return version, people


def link(crowd, name="paying", *more):
    return reverse(f"admin:{name}", args=[crowd[0].question_set.public_id, *more])


def of(crowd, name):
    return link(crowd, "paying-person", crowd[1][name].public_id)


def text_of(response):
    return response.content.decode()


def test_everybody_is_there_with_what_speaks_for_a_decision(crowd, client):
    shown = text_of(client.get(link(crowd)))
    assert site_sentence("paying.checks", failed=1, checks=1) in shown
    assert '?decided=open"><strong>10</strong>' in shown
    assert shown.count('name="who"') == 9  # hal did not hand in


@pytest.mark.medium
def test_the_list_is_searched_filtered_and_sorted(crowd, client):
    def names(query):
        rows = client.get(link(crowd) + query).context["rows"]
        return [row.name for row in rows]

    assert names("?q=a") == ["ada", "fay", "ida", "hal"]  # hal did not hand in
    assert names("?q=a&sort=worker") == ["ada", "fay", "hal", "ida"]
    assert names("?suggested=reject") == ["ben", "cy", "di", "fay", "gus"]
    assert names("?sort=-worker")[0] == "joe"
    decide_on_submission(crowd[1]["joe"], crowd[0].question_set.owner, "approve")
    assert names("?decided=approve") == ["joe"]
    PanelStatus.objects.create(submission=crowd[1]["eve"], status="RETURNED", session_id="s")
    assert names("?status=RETURNED") == ["eve"]
    assert len(names("?status=unknown")) == 9
    assert "Select a valid choice" in text_of(client.get(link(crowd) + "?decided=perhaps"))


@pytest.mark.medium
def test_a_draft_made_from_the_evidence_is_there_and_can_be_sent(crowd, client):
    shown = client.get(of(crowd, "ben"))
    form = shown.context["form"]
    assert form.initial["category"] == "FAILED_CHECK"
    assert "“Tick often.” (your answer: “never”)" in form.initial["reason"]
    response = client.post(of(crowd, "ben"), {"do": "reject", "seen": "", **form.initial})
    assert response.status_code == 302
    row = Decision.objects.get()
    assert (row.kind, row.category, row.reason) == (
        *("reject", "FAILED_CHECK"),
        form.initial["reason"],
    )
    assert "Rejected</strong> by" in text_of(client.get(of(crowd, "ben")))


def test_a_decision_in_capitals_is_kept_and_told_like_any_other(crowd, client):
    response = client.post(of(crowd, "ada"), {"do": "APPROVE", "seen": ""}, follow=True)
    assert flashed(response) == ["decision_approve"]
    assert Decision.objects.get().kind == "approve"


def test_a_reason_of_99_characters_is_refused_beside_the_field(crowd, client):
    sent = {"do": "reject", "seen": "", "category": "OTHER", "reason": "x" * 99}
    response = client.post(of(crowd, "ada"), sent)
    assert response.status_code == 400
    errors = response.context["form"].errors
    assert list(errors) == ["reason"]
    assert numbers_in(errors["reason"][0])[:2] == ["100", "99"]
    assert "x" * 99 in text_of(response)
    assert not Decision.objects.exists()


def test_a_reason_without_evidence_is_not_offered_and_warned_of(crowd, client):
    shown = client.get(of(crowd, "ada"))
    assert shown.context["form"].initial == {"category": "", "reason": ""}
    assert 'data-note="no_evidence"' in text_of(shown)
    assert 'data-note="no_evidence"' not in text_of(client.get(of(crowd, "ben")))


def test_who_decided_meanwhile_is_told_and_nothing_typed_is_lost(crowd, client):
    decide_on_submission(crowd[1]["ada"], crowd[0].question_set.owner, "approve")
    sent = {"do": "reject", "seen": "", "category": "OTHER", "reason": REASON}
    response = client.post(of(crowd, "ada"), sent)
    assert response.status_code == 409
    assert response.context["problem"].code == "decided_meanwhile"
    assert 'data-problem="decided_meanwhile"' in text_of(response)
    assert REASON.strip() in text_of(response)
    assert [row.kind for row in Decision.objects.all()] == ["approve"]


def test_a_decision_is_taken_back_by_a_further_row(crowd, client):
    row = decide_on_submission(crowd[1]["ada"], crowd[0].question_set.owner, "approve")
    client.post(of(crowd, "ada"), {"do": "open", "seen": str(row.public_id)})
    assert [row.kind for row in Decision.objects.order_by("pk")] == ["approve", "open"]


def test_several_are_approved_after_they_were_shown_by_name(crowd, client):
    page = client.get(link(crowd, "paying-approve"))
    assert [one.name for one in page.context["people"]] == ["ada", "eve", "ida", "joe"]
    who = page.context["who"]
    assert client.post(link(crowd, "paying-approve"), {"who": who}).status_code == 302
    assert Decision.objects.filter(kind="approve").count() == 4
    again = client.post(link(crowd, "paying-approve"), {"who": who})
    assert again.status_code == 409
    assert Decision.objects.count() == 4


def test_of_the_chosen_only_the_undecided_are_asked_for(crowd, client):
    decide_on_submission(crowd[1]["ada"], crowd[0].question_set.owner, "approve")
    chosen = "&".join(f"who={crowd[1][name].public_id}" for name in ("ada", "ben"))
    page = client.get(f"{link(crowd, 'paying-approve')}?{chosen}&who=nonsense")
    assert [one.name for one in page.context["people"]] == ["ben"]


def test_lists_are_those_of_the_command(crowd, client):
    owner = crowd[0].question_set.owner
    decide_on_submission(crowd[1]["ada"], owner, "approve")
    decide_on_submission(crowd[1]["ben"], owner, "reject", "OTHER", REASON)

    def sent(name):
        response = client.get(link(crowd, "paying-list", name))
        return b"".join(response.streaming_content).decode()

    assert sent("prolific-approve") == "ada\n"
    assert "ben,OTHER," in sent("prolific-reject")
    assert sent("log").count("\n") == 3
    assert client.get(link(crowd, "paying-list", "prolific-bonus")).status_code == 404
    assert client.get(link(crowd, "paying-list", "no-such-list")).status_code == 404


@pytest.mark.medium
def test_a_file_of_decisions_is_tried_first_and_bonuses_are_taken_once(crowd, client):
    Collection.objects.create(version=crowd[0], places=9, pay="1.00", currency="GBP")
    file = SimpleUploadedFile(
        "d.csv", b"worker,decision,category,reason,bonus\nada,approve,,,1.50\nben,open,,,\n"
    )
    page = client.post(link(crowd, "upload", "decisions"), {"file": file}, follow=True)
    assert page.context["staged"].report["counted"] == {
        "approve": 1,
        "open": 1,
        "bonuses": 1,
        "new_bonuses": 1,
        "total": "1.50 GBP",
    }
    assert all(note in text_of(page) for note in page.context["staged"].report["notes"])
    assert not Decision.objects.exists()
    form = page.context["staged"].public_id
    client.post(link(crowd, "upload-confirm", form))
    assert Decision.objects.count() == 2
    assert 'data-bonuses="1"' in text_of(client.get(link(crowd)))
    taken = client.post(link(crowd, "paying-take"))
    assert b"".join(taken.streaming_content) == b"ada,1.50\n"
    again = client.post(link(crowd, "paying-take"), follow=True)
    assert flashed(again) == ["no_bonus_left"]
    (batch,) = client.get(link(crowd)).context["taken"]
    once_more = client.get(link(crowd, "paying-list", "prolific-bonus") + f"?batch={batch[0]}")
    assert b"".join(once_more.streaming_content) == b"ada,1.50\n"


def test_a_bad_file_is_told_with_its_lines_and_nothing_is_kept(crowd, client):
    file = SimpleUploadedFile(
        "d.csv", b"worker,decision,category,reason\nada,approve,,\nzoe,approve,,\n"
    )
    page = client.post(link(crowd, "upload", "decisions"), {"file": file}, follow=True)
    (problem,) = page.context["staged"].problems
    assert (problem["line"], problem["column"]) == (3, "worker")
    assert "zoe" in problem["reason"]
    assert problem["reason"] in text_of(page)
    assert not Decision.objects.exists()


def test_statuses_of_prolific_are_taken_in_from_the_page(crowd, client):
    file = SimpleUploadedFile(
        "export.csv",
        b"Submission id,Participant id,Status,Age\n"
        b"s1,ada,AWAITING REVIEW,34\ns2,ben,RETURNED,29\ns3,zoe,RETURNED,30\n",
    )
    page = client.post(link(crowd, "upload", "panel-statuses"), {"file": file}, follow=True)
    report = page.context["staged"].report
    counted = {"AWAITING REVIEW": 1, "RETURNED": 1}
    assert report["counted"] == counted
    # Ten people took part; Zoe is a stranger.
    assert report["notes"] == [
        REPORTS.text("took_part", counts=counted),
        REPORTS.text("did_not_take_part", counts={"RETURNED": 1}),
        REPORTS.text("missing", n=8),
        REPORTS.text("columns_left_out", names=["Age"]),
    ]
    assert all(note in text_of(page) for note in report["notes"])
    client.post(link(crowd, "upload-confirm", page.context["staged"].public_id))
    assert PanelStatus.objects.count() == 2
    assert "returned" in text_of(client.get(of(crowd, "ben")))


def test_an_empty_version_says_so(rana, client):
    from tests.annotations import world

    client.force_login(rana)
    version = world.version(rana, "empty")
    page = client.get(reverse("admin:paying", args=[version.question_set.public_id]))
    assert 'data-state="nobody_took_part"' in text_of(page)


def test_versions_batches_and_times_are_shown_and_what_passes_a_filter_is_counted(crowd, client):
    version, people = crowd
    question_set = version.question_set
    question_set.versions.update(published_at=timezone.now())
    question_set.versions.create(number=2)
    PanelFile.objects.create(version=version, name="batch.csv", header=["WorkerId"])
    PanelStatus.objects.create(
        submission=people["ida"], status="AWAITING REVIEW", session_id="s", seconds=90
    )
    gone = version.submissions.filter(pk=people["ida"].pk)
    gone.update(state="returned", withdrawn_at=timezone.now())
    shown = client.get(link(crowd)).context
    assert shown["versions"] == [2, 1]
    assert [batch.name for batch in shown["lists"].batches] == ["batch.csv"]
    assert {row.name: row.seconds for row in shown["rows"]}["ida"] == 90
    assert shown["page"].count == 10
    assert client.get(link(crowd) + "?q=a").context["page"].count == 4


def test_facts_that_contradict_the_crowd_are_listed_for_whom_they_are_of(db, client):
    run = with_facts(finished(3))
    run.owner.is_staff = True
    run.owner.save()
    client.force_login(run.owner)

    def n_listed(submission):
        ids = [run.version.question_set.public_id, submission.public_id]
        return len(client.get(reverse("admin:paying-person", args=ids)).context["contradictions"])

    *others, last = run.version.submissions.order_by("worker")
    assert n_listed(last) == last.responses.filter(scores__run=run).count() > 0
    assert [n_listed(one) for one in others] == [0, 0]


def test_the_times_of_everybody_are_asked_for_once(crowd, client):
    # Of one page: for the filter, the evidence beside a decision, and the minutes that are shown.
    with CaptureQueriesContext(connection) as asked:
        client.get(link(crowd) + "?suggested=reject")
    of_panel = [one for one in asked if '."seconds"' in one["sql"]]
    assert len(of_panel) == 1
