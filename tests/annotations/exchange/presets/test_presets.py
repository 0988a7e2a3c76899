"""Exports of others as they are downloaded: recognised, mapped and read, with every row counted."""

import csv
import io
import json
import re
from datetime import UTC, datetime

import openpyxl
import pytest
from django.core.management import CommandError, call_command

from annotations.exchange import InputError, read_answers
from annotations.exchange.importing.report import NOTHING_CHANGED
from annotations.exchange.importing.survey_exports import stage_survey_export
from annotations.exchange.presets import (
    PRESETS,
    Mapping,
    open_answer_rows,
    propose_mapping,
    read_head,
    recognise_preset,
)
from annotations.exchange.presets.declared import PANEL_STATUSES, TRIED
from annotations.exchange.presets.refusals import refuse_submission_list
from annotations.exchange.presets.stray_rows import NO_WORKER
from annotations.exchange.reading.duplicates import Duplicates
from annotations.exchange.reading.source import make_bytes_source
from annotations.models import Question, QuestionSet, Response, Submission, Worker
from tests.annotations import world
from tests.annotations.exchange.presets import exports
from tests.annotations.exchange.reading.mturk_export import batch_text
from tests.problems import check_problem, raises_problem

MTURK = batch_text(
    [
        (hit, who, {"Input.word": hit, "Answer.word": hit, "Answer.text": f"{who} says {hit}"})
        for hit in ("H1", "H2")
        for who in ("ann", "bob")
    ]
).encode()

FILES = {
    "mturk": ("batch.csv", MTURK),
    "qualtrics": ("survey.csv", exports.qualtrics()),
    "qualtrics tsv": ("survey.tsv", exports.qualtrics_tsv()),
    "prolific": ("form.csv", exports.survey_of_prolific()),
    "label-studio": ("project.json", exports.label_studio()),
    "label-studio csv": ("project.csv", exports.label_studio_csv()),
    "potato": ("annotated_instances.tsv", exports.potato_tsv()),
    "potato lines": ("annotated_instances.jsonl", exports.potato_lines()),
    "wide": ("form.csv", exports.WIDE),
    "long": ("table.csv", exports.LONG),
}
MAPPINGS = {
    "mturk": Mapping("WorkerId", "HITId", ("Answer.text",)),
    "qualtrics": Mapping("PROLIFIC_PID", "", ("Q2", "Q3")),
    "prolific": Mapping("PROLIFIC_PID", "", ("Why do tides rise?", "What makes the sea salty?")),
    "label-studio": Mapping("annotator", "id", ("answer",), "question"),
    "potato": Mapping("user", "instance_id", ("explanation:::text_box",), "displayed_text"),
    "potato lines": Mapping(
        "user_id", "instance_id", ("explanation:::text_box",), "displayed_text"
    ),
    "wide": Mapping("Name", "", ("Why do tides rise?", "What makes the sea salty?")),
    "long": Mapping("Participant ID", "Item", ("Response",)),
}


DATES = ("StartDate", "EndDate", "RecordedDate")


def source_of(name):
    return make_bytes_source(*FILES[name])


def read(name, *, mapping=None, source=None, duplicates="refuse"):
    source = source or source_of(name)
    head = read_head(source)
    preset = recognise_preset(head)
    rows = open_answer_rows(
        source, preset, mapping or propose_mapping(preset, head, source), Duplicates(duplicates)
    )
    records = [record for record, _ in rows]
    rows.raise_problems()
    return rows, records


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_recognised_and_its_columns_are_found(name):
    source = source_of(name)
    head = read_head(source)
    preset = recognise_preset(head)
    assert preset.slug == name.split()[0]
    assert propose_mapping(preset, head, source) == MAPPINGS.get(name, MAPPINGS[preset.slug])


@pytest.mark.parametrize("name", ["qualtrics", "qualtrics tsv"])
def test_of_qualtrics_the_header_rows_are_no_answers_and_previews_are_counted(name):
    rows, records = read(name)
    # Four people, two questions; the preview of the author is a fifth row.
    assert (len(records), rows.n_rows, dict(rows.skipped)) == (8, 8, {TRIED: 1})
    assert {record.worker for record in records} == set(exports.PEOPLE)
    assert rows.questions["Q2"].text == exports.TIDES
    facts = records[0].facts
    # 10:00 in Denver, seven hours behind UTC in early March.
    assert facts.started_at == datetime(2024, 3, 1, 17, 0, tzinfo=UTC)
    assert facts.work_seconds == 270
    assert facts.extra["Q1"] == "Yes, I consent"
    assert "IPAddress" not in facts.extra
    assert "IPAddress" in rows.left_out
    assert f"Left out: 1 {TRIED}" in rows.notes


