"""Importing answers from any file: sent once, its columns said, nothing lost on the way."""

import io
import zipfile
from html import unescape

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from annotations.models import Question, QuestionSet, Response, Upload, Worker
from tests.annotations.exchange.presets import exports
from tests.annotations.exchange.presets.test_arrangement import (
    NOTES,
    TABLE,
    TITLE,
    TURNED,
    text_file,
    workbook,
)
from tests.annotations.exchange.presets.test_attempts import LATER, TWO, row, survey
from tests.annotations.exchange.presets.test_presets import FILES, read
from tests.desk.test_uploads import files


@pytest.fixture
def question_set(rana, client):
    client.force_login(rana)
    return QuestionSet.objects.create(owner=rana, name="rivers")


class Wizard:
    """Somebody who sends a file and says what its columns hold."""

    def __init__(self, client, question_set):
        self.client, self.set = client, question_set

    def send(self, name, content):
        address = reverse("admin:import", args=[self.set.public_id])
        file = SimpleUploadedFile(name, content)
        self.page = self.client.post(address, {"file": file}, follow=True)
        self.upload = Upload.objects.latest("pk")
        return self.text

    @property
    def text(self):
        return unescape(self.page.content.decode())

    def address(self, name):
        return reverse(f"admin:{name}", args=[self.set.public_id, self.upload.public_id])

    def field(self, column, what="role"):
        """The name of the field with the role, or the right answer, of a column of the file."""
        columns = {one.name: one for one in self.page.context["form"].columns}
        return f"{what}-{columns[column].number}"

    @property
    def roles(self):
        """The roles that the page shows, by column, without extra information."""
        columns = self.page.context["form"].columns
        roles = {one.name: str(one.role.value()) for one in columns}
        return {name: role for name, role in roles.items() if role != "extra"}

    @property
    def shown(self):
        """(worker, question, text) of the example answers on the page."""
        questions = self.page.context["preview"].questions
        return {(r.worker, one.name, r.text) for one in questions for r in one.answers}

    def say(self, action="show", roles=None, **changes):
        """Send the form as it stands, with changes and other roles, as a browser does."""
        form = self.page.context["form"]
        changes |= {self.field(name): role for name, role in (roles or {}).items()}
        data = {name: form[name].value() for name in form.fields}
        data = {name: value for name, value in data.items() if value not in (None, False)}
        sent = {**data, action: "yes", **changes}
        self.page = self.client.post(self.address("import-columns"), sent, follow=True)
        self.upload.refresh_from_db()
        return self.text

    @property
    def errors(self):
        """The codes of the form's errors, by field."""
        found = self.page.context["form"].errors.as_data()
        return {field: [error.code for error in errors] for field, errors in found.items()}

    def confirm(self):
        self.page = self.client.post(self.address("upload-confirm"), follow=True)
        self.upload.refresh_from_db()
        return self.text


@pytest.fixture
def wizard(client, question_set):
    return Wizard(client, question_set)


@pytest.mark.medium
@pytest.mark.parametrize("name", FILES)
def test_every_known_file_comes_in_by_three_clicks(wizard, name):
    wizard.send(*FILES[name])
    rows, records = read(name)
    assert (wizard.upload.state, wizard.page.status_code) == ("mapping", 200)
    stored = {(r.worker, r.question, r.text) for r in records}
    assert wizard.shown <= stored
    assert {name for _, name, _ in wizard.shown} == {name for _, name, _ in stored}
    assert not Response.objects.exists()
    wizard.say("check")
    assert wizard.upload.state == "checked"
    assert wizard.upload.report["n_new"] == len(records)
    told = wizard.confirm()
    assert Response.objects.count() == len(records)
    assert dict(Question.objects.values_list("external_id", "text")) == {
        question: asked.text for question, asked in rows.questions.items()
    }
    assert "Grade these answers" in told
    assert files() == []


