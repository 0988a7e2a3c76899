"""Who is asked again: by score or the lower end of its interval, and why others are not."""

import re
from io import StringIO

import pytest
from django.core.management import CommandError, call_command, load_command_class
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotations.ledger.decisions import decide_on_submission
from annotations.models import AuditEntry, Collection, PanelStatus, Submission, Worker
from annotations.panels.client import NotDoneError, UnsureError
from annotations.panels.groups import (
    RequestedBeforeError,
    create_panel_group,
    load_requested_groups,
)
from annotations.panels.prolific import UNVERIFIED
from evaluation.models import AnswerScore, WorkerGrade
from evaluation.payments.storage.invitations import LEFT_OUT, ScoreThreshold, select_invited_workers
from evaluation.payments.storage.rules import RuleError
from tests.annotations import world
from tests.annotations.panels.conftest import fake as fake
from tests.evaluation.grading.results.world import finished
from tests.evaluation.payments.crowd import rivers
from tests.numbers import numbers_in

pytestmark = pytest.mark.django_db

REASON = "The answer repeats the question " + "." * 68


def submission(run, name):
    return Submission.objects.get(version=run.version, worker__external_id=name)


def panel_of(run, **panels):
    for name, panel in panels.items():
        Worker.objects.filter(external_id=name).update(panel=panel)


def test_who_reaches_the_score_is_invited_and_the_others_are_counted_by_why(run):
    # .65 .5875 .525 reach .5; .4625 does not; of the fifth there are too few answers.
    found = select_invited_workers(run.version, ScoreThreshold(0.5))
    assert found.ids == ["w001", "w002", "w003"]
    assert found.left_out == {"too_few": 1, "below": 1}
    assert (found.n_people, found.panel, found.run) == (5, "Prolific", run)
    # Who has just the score reaches it.
    assert select_invited_workers(run.version, ScoreThreshold(0.65)).ids == ["w001"]
    assert select_invited_workers(run.version, ScoreThreshold(0.6501)).ids == []


def test_the_lower_end_asks_for_more_than_the_score(run):
    # Six answers .5 .6 .5 .6 .5 .6 of w002: sd = .0548, +- 2.5706 x .0548 / sqrt(6) = .0575
    # around .5875, so the lower end is .53.
    mine = AnswerScore.objects.filter(
        run=run, response__submission__worker__external_id="w002"
    ).order_by("pk")
    for number, one in enumerate(mine):
        AnswerScore.objects.filter(pk=one.pk).update(score_leave_one_out=0.5 + 0.1 * (number % 2))
    assert "w002" in select_invited_workers(run.version, ScoreThreshold(0.58)).ids
    assert "w002" in select_invited_workers(run.version, ScoreThreshold(0.529, "low")).ids
    assert "w002" not in select_invited_workers(run.version, ScoreThreshold(0.531, "low")).ids


def test_who_reaches_the_question_contrast_is_invited(run):
    # The ranking is turned round: w004 has the highest contrast, w001 the lowest.
    for rank, contrast in enumerate((0.1, 0.2, 0.3, 0.4), 1):
        run.worker_grades.filter(rank=rank).update(
            contrast=contrast, contrast_low=contrast - 0.15, contrast_high=contrast + 0.15
        )
    found = select_invited_workers(run.version, ScoreThreshold(0.3, score="contrast"))
    assert found.ids == ["w003", "w004"]
    assert select_invited_workers(
        run.version, ScoreThreshold(0.2, "low", score="contrast")
    ).ids == ["w004"]
    with pytest.raises(RuleError) as error:
        select_invited_workers(run.version, ScoreThreshold(0.3, score="grade"))
    assert (error.value.field, error.value.code) == ("score", "unknown_score")


def test_a_grading_without_question_contrast_invites_nobody_by_it(run):
    with pytest.raises(RuleError) as error:
        select_invited_workers(run.version, ScoreThreshold(0.3, score="contrast"))
    assert (error.value.field, error.value.code) == ("score", "no_contrast")