def test_a_duration_that_is_none_stays_beside_the_answer():
    content = exports.qualtrics(**{"Duration (in seconds)": "long", "Q1": "yes"})
    _, records = read("qualtrics", source=make_bytes_source("survey.csv", content))
    assert {record.facts.work_seconds for record in records} == {None}
    assert records[0].facts.extra["Duration (in seconds)"] == "long"


def test_of_prolific_the_status_tells_who_was_rejected_and_who_returned():
    rows, records = read("prolific")
    assert [(r.worker, r.is_rejected) for r in records[::2]] == [
        ("5f8a", False), ("60b1", True), ("62d9", False)
    ]  # fmt: skip
    assert dict(rows.skipped) == {PANEL_STATUSES["returned"]: 1, NO_WORKER: 1}


def test_the_list_of_submissions_of_prolific_holds_no_answers():
    head = read_head(make_bytes_source("prolific_export_671b.csv", exports.SUBMISSIONS))
    with raises_problem("list_of_submissions"):
        refuse_submission_list(head)


@pytest.mark.parametrize("name", ["label-studio", "label-studio csv"])
def test_of_label_studio_texts_and_questions_come_out_of_their_json(name):
    rows, records = read(name)
    said = {(record.worker, record.question): record.text for record in records}
    assert said["7", "101"] == "The moon pulls the water"
    assert rows.questions["101"].text == "Why do tides rise?"
    assert records[0].facts.work_seconds == 12.5
    if name == "label-studio":
        assert said["eve@example.org", "101"] == "Because it turns around"
        assert dict(rows.skipped) == {"skipped annotations": 1}
        assert records[0].facts.extra["confidence"] == "sure"
    else:
        assert said["8", "101"] == "Because it turns\nand the moon pulls"


def test_of_potato_the_text_boxes_are_the_answers():
    rows, records = read("potato")
    assert [(r.worker, r.question, r.text) for r in records] == [
        ("eve@example.org", "5", "The moon pulls the water"),
        ("kim@example.org", "5", "It turns around"),
        ("eve@example.org", "6", "A white stone we eat"),
    ]
    assert records[0].facts.extra == {"sure:::yes": "true"}
    assert rows.questions["6"].text == "What is salt?"
    _, lines = read("potato lines")
    assert [(r.worker, r.question, r.text) for r in lines] == [
        ("eve@example.org", "5", "The moon pulls the water"),
        ("kim@example.org", "5", "It turns"),
    ]


def test_a_wide_spreadsheet_has_a_question_in_each_column():
    rows, records = read("wide")
    assert [record.text for record in records] == [
        *("The moon pulls the water", "Rivers wash salt into it"),
        *("Wind; and the moon", "Fish do, I believe so"),
        *("Because the earth turns", ""),
    ]
    assert rows.n_rows == 3 * 2
    assert rows.questions["Why do tides rise?"].text == "Why do tides rise?"
    assert records[-1].facts.extra == {"Group": "A", "Anything else?": "nice survey"}


def test_a_question_over_several_lines_is_one_line_and_who_asks_for_an_id_gets_the_worker(tmp_path):
    book = openpyxl.Workbook()
    for row in (
        [
            "Timestamp",
            "What is your Prolific ID?",
            "Why do tides rise?\nIn your own words",
            "Salt?",
        ],
        ["2024/03/01 10:00", "5f8a", "The moon pulls the water", "Rivers wash it in"],
        ["2024/03/01 10:05", "60b1", "The wind has its part in it", None],
    ):
        book.active.append(row)
    book.save(tmp_path / "form.xlsx")
    head = read_head(tmp_path / "form.xlsx")
    preset = recognise_preset(head)
    mapping = propose_mapping(preset, head, tmp_path / "form.xlsx")
    assert (preset.slug, preset.panel(mapping)) == ("google-forms", "Prolific")
    asked = "Why do tides rise? In your own words"
    assert mapping == Mapping("What is your Prolific ID?", "", (asked, "Salt?"))
    rows = open_answer_rows(tmp_path / "form.xlsx", preset, mapping)
    assert [(r.worker, r.question, r.text) for r, _ in rows] == [
        ("5f8a", asked, "The moon pulls the water"), ("5f8a", "Salt?", "Rivers wash it in"),
        ("60b1", asked, "The wind has its part in it"), ("60b1", "Salt?", ""),
    ]  # fmt: skip
    assert rows.questions[asked].text == asked