def test_a_recognised_file_shows_preview_and_button_first_and_folds_the_choices(wizard):
    wizard.send(*FILES["mturk"])
    page = wizard.page.content.decode()
    assert wizard.page.context["is_recognised"]
    assert page.index('id="rows"') < page.index('name="check"') < page.index('id="choices"')
    assert '<details id="choices">' in page


def test_a_file_that_cannot_be_read_shows_its_choices_at_once(wizard):
    source = text_file(TURNED["ids"])
    wizard.send(source.name, source.open().read())
    assert not wizard.page.context["is_recognised"]
    assert 'id="choices"' not in wizard.page.content.decode()


def test_the_form_shows_each_column_with_what_stands_in_it(wizard):
    told = wizard.send(*FILES["mturk"])
    columns = {one.name: one for one in wizard.page.context["form"].columns}
    assert columns["Answer.text"].examples == ["ann says H1", "bob says H1", "ann says H2"]
    assert (columns["Answer.word"].note, columns["Answer.word"].examples) == (
        "the same as Input.word",
        ["H1", "H2"],
    )
    assert wizard.roles == {"Answer.text": "answer"}
    told = wizard.send(*FILES["qualtrics"])
    [tides] = [one for one in wizard.page.context["form"].columns if one.name == "Q2"]
    # The preview by the author, which comes first in the file, is no example.
    moon = [f"The moon pulls the water, says {who}" for who in exports.PEOPLE[:3]]
    assert (tides.note, tides.examples) == (exports.TIDES, moon)
    assert all(text in told for text in tides.examples)
    personal = read("qualtrics")[0].left_out
    assert wizard.roles == {
        **dict.fromkeys(("StartDate", "EndDate", "Duration (in seconds)"), "time"),
        **dict.fromkeys(personal, "ignore"),
        "PROLIFIC_PID": "worker",
        "Q2": "answer",
        "Q3": "answer",
    }
    assert "--" not in told.partition("<main")[2]


@pytest.mark.medium
def test_other_columns_are_shown_without_sending_the_file_again(wizard):
    wizard.send(*FILES["qualtrics"])
    others = {"PROLIFIC_PID": "ignore", "Q2": "extra", "Q3": "extra"}
    wizard.say(roles={"ResponseId": "worker", "Q1": "answer", **others})
    consent = "Yes, I consent"
    assert wizard.shown == {(f"R_{n}", "Q1", consent) for n in (1, 2, 3)}
    wizard.say("check")
    wizard.confirm()
    assert set(Worker.objects.values_list("external_id", flat=True)) == {
        f"R_{n}" for n in range(1, 5)
    }
    assert set(Response.objects.values_list("text", flat=True)) == {consent}
    extra = Response.objects.first().extra
    assert "PROLIFIC_PID" not in extra
    assert extra["Q3"].startswith("Rivers wash salt")


def test_another_preset_proposes_other_columns(wizard):
    wizard.send(*FILES["long"])
    assert wizard.upload.options["preset"] == "long"
    wizard.say(preset="wide")
    assert wizard.upload.options["mapping"]["question"] == ""
    wizard.say(preset="mturk")
    assert wizard.page.context["preview"].error.problems
    assert 'id="preview-error"' in wizard.text
    wizard.say(preset="long")
    assert len(wizard.shown) == 3


@pytest.mark.medium
def test_a_file_with_bad_rows_stays_to_be_read_otherwise(wizard):
    content = exports.LONG + b"p1,tides,Another text,a\n,salt,Whose is it?,a\n"
    wizard.send("table.csv", content)
    told = wizard.say("check")
    assert wizard.upload.state == "mapping"
    assert "2 problems" in told
    found = wizard.upload.problems
    assert [(one["line"], one["code"]) for one in found] == [
        (5, "answers_differ"),
        (6, "id_missing"),
    ]
    assert all(one["reason"] in told and one["remedy"] in told for one in found)
    assert len(files()) == 1
    # One of the two goes by a choice; the other one has to be mended in the file.
    told = wizard.say("check", duplicates="last")
    assert "1 problem was found" in told
    assert not Response.objects.exists()
    wizard.send("table.csv", content.replace(b",salt,Whose", b"p3,salt,Whose"))
    wizard.say("check", duplicates="last")
    wizard.confirm()
    assert Response.objects.get(
        submission__worker__external_id="p1", question__external_id="tides"
    ).text == "Another text"  # fmt: skip


