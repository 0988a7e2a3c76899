"""Prolific's demographic export, read and joined to the answers of a file by worker id."""

import csv
import json

import pytest
from django.core.management import CommandError, call_command

from annotations.exchange.presets import read_head
from annotations.exchange.presets.demographics import (
    DemographicMapping,
    is_demographic_export,
    propose_demographic_mapping,
    read_demographics,
)
from annotations.exchange.problems import InputError
from annotations.exchange.reading.source import make_bytes_source
from tests.annotations.exchange.presets.test_survey_tools import table

ANA, BEN, CAI, DAN, EVE = (f"5f1e{at:020}" for at in range(5))
ANSWERS = (
    ("It rains when clouds are full of water", "Because it holds sodium chloride"),
    ("When warm air cools down very quickly", "Because the ions meet our own tongue"),
    ("In the autumn of every single year", "Because of the taste of the sea"),
    ("When the wind comes from the west", "Because salt is what it is"),
)
HEADER = (
    *("Submission id", "Participant id", "Status", "Completed at", "Time taken"),
    *("Completion code", "Total approvals", "Age", "Sex"),
)


def survey():
    """The answers of Ana, Ben, Cai and Dan to two questions."""
    people = zip((ANA, BEN, CAI, DAN), ANSWERS, strict=True)
    return table(["PROLIFIC_PID", "rain", "salt"], *[[who, *texts] for who, texts in people])


def export(ben="APPROVED", cai="APPROVED"):
    """The export of Ana, Ben, Cai and Eve, and of a participant whom Prolific deleted."""
    at = "2024-03-01T09:10:00.000000Z"
    return table(
        HEADER,
        ["65aa0", ANA, "APPROVED", at, 600, "C1", 120, 31, "Female"],
        ["65aa1", BEN, ben, at, 600, "C1", 12, "DATA_EXPIRED", "Male"],
        ["65aa2", CAI, cai, "", "", "", 7, "CONSENT_REVOKED", "CONSENT_REVOKED"],
        ["65aa3", EVE, "APPROVED", at, 600, "C1", 3, 50, "Female"],
        ["CONSENT_REVOKED", "CONSENT_REVOKED", "APPROVED", at, 600, "C1", 3, 50, "Female"],
    )


def read(content, name="demographics.csv", **roles):
    source = make_bytes_source(name, content)
    mapping = propose_demographic_mapping(read_head(source))
    entries = [f"{role}={column}" for role, column in roles.items()]
    header = read_head(source).header
    return read_demographics(source, mapping.replace_roles(entries, header, name))


def codes(content, **roles):
    with pytest.raises(InputError) as error:
        read(content, **roles)
    return [(one.code, one.line) for one in error.value.problems]


def test_roles_are_proposed_and_deleted_cells_are_missing():
    file = read(export())
    assert file.mapping == DemographicMapping(
        "Participant id",
        "Status",
        ("Submission id", "Completed at", "Time taken", "Total approvals", "Age", "Sex"),
    )
    assert file.ignored == ("Completion code",)
    assert list(file.rows) == [ANA, BEN, CAI, EVE]
    assert "Age" not in file.rows[BEN].cells
    assert file.rows[CAI].cells == {"Submission id": "65aa2", "Total approvals": "7"}
    # One participant deleted; Ben's age, Cai's age and Cai's sex.
    assert (file.n_deleted, file.n_withheld) == (1, 3)


OLD = (
    *("session_id", "participant_id", "status", "started_datetime", "completed_date_time"),
    *("time_taken", "age", "num_approvals", "num_rejections", "prolific_score"),
    *("reviewed_at_datetime", "entered_code", "Sex"),
)


def old(*people):
    return table(OLD, *[[f"s{at}", who, *more] for at, (who, *more) in enumerate(people)])


def test_the_older_form_is_recognised():
    at = "2019-05-01 10:00:00.000000"
    rest = [at, at, 301.5, 44, 10, 0, 100, at, "CODE", "Male"]
    content = old((ANA, "APPROVED", *rest), (BEN, "Awaiting Review", *rest))
    assert is_demographic_export(read_head(make_bytes_source("prolific_export.csv", content)))
    file = read(content)
    assert (file.mapping.worker, file.mapping.status) == ("participant_id", "status")
    assert {"entered_code", "reviewed_at_datetime"} <= set(file.ignored)
    assert [row.status for row in file.rows.values()] == ["APPROVED", "AWAITING REVIEW"]
    assert file.rows[ANA].cells["age"] == "44"


def test_a_table_of_participants_and_facts_alone_is_one_too():
    facts = table(["participant_id", "Age", "Sex"], [ANA, 31, "Female"], [BEN, 40, "Male"])
    assert is_demographic_export(read_head(make_bytes_source("facts.csv", facts)))
    assert not is_demographic_export(read_head(make_bytes_source("survey.csv", survey())))
    answers = table(
        ["participant_id", "Age", "Sex", "Why does it rain?"],
        *[[who, 30, "Male", texts[0]] for who, texts in zip((ANA, BEN), ANSWERS, strict=False)],
    )
    assert not is_demographic_export(read_head(make_bytes_source("survey.csv", answers)))