def test_two_columns_of_one_name_are_told_before_anything_is_read():
    content = b"worker id,Q,Q\na,the moon pulls it,salt of rivers is it\nb,it turns,fish do\n"
    with raises_problem("mapped_column_ambiguous", name="Q"):
        read("wide", source=make_bytes_source("form.csv", content))


def test_another_mapping_is_read_as_it_says():
    mapping = Mapping("Participant ID", "Item", ("Response", "Condition"))
    _, records = read("long", mapping=mapping)
    assert [(r.question, r.text) for r in records[:2]] == [
        ("tides:Response", "The moon pulls the water"),
        ("tides:Condition", "a"),
    ]


@pytest.mark.parametrize(
    ("entries", "mapping"),
    [
        (["answer=Q*"], Mapping("PROLIFIC_PID", "", ("Q1", "Q2", "Q3"))),
        (["answer=Q3", "answer=Q1"], Mapping("PROLIFIC_PID", "", ("Q1", "Q3"))),
        (["worker=ResponseId"], Mapping("ResponseId", "", ("Q2", "Q3"))),
        (["extra=Q2"], Mapping("PROLIFIC_PID", "", ("Q3",), extra=("Q2",))),
        (["answer=Q*", "ignore=Q3"], Mapping("PROLIFIC_PID", "", ("Q1", "Q2"), ignored=("Q3",))),
        (["time=*Date"], Mapping("PROLIFIC_PID", "", ("Q2", "Q3"), times=DATES)),
        (["time="], Mapping("PROLIFIC_PID", "", ("Q2", "Q3"), times=())),
    ],
)
def test_entries_change_what_is_proposed(entries, mapping):
    head = read_head(source_of("qualtrics"))
    assert MAPPINGS["qualtrics"].replace_roles(entries, head.header, "survey.csv") == mapping


def test_a_time_is_a_start_an_end_or_a_duration_by_its_name_and_its_cells():
    header = ["id", "first seen", "left", "took", "Why do tides rise?"]
    begun, ended = "2026-03-04T09:00:00Z", "2026-03-04T09:03:00Z"
    rows = [[f"w{n}", begun, ended, f"{n}0", f"The moon pulls it, {n}"] for n in (1, 2, 3)]
    text = io.StringIO()
    csv.writer(text).writerows([header, *rows])
    source = make_bytes_source("table.csv", text.getvalue().encode())
    head = read_head(source)
    mapping = propose_mapping(recognise_preset(head), head, source)
    _, records = read("wide", mapping=mapping, source=source)
    assert {(one.facts.started_at, one.facts.work_seconds) for one in records} == {(None, None)}
    chosen = mapping.replace_roles(
        ["time=took", "time=first seen", "time=left"], header, "table.csv"
    )
    assert Mapping.from_dict(chosen.as_dict()) == chosen
    _, records = read("wide", mapping=chosen, source=source)
    nine = datetime(2026, 3, 4, 9, tzinfo=UTC)
    assert {(one.facts.started_at, one.facts.submitted_at.minute) for one in records} == {(nine, 3)}
    assert [one.facts.work_seconds for one in records] == [10, 20, 30]
    # Without the duration it is the time between start and end: 3 minutes.
    two = mapping.replace_roles(["time=left", "time=first seen"], header, "table.csv")
    _, records = read("wide", mapping=two, source=source)
    assert {one.facts.work_seconds for one in records} == {180}


def test_extra_information_is_stored_and_an_ignored_column_is_not():
    content = b"ID,Email,Group,Why do tides rise?\n" + b"".join(
        b"w%d,a%d@example.org,g%d,The moon pulls at %d seas\n" % (n, n, n, n) for n in range(3)
    )
    source = make_bytes_source("table.csv", content)
    head = read_head(source)
    mapping = propose_mapping(recognise_preset(head), head, source)
    rows, records = read("wide", mapping=mapping, source=source)
    assert (records[0].facts.extra, rows.left_out) == ({"Group": "g0"}, ["Email"])
    chosen = mapping.replace_roles(["extra=Email", "ignore=Group"], head.header, "table.csv")
    rows, records = read("wide", mapping=chosen, source=source)
    assert (records[0].facts.extra, rows.left_out) == ({"Email": "a0@example.org"}, [])
    assert "Columns ignored: Group" in rows.notes


