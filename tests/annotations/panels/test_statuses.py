"""Prolific's export is taken in whole or not at all, and never that of another study."""

from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command, load_command_class
from django.utils import timezone

from annotations import guards
from annotations.exchange.prolific import STATUSES
from annotations.ledger.sentences import LISTS
from annotations.models import PanelSession, PanelStatus
from annotations.panels.people import compute_seconds_taken, load_submissions_with_decisions
from annotations.panels.sentences import REPORTS
from annotations.panels.statuses import count_statuses
from tests.annotations import world
from tests.problems import check_problem, only_problem

pytestmark = pytest.mark.django_db

# The columns that its documentation names, in their order.
HEADER = (
    "Submission id,Participant id,Status,Custom study tncs accepted at,Started at,Completed at,"
    "Reviewed at,Archived at,Time taken,Completion code,Total approvals,Age,Sex,"
    "Ethnicity simplified,Country of birth,Country of residence,Nationality,Language,"
    "Student status,Employment status\n"
)
PARTICIPANT, SUBMISSION = "Participant id", "Submission id"
STUDY = "5f1e" + "0" * 20
OTHER = "6a2b" + "0" * 20


@pytest.fixture
def rivers():
    version = world.version(world.user("rana", is_staff=True))
    for name in ("ada", "ben", "cy"):
        one = world.submission(version, name)
        one.panel_sessions.create(session_id=f"s-{name}", study_id=STUDY)
    return version


def row(who, status="AWAITING REVIEW", session="", taken="612", code="DONE1", **cells):
    begun = cells.get("begun", "2026-11-20T10:00:00.123000Z")
    ended = cells.get("ended", "2026-11-20 10:10:12.500000")
    return (
        f"{session or 's-' + who},{who},{status},Not Applicable,{begun},{ended},,,{taken},{code},"
        "212,34,Female,White,Ghana,Ghana,Ghana,English,No,DATA_EXPIRED\n"
    )


def in_file(n_new=0, n_unchanged=0, n_strangers=0):
    """How many rows are told, and what became of them."""
    counts = {"n_new": n_new, "n_unchanged": n_unchanged, "n_strangers": n_strangers}
    return REPORTS.text("submissions_in_file", n=sum(counts.values()), **counts)


@pytest.fixture
def take(tmp_path):
    def run(*rows, name="export.csv", header=HEADER, **options):
        path = tmp_path / name
        text = header + "".join(rows)
        path.write_bytes(
            text if isinstance(text, bytes) else text.encode(options.pop("as_", "utf-8"))
        )
        out = StringIO()
        call_command("import_statuses", "rivers", path, stdout=out, **options)
        return out.getvalue()

    def refused(*rows, **how):
        with pytest.raises(CommandError) as caught:
            run(*rows, **how)
        assert caught.value.returncode == 2
        assert not PanelStatus.objects.exists()
        return str(caught.value)

    def refused_for(code, *rows, name="export.csv", header=HEADER, **expected):
        with pytest.raises(CommandError) as caught:
            run(*rows, name=name, header=header)
        assert caught.value.returncode == 2
        check_problem(only_problem(caught.value.__cause__), code, **expected)

    run.refused, run.refused_for = refused, refused_for
    return run


def test_every_status_is_kept_with_its_times_and_nothing_of_the_person(rivers, take):
    said = take(row("ada"), row("ben", "RETURNED", taken="", code="", ended=""))
    assert in_file(n_new=2) in said
    assert REPORTS.text("missing", n=1) in said  # Cy
    assert REPORTS.text("columns_left_out", names=["Custom study tncs accepted at"]) in said
    ada = PanelStatus.objects.get(submission__worker__external_id="ada")
    assert (ada.status, ada.session_id, ada.seconds, ada.code) == (
        "AWAITING REVIEW", "s-ada", 612.0, "DONE1",
    )  # fmt: skip
    # 10:10:12.5 less 10:00:00.123 is 612.377 s: a time without a zone is UTC.
    assert (ada.completed_at - ada.started_at).total_seconds() == pytest.approx(612.377)
    assert (ada.file, ada.recorded_by_id) == ("export.csv", None)
    told = " ".join(str(value) for one in PanelStatus.objects.values() for value in one.values())
    assert "Ghana" not in told
    ben = PanelStatus.objects.get(submission__worker__external_id="ben")
    assert (ben.seconds, ben.completed_at, ben.code) == (None, None, "")