@pytest.mark.medium
def test_a_checked_file_can_be_read_otherwise_still(wizard):
    wizard.send(*FILES["wide"])
    wizard.say("check")
    assert f'href="{wizard.address("import-columns")}"' in wizard.text
    wizard.page = wizard.client.get(wizard.address("import-columns"))
    answers = [name for name, role in wizard.roles.items() if role == "answer"]
    wizard.say(roles=dict.fromkeys(answers, "extra") | {"Anything else?": "answer"})
    assert wizard.upload.state == "mapping"
    wizard.say("check")
    wizard.confirm()
    assert set(Question.objects.values_list("external_id", flat=True)) == {"Anything else?"}


def test_what_is_missing_is_said_at_its_place_and_the_choices_stay(wizard):
    wizard.send(*FILES["wide"])
    told = wizard.say(roles=dict.fromkeys(wizard.roles, "extra"))
    assert wizard.page.status_code == 400
    assert wizard.errors == {"__all__": ["mapped_column_unnamed"]}
    assert wizard.page.context["form"].non_field_errors()[0] in told
    wizard.say(roles={"Name": "worker", "Anything else?": "worker"})
    assert wizard.errors == {"__all__": ["role_twice"]}
    wizard.say(roles={"Name": "worker", "Anything else?": "check"})
    assert list(wizard.errors.values()) == [["right_missing"]]
    assert wizard.upload.options["mapping"]["worker"] == "Name"


def test_a_file_without_answers_is_refused_at_once_with_the_reason(wizard):
    told = wizard.send("a.csv", b" \n")
    assert wizard.upload.problems[0]["reason"] in told
    assert wizard.upload.state == "bad"
    assert files() == []
    assert [one["code"] for one in wizard.upload.problems] == ["file_empty"]


def test_questions_that_are_there_keep_their_words_and_typing_errors_are_found(
    wizard, question_set
):
    draft = question_set.draft()
    Question.objects.create(version=draft, external_id="tides", text="Why tides?")
    wizard.send(*FILES["long"])
    assert wizard.page.context["form"]["create_questions"].value() is False
    wizard.say("check")
    assert [one["code"] for one in wizard.upload.problems] == ["question_unknown"]
    assert "salt" in wizard.upload.problems[0]["reason"]
    wizard.say("check", create_questions="on")
    wizard.confirm()
    assert dict(Question.objects.values_list("external_id", "text")) == {
        "tides": "Why tides?", "salt": ""
    }  # fmt: skip


GERMAN = (
    "Weil der Mond das Wasser zu sich zieht und die Erde sich dabei dreht.",
    "Die Flüsse waschen das Salz aus den Steinen und tragen es ins Meer.",
    "Ich glaube, dass die Sonne auch ein wenig daran beteiligt ist.",
    "Das Meer ist salzig, weil das Wasser verdunstet und das Salz bleibt.",
    "Niemand weiß es genau, aber der Mond spielt wohl eine große Rolle.",
    "Es liegt daran, dass sich die Erde einmal am Tag um sich selbst dreht.",
)


def test_answers_in_another_language_are_warned_of_before_anything_is_graded(wizard):
    rows = "".join(f'p{n},tides,"{text}"\n' for n, text in enumerate(GERMAN))
    told = wizard.send("table.csv", f"worker,question,answer\n{rows}".encode())
    assert 'data-language="German"' in told
    assert 'id="language-warning"' in told
    assert "MiniLM" in told
    english = "".join(f"p{n},tides,The moon pulls at the water of the sea {n}\n" for n in range(8))
    told = wizard.send("table.csv", f"worker,question,answer\n{english}".encode())
    assert 'data-language="English"' in told
    assert 'id="language-warning"' not in told
    assert "MiniLM" not in told