def test_an_ignored_column_of_our_own_form_is_not_stored():
    content = b"worker,question,answer,note\na,1,The moon,secret\n"
    source = make_bytes_source("answers.csv", content)
    head = read_head(source)
    mapping = propose_mapping(recognise_preset(head), head, source)
    assert read("own", mapping=mapping, source=source)[1][0].extra == ("secret",)
    chosen = mapping.replace_roles(["ignore=note"], head.header, "answers.csv")
    assert read("own", mapping=chosen, source=source)[1][0].extra == ("",)


def test_entries_that_will_not_do_are_told():
    mapping, header = MAPPINGS["long"], read_head(source_of("long")).header
    with raises_problem("mapped_column_missing", name="Q2", found=", ".join(header)):
        mapping.replace_roles(["answer=Q2"], header, "table.csv")
    with pytest.raises(ValueError, match="'person=x'"):
        mapping.replace_roles(["person=x"], header, "table.csv")
    for entry, code, values in (
        ("worker=", "mapped_column_unnamed", {"what": "worker"}),
        ("worker=Nobody", "mapped_column_missing", {"name": "Nobody"}),
        ("worker=Response", "mapped_column_twice", {}),
    ):
        with raises_problem(code, file="table.csv", **values):
            read("long", mapping=mapping.replace_roles([entry], header, "table.csv"))


def test_a_row_without_a_worker_but_with_an_answer_is_told_with_its_line():
    content = exports.WIDE.replace(b"Bob;B", b";B")
    with raises_problem("id_missing", file="form.csv", line=3, column="Name", name="worker"):
        read("wide", source=make_bytes_source("form.csv", content), mapping=MAPPINGS["wide"])


def staged(content, duplicates):
    source = make_bytes_source("form.csv", content)
    how = {"preset": PRESETS["wide"], "mapping": MAPPINGS["wide"]}
    return stage_survey_export(source, duplicates=Duplicates(duplicates), **how)


def test_a_worker_who_stands_in_two_rows_is_refused_unless_one_counts():
    content = exports.WIDE.replace(b"Cyd;", b"Ann;")
    with pytest.raises(InputError) as caught:
        staged(content, "refuse")
    [problem] = caught.value.problems
    expected = {"name": "Ann", "first_line": 2, "n": 2, "choosable": True}
    check_problem(problem, "attempts_differ", **expected)
    with staged(content, "last") as stage:
        # The text in the last row takes the place of that in the first, its empty answer of none.
        assert (stage.n_superseded, stage.count_answers()) == (2, 4)
        texts = [a.text for a in stage.iterate_new_answers()]
        assert texts[0] == "Rivers wash salt into it"
        assert texts[2:] == ["Fish do, I believe so", "Because the earth turns"]


def test_further_columns_of_our_own_form_are_converted_too(tmp_path):
    path, output = tmp_path / "a.csv", tmp_path / "answers.csv"
    path.write_text("worker,question,answer,mood\na,1,The moon,fine\nb,1,The wind,\n", "utf-8")
    call_command("convert_answers", path, "--output", str(output))
    with output.open(encoding="utf-8-sig", newline="") as file:
        extra = {row["worker"]: row["extra"] for row in csv.DictReader(file)}
    assert json.loads(extra["a"]) == {"mood": "fine"}


def test_what_is_no_export_at_all_says_so():
    for name, content, code, values in (
        ("a.json", b"[1, 2]", "not_object_list", {}),
        ("a.json", b"{ ", "json_ends", {}),
        ("a.csv", b"", "file_empty", {}),
        ("a.docx", b"PK", "ending_unknown", {"ending": ".docx"}),
    ):
        with raises_problem(code, file=name, **values):
            read_head(make_bytes_source(name, content))