def test_a_status_of_the_panel_is_known_however_it_is_spelled(rivers, take):
    take(row("ada", "TIMED-OUT"), row("ben", "timed_out"))
    assert count_statuses(rivers) == {"TIMED-OUT": 2}


def test_files_and_rows_know_the_same_statuses():
    assert tuple(PanelStatus.Status.values) == STATUSES


def test_what_is_new_is_added_and_the_history_stays(rivers, take):
    take(row("ada"), row("ben"))
    assert in_file(n_unchanged=2) in take(row("ada"), row("ben"))
    assert in_file(n_new=1, n_unchanged=1) in take(row("ada", "APPROVED"), row("ben"))
    history = PanelStatus.objects.filter(submission__worker__external_id="ada").order_by("pk")
    assert [one.status for one in history] == ["AWAITING REVIEW", "APPROVED"]
    assert count_statuses(rivers) == {"APPROVED": 1, "AWAITING REVIEW": 1}
    with world.refused(guards.APPEND_ONLY):
        super(type(history), history).update(status="REJECTED")


def test_an_export_that_is_older_than_the_last_one_is_warned_of(rivers, take):
    assert "Warning" not in take(row("ada", "TIMED-OUT"), row("ben", "APPROVED"), row("cy"))
    said = take(row("ada"), row("ben"), row("cy", "APPROVED"))
    back = {"n": 1, "before": "APPROVED", "now": "AWAITING REVIEW"}
    assert REPORTS.text("warning", warning=REPORTS.text("settled_before", **back)) in said
    assert "Warning" not in take(row("ada"), row("ben"), row("cy", "REJECTED"))


def test_an_older_export_calls_its_columns_otherwise(rivers, take):
    header = (
        "session_id,participant_id,status,reviewed_at_datetime,entered_code,completed_date_time,"
        "started_datetime,time_taken,age\n"
    )
    begun, ended = "2021-03-01 10:00:00.120000", "2021-03-01 10:10:00.120000"
    take(f"s-ada,ada,APPROVED,,DONE1,{ended},{begun},600.0,34\n", header=header)
    (one,) = PanelStatus.objects.all()
    assert (one.session_id, one.status, one.code, one.seconds) == (
        "s-ada",
        "APPROVED",
        "DONE1",
        600,
    )
    assert str(one.started_at) == "2021-03-01 10:00:00.120000+00:00"
    assert str(one.completed_at) == "2021-03-01 10:10:00.120000+00:00"


def test_a_time_with_a_zone_is_stored_as_utc(rivers, take):
    take(row("ada", begun="2026-11-20 11:00:00+01"))
    assert str(PanelStatus.objects.get().started_at) == "2026-11-20 10:00:00+00:00"


@pytest.mark.parametrize("cell", ["CONSENT_REVOKED", "DATA_EXPIRED"])
def test_what_the_panel_no_longer_tells_is_empty(rivers, take, cell):
    take(row("ada", taken=cell, code=cell, begun=cell, ended=cell))
    one = PanelStatus.objects.get()
    assert (one.seconds, one.code, one.started_at, one.completed_at) == (None, "", None, None)
    with pytest.raises(CommandError, match=f"'{cell}' is no status"):
        take(row("ben", cell))