@pytest.mark.medium
def test_the_template_of_mechanical_turk_words_the_questions(wizard):
    wizard.send(*FILES["mturk"])
    wizard.say(question_template="50 $")
    assert list(wizard.errors) == ["question_template"]
    wizard.say("check", question_template="Say ${word}!")
    wizard.confirm()
    assert set(Question.objects.values_list("text", flat=True)) == {"Say H1!", "Say H2!"}
    assert Response.objects.first().extra["Answer.word"] == "H1"


def test_somebody_else_and_a_file_that_is_gone_find_nothing(wizard, client, otto):
    wizard.send(*FILES["wide"])
    address = wizard.address("import-columns")
    wizard.say("check")
    wizard.confirm()
    assert client.get(address).status_code == 404
    client.force_login(otto)
    assert client.get(address).status_code == 404


def test_the_wording_of_a_question_is_shown_beside_its_id(wizard):
    told = wizard.send(*FILES["label-studio"])
    questions = wizard.page.context["preview"].questions
    assert [(one.name, one.wording, len(one.answers)) for one in questions] == [
        ("101", "Why do tides rise?", 2),
        ("102", "What makes the sea salty?", 1),
    ]
    assert "What makes the sea salty? <span" in told


@pytest.mark.medium
def test_sheet_and_header_row_are_found_shown_and_chosen(wizard):
    source = workbook(Notes=NOTES, Answers=[*TITLE, *TABLE])
    told = wizard.send(source.name, source.open().read())
    form = wizard.page.context["form"]
    assert (form["sheet"].value(), form["header_row"].value()) == ("Answers", 4)
    assert 'id="place"' in told
    wizard.say(sheet="Notes")
    assert wizard.upload.options["arrangement"]["header_row"] == 0
    assert 'id="preview-error"' in wizard.text
    wizard.say(sheet="Answers")
    assert wizard.upload.options["arrangement"]["header_row"] == 4
    wizard.say(header_row="40")
    assert wizard.errors["header_row"] == ["file_empty"]
    wizard.page = wizard.client.get(wizard.address("import-columns"))
    wizard.say("check")
    wizard.confirm()
    # Four people, three questions.
    assert Response.objects.count() == 12


def test_people_as_columns_are_told_and_read_after_a_tick(wizard):
    source = text_file(TURNED["ids"])
    wizard.send(source.name, source.open().read())
    error = wizard.page.context["preview"].error
    assert [problem.code for problem in error.problems] == ["people_are_columns"]
    wizard.say(is_turned="on")
    wizard.say("check")
    wizard.confirm()
    assert set(Worker.objects.values_list("external_id", flat=True)) == set(TURNED["ids"][0][1:])


@pytest.mark.medium
def test_unfinished_responses_are_read_after_a_tick(wizard):
    source = survey(*TWO, row("cyd", "11", "04", (LATER[0], "", ""), finished="False"))
    wizard.send(source.name, source.open().read())
    wizard.say("check")
    assert wizard.upload.report["n_new"] == 2 * 3
    wizard.page = wizard.client.get(wizard.address("import-columns"))
    wizard.say("check", keep_unfinished="on")
    assert wizard.upload.report["n_new"] == 3 * 3
    wizard.confirm()
    assert Response.objects.count() == 9
    wizard.send(*FILES["wide"])
    assert "keep_unfinished" not in wizard.page.context["form"].fields


@pytest.mark.medium
def test_html_and_decimals_are_shown_as_stored_and_html_stays_after_a_tick(wizard):
    rows = ["101.0,<p>Yeast &amp; sugar</p>", "102.0,a < b", "103.0,So that it rises"]
    content = "\n".join(["Participant ID,Why does bread rise?", *rows]).encode()
    wizard.send("survey.csv", content)
    (question,) = wizard.page.context["preview"].questions
    shown = [(answer.worker, answer.text) for answer in question.answers]
    assert shown == [("101", "Yeast & sugar"), ("102", "a < b"), ("103", "So that it rises")]
    # A sentence on the three ids, and one on the answer with tags.
    assert len(wizard.page.context["preview"].notes) == wizard.text.count("data-read-otherwise")
    assert wizard.text.count("data-read-otherwise") == 2
    wizard.say("show", keep_html="on")
    wizard.page = wizard.client.get(wizard.address("import-columns"))
    (question,) = wizard.page.context["preview"].questions
    assert question.answers[0].text == "<p>Yeast &amp; sugar</p>"
    wizard.say("check", keep_html="on")
    wizard.confirm()
    stored = Response.objects.values_list("submission__worker__external_id", "text")
    assert set(stored) == {
        ("101", "<p>Yeast &amp; sugar</p>"),
        ("102", "a < b"),
        ("103", "So that it rises"),
    }