class TestConverting:
    @pytest.fixture
    def say(self, tmp_path, capsys):
        def convert(name, *arguments):
            (tmp_path / FILES[name][0]).write_bytes(FILES[name][1])
            output = tmp_path / "answers.csv"
            path = str(tmp_path / FILES[name][0])
            call_command("convert_answers", path, "--output", str(output), *arguments)
            return output, capsys.readouterr().out

        return convert

    @pytest.mark.parametrize("name", FILES)
    def test_our_table_holds_what_the_file_says(self, say, name):
        output, _ = say(name)
        rows, records = read(name)
        ours = read_answers(output)
        assert [(r.worker, r.question, r.text, r.is_rejected) for r in ours.records] == [
            (r.worker, r.question, r.text, r.is_rejected) for r in records
        ]
        assert [r.facts.started_at for r in ours.records] == [r.facts.started_at for r in records]
        assert rows.n_rows == ours.n_rows

    def test_the_command_says_how_it_read_and_what_became_of_the_rows(self, say, tmp_path):
        _, told = say("qualtrics", "--questions", str(tmp_path / "questions.csv"))
        assert "Read as Qualtrics" in told
        assert "worker = PROLIFIC_PID; answer = Q2, Q3" in told
        (counts,) = (line for line in told.splitlines() if " = 8 written" in line)
        # Answers, those that were written, workers and questions.
        assert re.findall(r"\d+", counts) == ["8", "8", "4", "2"]
        assert f"Left out: 1 {TRIED}" in told
        with (tmp_path / "questions.csv").open(encoding="utf-8-sig", newline="") as file:
            assert [(row["question"], row["text"]) for row in csv.DictReader(file)] == [
                ("Q2", exports.TIDES),
                ("Q3", "What makes the sea salty?"),
            ]

    def test_the_command_shows_each_question_with_its_wording_and_three_answers(self, say):
        _, printed = say("qualtrics", "--map", "ignore=Q1", "--map", "time=EndDate")
        [tides] = [line for line in printed.splitlines() if line.startswith("Question Q2")]
        assert exports.TIDES in tides
        assert [who for who in exports.PEOPLE if f"{who}: “" in tides] == list(exports.PEOPLE[:3])
        assert sum(line.startswith("Question ") for line in printed.splitlines()) == 2
        assert "time = EndDate" in printed
        assert "Columns ignored: Q1" in printed

    def test_roles_that_mechanical_turk_fixes_are_refused(self, say):
        for entry in ("time=AcceptTime", "ignore=Input.word", "extra=Input.word"):
            with pytest.raises(CommandError) as caught:
                say("mturk", "--map", entry)
            assert caught.value.returncode == 2

    def test_a_choice_of_columns_and_of_the_preset_is_followed(self, say):
        output, told = say("wide", "--preset", "wide", "--map", "answer=Any*")
        assert "answer = Anything else?" in told
        assert [r.text for r in read_answers(output).records] == ["", "", "nice survey"]


@pytest.mark.django_db
class TestImporting:
    @pytest.fixture
    def lakes(self):
        return QuestionSet.objects.create(owner=world.user("rana"), name="lakes")

    @pytest.mark.parametrize("name", FILES)
    def test_every_answer_of_the_file_comes_in_with_its_question(
        self, lakes, tmp_path, capsys, name
    ):
        path = tmp_path / FILES[name][0]
        path.write_bytes(FILES[name][1])
        call_command("import_answers", "lakes", str(path), "--preset", "auto")
        rows, records = read(name)
        stored = Response.objects.order_by("pk").values_list(
            "submission__worker__external_id", "question__external_id", "text", "rejected"
        )
        assert list(stored) == [(r.worker, r.question, r.text, r.is_rejected) for r in records]
        texts = dict(Question.objects.values_list("external_id", "text"))
        assert texts == {name: asked.text for name, asked in rows.questions.items()}
        assert "Read as" in capsys.readouterr().out
        call_command("import_answers", "lakes", str(path), "--preset", "auto")
        assert NOTHING_CHANGED in capsys.readouterr().out

    def test_workers_of_prolific_are_of_that_panel(self, lakes, tmp_path):
        path = tmp_path / "survey.csv"
        path.write_bytes(exports.qualtrics())
        call_command("import_answers", "lakes", str(path), "--preset", "qualtrics")
        assert set(Worker.objects.values_list("panel", flat=True)) == {"Prolific"}
        assert Submission.objects.first().started_at == datetime(2024, 3, 1, 17, 0, tzinfo=UTC)

    def test_a_preset_and_columns_contradict_each_other(self, lakes, tmp_path):
        path = tmp_path / "table.csv"
        path.write_bytes(exports.LONG)
        with pytest.raises(CommandError, match="--map") as caught:
            call_command(
                "import_answers", "lakes", str(path), "--preset=long", "--columns=worker=Item"
            )
        assert caught.value.returncode == 2
        assert not Response.objects.exists()