@pytest.mark.parametrize("cell", ["CONSENT_REVOKED", "Consent revoked", "data_expired"])
def test_an_id_that_the_panel_no_longer_tells_is_none(rivers, take, cell):
    for name in ("dee", "fay"):
        world.submission(rivers, name)
    take(row("dee", session="s-dee"))
    said = take(
        *(row("ada", session=cell), row("ben", session=cell, begun=cell)),
        *(row("dee", session=cell), row("fay", session=cell)),
    )
    assert in_file(n_new=3, n_unchanged=1) in said
    known = PanelStatus.objects.values_list("submission__worker__external_id", "session_id")
    # Of Dee the id was known before.
    assert set(known) == {("dee", "s-dee"), ("ada", ""), ("ben", ""), ("fay", "")}
    people = {one.name: one.submission for one in load_submissions_with_decisions(rivers)}
    assert people["ada"] == "s-ada"
    assert (people["dee"], people["fay"]) == ("s-dee", "")


def test_an_id_that_was_withheld_and_is_told_later_is_kept(rivers, take):
    world.submission(rivers, "dee")
    take(row("dee", session="DATA_EXPIRED"))
    assert in_file(n_new=1) in take(row("dee", session="s-dee"))
    assert in_file(n_unchanged=1) in take(row("dee", session="DATA_EXPIRED"))


@pytest.mark.parametrize("cell", ["CONSENT_REVOKED", "consent revoked", "Data Expired"])
def test_a_row_that_names_nobody_any_more_is_counted_with_who_did_not_take_part(rivers, take, cell):
    said = take(
        row("ada"), row(cell, session="s1"), row(cell, session=cell), row(cell, "RETURNED", cell)
    )
    assert in_file(n_new=1, n_strangers=3) in said
    strangers = {"AWAITING REVIEW": 2, "RETURNED": 1}
    assert REPORTS.text("did_not_take_part", counts=strangers) in said
    assert in_file(n_strangers=1) in take(row(cell, session=cell))
    assert not PanelStatus.objects.filter(session_id=cell).exists()


def test_the_file_may_stand_behind_an_option(rivers, tmp_path, capsys):
    path = tmp_path / "export.csv"
    path.write_text(HEADER + row("ada"))
    command = load_command_class("annotations", "import_statuses")
    # As from a terminal, but for the end, where all connections to the database are closed.
    parser = command.create_parser("manage.py", "import_statuses")
    command.execute(**vars(parser.parse_args(["rivers", "--owner", "rana", str(path)])))
    assert in_file(n_new=1) in capsys.readouterr().out
    assert PanelStatus.objects.count() == 1


def test_a_file_and_the_panel_s_interface_are_not_both_asked(rivers, take):
    said = take.refused(row("ada"), from_prolific=True)
    assert "FILE" in said
    assert "--from-prolific" in said


@pytest.mark.parametrize("panels", [("Prolific", "SONA"), ("SONA", "Prolific")])
def test_an_id_of_two_panels_is_prolific_s(rivers, take, panels):
    for panel in panels:
        world.submission(rivers, "dee", panel=panel)
    take(row("dee", session="s-dee"))
    assert PanelStatus.objects.get().submission.worker.panel == "Prolific"


def test_a_dry_run_and_a_file_of_another_encoding(rivers, take):
    assert REPORTS.text("dry_run") in take(row("ada"), dry_run=True)
    assert not PanelStatus.objects.exists()
    take(row("ada"), as_="utf-8-sig")
    take(row("ben"), as_="utf-16")
    assert PanelStatus.objects.count() == 2


def test_a_bad_row_is_told_with_its_line_and_nothing_is_kept(rivers, take):
    rows = [row("ada"), row("ben", session="s-ada")]
    where = {"line": 3, "column": SUBMISSION, "value": "s-ada", "first_line": 2}
    take.refused_for("submission_twice", *rows, **where)
    assert not PanelStatus.objects.exists()