def test_one_answer_has_no_interval_and_so_no_lower_end(run):
    mine = AnswerScore.objects.filter(run=run, response__submission__worker__external_id="w001")
    mine.exclude(pk=mine.first().pk).delete()
    assert "w001" in select_invited_workers(run.version, ScoreThreshold(0.5)).ids
    found = select_invited_workers(run.version, ScoreThreshold(-1.0, "low"))
    assert "w001" not in found.ids
    assert found.left_out == {"too_few": 2}


def test_who_withdrew_did_not_hand_in_is_rejected_or_has_no_score_is_left_out(run):
    Submission.objects.filter(pk=submission(run, "w001").pk).update(
        state="returned", withdrawn_at=timezone.now()
    )
    Submission.objects.filter(pk=submission(run, "w002").pk).update(state="timed_out")
    decide_on_submission(submission(run, "w003"), run.owner, "reject", "OTHER", REASON)
    WorkerGrade.objects.filter(run=run, worker__external_id="w004").delete()
    found = select_invited_workers(run.version, ScoreThreshold(0.0))
    assert found.ids == []
    assert found.left_out == {
        "withdrew": 1, "open": 1, "rejected": 1, "no_score": 1, "too_few": 1,
    }  # fmt: skip


def test_a_rejection_on_the_panel_counts_until_somebody_decides_here(run):
    one = submission(run, "w001")
    PanelStatus.objects.create(submission=one, status="REJECTED", session_id="s")
    assert select_invited_workers(run.version, ScoreThreshold(0.58)).ids == ["w002"]
    decide_on_submission(one, run.owner, "approve")
    assert select_invited_workers(run.version, ScoreThreshold(0.58)).ids == ["w001", "w002"]
    decide_on_submission(one, run.owner, "open")
    assert select_invited_workers(run.version, ScoreThreshold(0.58)).left_out["rejected"] == 1


def test_ids_are_those_of_one_panel_and_of_files_that_name_none(run):
    panel_of(run, w002="MTurk", w003="")
    with pytest.raises(RuleError) as caught:
        select_invited_workers(run.version, ScoreThreshold(0.5))
    assert (caught.value.field, caught.value.code) == ("panel", "several_panels")
    assert caught.value.values == {"known": "MTurk, Prolific"}
    assert select_invited_workers(run.version, ScoreThreshold(0.5, panel="MTurk")).ids == [
        "w002",
        "w003",
    ]
    Collection.objects.create(version=run.version, places=9, panel="Prolific")
    found = select_invited_workers(run.version, ScoreThreshold(0.5))
    assert found.ids == ["w001", "w003"]
    assert found.left_out == {"other_panel": 1, "too_few": 1, "below": 1}
    with pytest.raises(RuleError) as caught:
        select_invited_workers(run.version, ScoreThreshold(0.5, panel="Else"))
    assert (caught.value.field, caught.value.code) == ("panel", "unknown_panel")
    assert caught.value.values == {"given": "Else", "known": "MTurk, Prolific"}


def test_an_id_from_the_panel_and_from_a_file_is_one_person_and_what_is_against_them_counts(run):
    Worker.objects.filter(external_id="w002").update(panel="", external_id="w001")
    assert select_invited_workers(run.version, ScoreThreshold(0.45)).ids == ["w001", "w003", "w004"]
    file = Submission.objects.get(worker__external_id="w001", worker__panel="")
    decide_on_submission(file, run.owner, "reject", "OTHER", REASON)
    found = select_invited_workers(run.version, ScoreThreshold(0.45))
    assert found.ids == ["w003", "w004"]
    assert found.left_out == {"rejected": 1, "too_few": 1}


def test_who_came_without_an_id_cannot_be_invited(run):
    Worker.objects.filter(external_id="w001").update(external_id="anonymous-0123456789abcdef")
    found = select_invited_workers(run.version, ScoreThreshold(0.58))
    assert (found.ids, found.left_out["no_id"]) == (["w002"], 1)


@pytest.mark.parametrize(
    ("line", "field"),
    [
        (ScoreThreshold(float("nan")), "at_least"),
        (ScoreThreshold(float("inf")), "at_least"),
        (ScoreThreshold(1001.0), "at_least"),
        (ScoreThreshold(0.5, "high"), "end"),
    ],
)
def test_a_line_that_will_not_do_is_refused(run, line, field):
    with pytest.raises(RuleError) as caught:
        select_invited_workers(run.version, line)
    assert caught.value.field == field