def test_rows_of_a_participant_that_differ_are_refused_unless_the_column_is_ignored():
    people = [[ANA, 31, "Female"], [BEN, 40, "Male"], [ANA, 31, "Male"]]
    content = table(["Participant id", "Age", "Sex"], *people)
    assert codes(content) == [("demographics_differ", 4)]
    assert read(content, ignore="Sex").rows[ANA].cells == {"Age": "31"}
    again = table(["Participant id", "Age", "Sex"], *people[:2], people[0])
    assert list(read(again).rows) == [ANA, BEN]


def test_bad_rows_are_named():
    header = ["Participant id", "Status", "Age", "Sex"]
    rows = [[ANA, "APPROVED", 31, "F"], ["", "APPROVED", 40, "M"], [BEN, "APPROVD", 40, "M"]]
    content = table(header, *rows)
    # With an unknown status the column is no status column, until it is named one.
    assert codes(content) == [("submission_id_missing", 3)]
    named = codes(content, status="Status")
    assert named == [("submission_id_missing", 3), ("panel_status_unknown", 4)]
    assert codes(content, worker="") == [("participants_unnamed", None)]
    twice = table(["Participant id", "Age", "Sex", "Age"], [ANA, 31, "F", 32])
    with pytest.raises(InputError):
        read(twice)


@pytest.fixture
def convert(tmp_path, capsys):
    """Convert the survey with an export; the cells of the output by worker and question."""

    def run(content, *options, answers=None, is_refused=False):
        for name, text in (("survey.csv", answers or survey()), ("facts.csv", content)):
            (tmp_path / name).write_bytes(text)
        output = tmp_path / "answers.csv"
        output.unlink(missing_ok=True)
        arguments = ["convert_answers", str(tmp_path / "survey.csv"), "--output", str(output)]
        arguments += ["--demographics", str(tmp_path / "facts.csv"), *options]
        if is_refused:
            with pytest.raises(CommandError) as caught:
                call_command(*arguments)
            assert (caught.value.returncode, output.exists()) == (2, False)
            return [problem.code for problem in caught.value.__cause__.problems]
        call_command(*arguments)
        rows = csv.DictReader(output.read_text("utf-8-sig").splitlines())
        return {(row["worker"], row["question"]): row for row in rows}, capsys.readouterr().out

    return run


def extra(row):
    return json.loads(row["extra"] or "{}")


def test_the_command_joins_by_worker_and_prints_who_matches(convert):
    rows, out = convert(
        export(), "--map-demographics", "ignore=*at", "--map-demographics=ignore=T*"
    )
    assert len(rows) == 8
    assert extra(rows[ANA, "rain"]) == {"Submission id": "65aa0", "Age": "31", "Sex": "Female"}
    assert extra(rows[CAI, "salt"]) == {"Submission id": "65aa2"}
    assert extra(rows[DAN, "rain"]) == {}
    counts = "facts.csv: 4; with answers: 3; only in the file: 1; workers only in the answers: 1"
    assert counts in out
    assert EVE in out


def test_the_command_asks_about_statuses(convert):
    content = export(ben="REJECTED", cai="RETURNED")
    assert convert(content, is_refused=True) == ["panel_statuses_undecided"]
    rows, _ = convert(content, "--panel-statuses", "apply")
    assert {worker for worker, _ in rows} == {ANA, BEN, DAN}
    assert {worker for (worker, _), row in rows.items() if row["rejected"] == "yes"} == {BEN}
    rows, _ = convert(content, "--panel-statuses", "keep")
    assert len(rows) == 8
    assert not any(row["rejected"] for row in rows.values())


def test_the_command_refuses_files_that_do_not_fit(convert):
    stranger = table(["Participant id", "Age", "Sex"], ["f" * 24, 31, "Female"])
    assert convert(stranger, is_refused=True) == ["participants_unmatched"]
    assert convert(survey(), is_refused=True) == ["demographics_answered"]


def test_a_column_that_the_answers_have_already_is_replaced_and_named(convert):
    answers = table(
        ["PROLIFIC_PID", "rain", "salt", "Age"],
        [ANA, *ANSWERS[0], 30],
        [BEN, *ANSWERS[1], 41],
    )
    rows, out = convert(export(), answers=answers)
    assert extra(rows[ANA, "rain"])["Age"] == "31"
    # Ben's age is deleted at Prolific: what the survey asked stays.
    assert extra(rows[BEN, "rain"])["Age"] == "41"
    assert [line for line in out.splitlines() if "Age" in line and line.endswith(": 1")]


def test_our_own_form_keeps_its_further_columns(convert):
    answers = table(
        ["worker", "question", "answer", "room"],
        *[[ANA, "rain", ANSWERS[0][0], "b"], [BEN, "rain", ANSWERS[1][0], ""]],
    )
    rows, _ = convert(export(), answers=answers)
    assert extra(rows[ANA, "rain"])["room"] == "b"
    assert extra(rows[ANA, "rain"])["Sex"] == "Female"


def test_roles_need_an_export(tmp_path):
    (tmp_path / "survey.csv").write_bytes(survey())
    arguments = [
        "convert_answers",
        str(tmp_path / "survey.csv"),
        "--output",
        str(tmp_path / "a.csv"),
    ]
    with pytest.raises(CommandError) as error:
        call_command(*arguments, "--map-demographics", "extra=Age")
    assert error.value.returncode == 2
    (tmp_path / "facts.csv").write_bytes(export())
    arguments += ["--demographics", str(tmp_path / "facts.csv")]
    with pytest.raises(CommandError) as error:
        call_command(*arguments, "--map-demographics", "age=Age")
    assert error.value.returncode == 2