def test_an_export_of_another_study_is_refused(rivers, take):
    take.refused_for("participants_unknown", row("eve"), row("zoe"), line=2, column=PARTICIPANT)
    # Ada took part in both studies: her session gives it away.
    take.refused_for(
        "session_of_other_study", row("ada", session="x-ada"), row("ben"),
        line=2, column=SUBMISSION, worker="ada", session="x-ada",
    )  # fmt: skip
    name = f"prolific_export_{OTHER}.csv"
    named = {"line": None, "study": OTHER, "known": STUDY}
    take.refused_for("study_named_otherwise", row("ada"), name=name, **named)
    # 2 of 3 who say to be done are unknown: more than half.
    take.refused_for(
        "participants_mostly_unknown", row("ada"), row("eve"), row("zoe", "APPROVED"),
        line=3, column=PARTICIPANT, n=2, n_done=3, first="eve",
    )  # fmt: skip
    header = HEADER.replace("Archived at", "Study id")
    cells = row("ada").split(",")
    bad = ",".join([*cells[:7], OTHER, *cells[8:]])
    where = {"line": 2, "column": "Study id", "study": OTHER}
    take.refused_for("study_unknown", bad, header=header, **where)


@pytest.mark.parametrize("written", [str.upper, str.lower, str.title])
def test_headings_may_stand_in_capitals_or_without(rivers, take, written):
    said = take(row("ada"), header=written(HEADER))
    assert in_file(n_new=1) in said
    assert PanelStatus.objects.get().code == "DONE1"


@pytest.mark.parametrize("empty", ["," * 19, ",,,,", " , "])
def test_rows_that_a_spreadsheet_left_empty_are_read_over(rivers, take, empty):
    said = take(f"{empty}\n", row("ada"), f"{empty}\n", row("ben"), f"{empty}\n")
    assert in_file(n_new=2) in said
    with pytest.raises(CommandError, match="line 4, column Status"):
        take(f"{empty}\n", row("ada"), row("ben", "PAID"))


def test_people_who_never_began_here_are_counted_and_not_kept(rivers, take):
    said = take(
        row("ada"), row("eve", "RETURNED"), row("zoe", "TIMED-OUT"), row("yan"),
        name=f"prolific_export_{STUDY}.csv",
    )  # fmt: skip
    assert in_file(n_new=1, n_strangers=3) in said
    strangers = {"AWAITING REVIEW": 1, "RETURNED": 1, "TIMED-OUT": 1}
    assert REPORTS.text("did_not_take_part", counts=strangers) in said


def test_who_returned_in_a_session_that_was_never_opened_here_is_kept(rivers, take):
    take(row("ada", "RETURNED", session="never opened"), row("ben"))
    assert count_statuses(rivers) == {"RETURNED": 1, "AWAITING REVIEW": 1}


def other_wave(who):
    return row(who, session=f"t-{who}")


def test_another_study_of_the_same_people_is_told_by_their_submissions(rivers, take):
    PanelSession.objects.all().delete()  # as of people who came in a file without sessions
    take(row("ada"), row("ben", "RETURNED"))
    # Ben gave the first one back, and may have come again.
    take.refused_for(
        "submission_of_other_study", other_wave("ada"), other_wave("ben"),
        line=2, column=SUBMISSION, worker="ada", before="s-ada", now="t-ada",
    )  # fmt: skip
    assert PanelStatus.objects.count() == 2
    take(other_wave("ada"), other_wave("ben"), instead=True)
    assert PanelStatus.objects.latest("pk").session_id == "t-ben"
    once_more = {"line": 2, "worker": "ada", "before": "t-ada", "now": "s-ada"}
    take.refused_for("submission_of_other_study", row("ada", "APPROVED"), **once_more)


def test_an_id_that_was_withheld_is_not_taken_from_another_study(rivers, take):
    PanelSession.objects.all().delete()
    take(row("ada"), row("ben"))
    take(row("ada", session="CONSENT_REVOKED"), other_wave("ben"), instead=True)
    newest = PanelStatus.objects.filter(submission__worker__external_id="ada").latest("pk")
    assert newest.session_id == ""


def test_who_gave_a_submission_back_may_be_done_with_another(rivers, take):
    PanelSession.objects.all().delete()
    for one in (row("ada"), row("ada", "RETURNED"), other_wave("ada")):
        take(one)
    assert PanelStatus.objects.latest("pk").session_id == "t-ada"