def test_the_number_of_queries_does_not_hang_on_the_people(run):
    other = finished(12, owner=world.user("otto"))
    asked = []
    for one in (run, other):
        with CaptureQueriesContext(connection) as queries:
            assert select_invited_workers(one.version, ScoreThreshold(0.5)).n_people in (5, 12)
        asked.append(len(queries))
    assert asked[0] == asked[1]


def say(*arguments, **options):
    out, err = StringIO(), StringIO()
    call_command("recruit", *(arguments or ("rivers",)), stdout=out, stderr=err, **options)
    return out.getvalue() + err.getvalue()


def test_the_command_writes_ids_a_line_and_says_who_was_left_out(run, tmp_path):
    path = tmp_path / "invite.txt"
    path.write_text("what stood there before")
    said = say(at_least=0.5, output=path)
    assert path.read_bytes() == b"w001\nw002\nw003\n"
    assert numbers_in(said.splitlines()[0]) == ["3", "5", "0.5"]
    assert re.findall(r": (\d) (.*)", said) == [
        ("1", LEFT_OUT["too_few"]),
        ("1", LEFT_OUT["below"]),
    ]


def test_counting_writes_nothing_and_nobody_is_an_error_that_leaves_the_file(run, tmp_path):
    path = tmp_path / "invite.txt"
    assert "Nothing was written" in say(at_least=0.5, output=path, count=True)
    path.write_text("before")
    with pytest.raises(CommandError, match="is left") as caught:
        say(at_least=0.9, output=path)
    assert caught.value.returncode == 2
    assert path.read_text() == "before"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["rivers", "--at-least", "much", "--output", "x"], "invalid float value: 'much'"),
        (["rivers", "--at-least", "nan", "--output", "x"], "1,000"),
        (["rivers", "--output", "x"], "--at-least"),
        (["rivers", "--at-least", ".5"], "--output FILE"),
        (["lakes", "--at-least", ".5", "--output", "x"], "no question set 'lakes'"),
        (["rivers", "--at-least", ".5", "--output", "x", "--in-version", "9"], "no version 9"),
        (["rivers", "--at-least", ".5", "--output", "file/x"], "file"),
        (["rivers", "--at-least", ".5", "--output", "x", "--panel", "Else"], "'Else'"),
        (["rivers", "--at-least", ".5", "--count", "--send"], "--group NAME"),
        (["rivers", "--at-least", ".5", "--group", " "], "1 to 200 characters"),
        (["rivers", "--at-least", ".5", "--group", "g", "--send"], "--by and --workspace"),
    ],
)
def test_bad_input_is_refused_and_nothing_is_written(run, tmp_path, monkeypatch, arguments, says):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(CommandError) as caught:
        say(*arguments)
    assert says in str(caught.value)
    assert [one.name for one in tmp_path.iterdir()] == ["file"]


def test_the_help_reads_as_it_is_meant():
    told = load_command_class("evaluation", "recruit").create_parser("manage.py", "recruit")
    assert "its 95% interval" in " ".join(told.format_help().split())


def test_a_set_that_is_not_graded_is_refused(tmp_path):
    rivers(world.user("rana"))
    with pytest.raises(CommandError) as caught:
        say(at_least=0.5, output=tmp_path / "x")
    assert (caught.value.returncode, caught.value.__cause__.code) == (2, "no_scores")


GROUP = {"at_least": 0.5, "group": "best of rivers", "workspace": "w1", "by": "rana"}


def test_a_group_is_made_on_the_panel_only_when_it_is_said(run, fake):
    said = say(**GROUP)
    assert ["3"] in [numbers_in(line) for line in said.splitlines() if GROUP["group"] in line]
    assert not fake.requests
    assert load_requested_groups(run.version.question_set) == []
    said = say(send=True, **GROUP)
    assert "(group-0) was made of 3 people" in said
    assert UNVERIFIED in said
    assert fake.groups == {
        "group-0": {
            "workspace_id": "w1",
            "name": "best of rivers",
            "participant_ids": ["w001", "w002", "w003"],
        }
    }