@pytest.mark.medium
def test_ids_with_and_without_decimals_are_named_and_kept_apart_after_a_tick(wizard):
    rows = ["101.0,Yeast makes gas", "101,It swells up", "102,So that it rises"]
    content = "\n".join(["Participant ID,Why does bread rise?", *rows]).encode()
    wizard.send("survey.csv", content)
    # One of three rows has the ending.
    assert "(rows: 1 and 2)" in wizard.page.context["preview"].notes[0]
    # 101 has two answers now; beside this problem is its cause.
    wizard.say("check")
    codes = [problem["code"] for problem in wizard.upload.problems]
    assert codes == ["ids_mixed", "answers_differ"]
    wizard.page = wizard.client.get(wizard.address("import-columns"))
    wizard.say("show", keep_ids="on")
    wizard.page = wizard.client.get(wizard.address("import-columns"))
    (question,) = wizard.page.context["preview"].questions
    assert [answer.worker for answer in question.answers] == ["101.0", "101", "102"]
    assert wizard.text.count("data-read-otherwise") == 1
    wizard.say("check", keep_ids="on")
    wizard.confirm()
    assert set(Worker.objects.values_list("external_id", flat=True)) == {"101", "101.0", "102"}


def test_a_page_that_shows_a_part_of_the_answers_names_their_number(wizard, monkeypatch):
    monkeypatch.setattr("annotations.desk.import_wizard.MAX_ROWS_READ", 2)
    rows = ["101,Yeast makes gas", "102,It swells up"]
    head = "Participant ID,Why does bread rise?"
    wizard.send("short.csv", "\n".join([head, *rows]).encode())
    assert wizard.page.context["preview"].n_read is None
    assert "data-read=" not in wizard.text
    # The id with the ending is in the last row, which the check is the first to read.
    rows += ["103,So that it rises", "104.0,To be light"]
    wizard.send("long.csv", "\n".join([head, *rows]).encode())
    assert wizard.page.context["preview"].notes == ()
    assert 'data-read="2"' in wizard.text
    wizard.say("check")
    (note,) = [note for note in wizard.upload.report["notes"] if "--keep-ids" in note]
    assert "(rows: 1 and 3)" in note


def test_personal_columns_are_named_before_anything_is_stored(wizard):
    rows = [f"w{i},Ann {i} Lee,ann{i}@example.org,Water runs down {i}." for i in range(4)]
    wizard.send("people.csv", "\n".join(["ID,Name,Email,Why do rivers run?", *rows]).encode())
    assert wizard.page.context["preview"].personal == ("Name", "Email")
    assert 'id="personal"' in wizard.text
    wizard.say(roles={"Name": "answer"})
    assert wizard.page.context["preview"].personal == ("Email",)
    wizard.say("check", roles={"Name": "extra"})
    wizard.confirm()
    extra = Response.objects.get(submission__worker__external_id="w0").extra
    assert extra == {"Name": "Ann 0 Lee"}


def test_an_export_in_a_zip_archive_is_imported_like_its_only_file(wizard):
    name, content = FILES["qualtrics"]
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(name, content)
    wizard.send("export.zip", packed.getvalue())
    _, records = read("qualtrics")
    assert wizard.shown <= {(r.worker, r.question, r.text) for r in records}
    wizard.say("check")
    assert wizard.upload.report["n_new"] == len(records)