def test_people_of_two_studies_may_stand_in_one_file(rivers, take):
    PanelSession.objects.filter(session_id="s-ada").update(study_id=OTHER)
    header = "Submission id,Participant id,Status,Study id\n"
    take(f"s-ada,ada,APPROVED,{OTHER}\n", f"s-ben,ben,APPROVED,{STUDY}\n", header=header)
    assert count_statuses(rivers) == {"APPROVED": 2}


def test_one_export_has_one_study(rivers, take):
    PanelSession.objects.all().delete()
    header = "Submission id,Participant id,Status,Study id\n"
    rows = (f"s-ada,ada,APPROVED,{STUDY}\n", f"s-ben,ben,APPROVED,{OTHER}\n")
    differ = {"line": 3, "column": "Study id", "study": OTHER, "first": STUDY, "first_line": 2}
    take.refused_for("studies_differ", *rows, header=header, **differ)


def otherwise(here, there, name):
    return REPORTS.text("contradicted", here=here, there=there, names=[name], n=1)


def test_what_stands_otherwise_on_the_panel_is_told(rivers, take, tmp_path):
    decisions = tmp_path / "decisions.csv"
    decisions.write_text(
        f"worker,decision,category,reason\nada,approve,,\nben,reject,OTHER,{'x' * 100}\n"
    )
    call_command("decide", "rivers", file=decisions, by="rana", stdout=StringIO())
    said = take(row("ada", "REJECTED"), row("ben", "APPROVED"), row("cy"), dry_run=True)
    ada, ben = otherwise("approved", "rejected", "ada"), otherwise("rejected", "approved", "ben")
    assert REPORTS.text("warning", warning=ben) in said
    assert REPORTS.text("warning", warning=ada) in said
    assert not PanelStatus.objects.exists()
    take(row("ada", "REJECTED"), row("ben", "APPROVED"), row("cy"))
    out = StringIO()
    call_command("decide", "rivers", file=decisions, by="rana", stdout=out)
    assert REPORTS.text("warning", warning=ben) in out.getvalue()
    for form, warning, left in (("approve", ada, 0), ("reject", ben, 1)):
        out = StringIO()
        options = {"format": f"prolific-{form}", "output": tmp_path / form}
        call_command("export_decisions", "rivers", stdout=out, **options)
        assert warning in out.getvalue()
        assert (LISTS.text("settled_on_panel", n=1) in out.getvalue()) is bool(left)


def test_the_lists_leave_out_whom_the_panel_has_settled(rivers, take, tmp_path):
    take(row("ada", "APPROVED"), row("ben"), row("cy", "TIMED-OUT"))
    decisions = tmp_path / "decisions.csv"
    decisions.write_text("worker,decision\nada,approve\nben,approve\ncy,approve\n")
    call_command("decide", "rivers", file=decisions, by="rana", stdout=StringIO())
    out, path = StringIO(), tmp_path / "approve.txt"
    call_command(
        "export_decisions", "rivers", format="prolific-approve", output=path, stdout=out
    )  # fmt: skip
    assert path.read_text() == "s-ben\n"
    assert LISTS.text("settled_on_panel", n=2) in out.getvalue()


@pytest.mark.parametrize(
    ("state", "minutes", "status", "on_the_panel", "seconds"),
    [
        ("submitted", 5, None, None, 300.0),
        ("submitted", 5, "APPROVED", 90.0, 300.0),
        # One time for both measures nothing.
        ("submitted", 0, "APPROVED", 90.0, 90.0),
        ("submitted", -1, "APPROVED", 90.0, 90.0),
        ("submitted", 0, "APPROVED", 0.0, None),
        ("submitted", 0, None, 90.0, None),
        # Only the time of who handed in: others would make them look slow or fast.
        ("timed_out", 5, "APPROVED", 90.0, 90.0),
        ("timed_out", 5, "TIMED-OUT", 90.0, None),
        ("returned", 5, "RETURNED", 90.0, None),
    ],
)
def test_a_time_is_the_servers_or_else_the_panels_and_never_zero(
    state, minutes, status, on_the_panel, seconds
):
    begun = timezone.now()
    ended = begun + timedelta(minutes=minutes)
    assert compute_seconds_taken(state, begun, ended, status, on_the_panel) == seconds