def test_a_group_is_asked_for_once_and_who_made_it_is_kept(run, fake):
    say(send=True, **GROUP)
    with pytest.raises(
        CommandError, match=r"of 3 people was made \(group-0\) by rana on"
    ) as caught:
        say(send=True, **GROUP)
    assert caught.value.returncode == 2
    said = say(send=True, **GROUP | {"group": "another"})
    assert "(group-1) was made" in said
    assert [
        (one.name, one.n_people, one.key, one.by)
        for one in load_requested_groups(run.version.question_set)
    ] == [
        ("another", 3, "group-1", "rana"),
        ("best of rivers", 3, "group-0", "rana"),
    ]
    lakes = world.version(run.version.question_set.owner, "lakes").question_set
    assert load_requested_groups(lakes) == []


def test_what_the_panel_refused_may_be_asked_for_again_and_what_it_did_not_answer_not(run, fake):
    fake.fault("POST", "participant-groups", (400, {"error": "no"}))
    with pytest.raises(CommandError) as caught:
        say(send=True, **GROUP)
    assert isinstance(caught.value.__cause__, NotDoneError)
    assert caught.value.returncode == 2
    assert load_requested_groups(run.version.question_set) == []
    fake.fault("POST", "participant-groups", (500, {}))
    with pytest.raises(CommandError) as caught:
        say(send=True, **GROUP)
    assert isinstance(caught.value.__cause__, UnsureError)
    assert caught.value.returncode == 1
    (unsure,) = load_requested_groups(run.version.question_set)
    assert (unsure.name, unsure.key) == ("best of rivers", "")
    with pytest.raises(CommandError) as caught:
        say(send=True, **GROUP)
    assert isinstance(caught.value.__cause__, RequestedBeforeError)
    assert caught.value.__cause__.earlier == unsure
    assert "()" not in str(caught.value.__cause__)  # no id came back
    assert (unsure.by, unsure.name in str(caught.value)) == ("rana", True)
    assert len(fake.asked("POST")) == 2
    entries = AuditEntry.objects.order_by("pk").values_list("action", flat=True)
    assert list(entries) == ["group_ask", "group_no", "group_ask"]


def test_who_is_killed_after_asking_leaves_that_it_was_asked_for(run, fake):
    class KilledError(BaseException):
        pass

    class Killed:
        def create_group(self, *asked):
            raise KilledError

    kept = run.version.question_set
    with pytest.raises(KilledError):
        create_panel_group(kept, run.owner, Killed(), "w1", "best", ["w001"])
    assert [(one.name, one.key) for one in load_requested_groups(run.version.question_set)] == [
        ("best", "")
    ]


def test_the_page_names_the_groups_and_what_to_do_where_no_answer_came(run, fake, client):
    fake.fault("POST", "participant-groups", (500, {}))
    with pytest.raises(CommandError):
        say(send=True, **GROUP)
    say(send=True, **GROUP | {"group": "<b>others</b>"})
    client.force_login(run.owner)
    address = reverse("admin:paying-invite", args=[run.version.question_set.public_id])
    page = client.get(address).content.decode()
    assert "&lt;b&gt;others&lt;/b&gt;" in page
    assert "made, <code>group-0</code>" in page
    assert page.count('data-group="unanswered"') == 1
    told = client.get(reverse("admin:archived")).content.decode()
    assert AuditEntry.Action.GROUP_MADE.label in told
    assert "(group-0)" in told


def test_no_group_is_made_where_it_is_off_of_another_panel_or_by_a_stranger(
    run, fake, settings, tmp_path
):
    path = tmp_path / "x"
    world.user("otto", is_staff=True)
    with pytest.raises(CommandError, match="otto"):
        say("rivers", owner="rana", output=path, send=True, **GROUP | {"by": "otto"})
    Worker.objects.update(panel="MTurk")
    with pytest.raises(CommandError, match="ids of MTurk"):
        say("rivers", owner="rana", output=path, send=True, **GROUP)
    settings.PROLIFIC_API = ""
    with pytest.raises(CommandError, match="switched off"):
        say("rivers", owner="rana", output=path, send=True, **GROUP)
    assert not fake.requests
    assert not path.exists()
