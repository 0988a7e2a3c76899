"""Exports of survey tools, each with its right workers, wordings, answers and rows left out."""

import csv
import io
import json

import pytest

from annotations.exchange import InputError
from annotations.exchange.importing.survey_exports import stage_survey_export
from annotations.exchange.presets import (
    locate_table,
    open_answer_rows,
    propose_mapping,
    read_head,
    recognise_preset,
    refuse_incomplete_mapping,
)
from annotations.exchange.presets.declared import is_submission_list
from annotations.exchange.presets.survey_tools import remove_question_code
from annotations.exchange.presets.times import compute_elapsed_seconds
from annotations.exchange.reading.source import make_bytes_source
from tests.problems import raises_problem

BREAD, SALT = "Why does bread dough rise?", "Why is salt spread on icy roads?"
IDS = ("5f01a1b2c3d4e5f607182001", "5f02a1b2c3d4e5f607182002", "5f03a1b2c3d4e5f607182003")
SAID = (
    ("The yeast makes a gas", "It lowers the freezing point"),
    ("Yeast eats the sugar in it", "Brine freezes at a lower temperature"),
    ("Heat expands the air inside", "So that the tyres have more grip"),
)
RIGHT = {
    (who, question): text
    for who, texts in zip(IDS, SAID, strict=True)
    for question, text in zip((BREAD, SALT), texts, strict=True)
}


def by(ids, questions=(BREAD, SALT)):
    """Return the right answers under other ids of workers and other questions."""
    names, asked = (
        dict(zip(IDS, ids, strict=True)),
        dict(zip((BREAD, SALT), questions, strict=True)),
    )
    return {(names[who], asked[question]): text for (who, question), text in RIGHT.items()}


def table(header, *rows, delimiter=","):
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter).writerows([header, *rows])
    return text.getvalue().encode()


def rows(before, after=lambda at: []):
    """Return a row for each person: cells before the answers, the answers, cells after."""
    return [[*before(at), *SAID[at], *after(at)] for at in range(3)]


def read(name, content):
    """Return the preset, the answers by worker and wording, seconds, and the notes."""
    source = locate_table(make_bytes_source(name, content)).source
    head = read_head(source)
    preset = recognise_preset(head)
    mapping = propose_mapping(preset, head, source)
    refuse_incomplete_mapping(preset, mapping, head)
    with stage_survey_export(source, preset=preset, mapping=mapping) as stage:
        names = list(stage.questions)
        found = {
            (
                stage.workers[one.worker].name,
                stage.asked[names[one.question]].text or names[one.question],
            ): one.text
            for one in stage.iterate_new_answers()
            if not stage.asked[names[one.question]].right
        }
        seconds = {one.seconds for one in stage.iterate_new_answers()}
        return preset.slug, found, seconds, stage.file.notes


GOOGLE = {
    "English, with an e-mail address": ("Timestamp", "Email Address", "What is your Prolific ID?"),
    "German": ("Zeitstempel", "E-Mail-Adresse", "Deine Prolific-ID"),
    "Spanish": (
        "Marca temporal",
        "Dirección de correo electrónico",
        "Introduce tu ID de Prolific",
    ),
    "French": ("Horodateur", "Adresse e-mail", "Votre identifiant Prolific"),
}


@pytest.mark.parametrize("names", GOOGLE.values(), ids=GOOGLE)
@pytest.mark.parametrize(("ending", "sign"), [("csv", ","), ("tsv", "\t")])
def test_google_forms_is_read_in_the_language_of_its_owner(names, ending, sign):
    header = [*names, BREAD, SALT, "How old are you?", "Do you have any feedback?"]
    content = table(
        header,
        *rows(
            lambda at: [f"3/{at + 13}/2024 9:01:57", f"u{at}@example.org", IDS[at]],
            lambda at: ["31", "It was a nice study"],
        ),
        delimiter=sign,
    )
    slug, found, _, notes = read(f"form.{ending}", content)
    assert (slug, found) == ("google-forms", RIGHT)
    assert notes[-1].endswith(names[1])


SURVEY_MONKEY = [
    *("Respondent ID", "Collector ID", "Start Date", "End Date", "IP Address", "Email Address"),
    *("First Name", "Last Name", "Custom Data 1"),
]


def monkey(at):
    times = ["03/04/2026 09:02:03 AM", "03/04/2026 09:11:03 AM"]
    return [f"1180000000{at}", "446111201", *times, f"86.1.0.{at}", "", "", "", ""]


def test_survey_monkey_with_a_question_of_several_boxes_keeps_each_box():
    asked = "Answer each in one sentence."
    header = [*SURVEY_MONKEY, asked, "", "Which do you own?", ""]
    labels = [*[""] * 9, BREAD, SALT, "Car", "Other (please specify)"]
    content = table(header, labels, *rows(monkey, lambda at: ["Car", "an old red bicycle"]))
    slug, found, seconds, _ = read("everyday.csv", content)
    ids = [f"1180000000{at}" for at in range(3)]
    assert slug == "survey-monkey"
    assert found == by(ids, (f"{asked} [{BREAD}]", f"{asked} [{SALT}]"))
    assert seconds == {540}


def test_survey_monkey_condensed_has_the_prolific_id_as_worker():
    header = [*SURVEY_MONKEY, "What is your Prolific ID?", BREAD, SALT]
    labels = [*[""] * 9, *["Open-Ended Response"] * 3]
    content = table(header, labels, *rows(lambda at: [*monkey(at), IDS[at]]))
    assert read("everyday.csv", content)[:2] == ("survey-monkey", RIGHT)


TYPEFORM = [
    "#",
    BREAD,
    SALT,
    "Response Type",
    "Start Date (UTC)",
    "Submit Date (UTC)",
    "Network ID",
]


def typeform(at, kind="completed"):
    times = ["2024-03-01 09:00:00", "2024-03-01 09:08:00"]
    return [kind, *times, f"{at}4fbc2a1d"]


def test_typeform_is_read_by_its_response_id_without_partial_responses():
    more = ["zzzkq8zv2x1abcdefghijk", "I began this one", "", *typeform(9, "partial")]
    people = [[f"{at}kq8zv2x1abcdefghijk", *SAID[at], *typeform(at)] for at in range(3)]
    slug, found, seconds, notes = read("form.csv", table(TYPEFORM, *people, more))
    assert (slug, found) == ("typeform", by([f"{at}kq8zv2x1abcdefghijk" for at in range(3)]))
    assert seconds == {480}
    assert "Left out: 1 unfinished responses" in notes


@pytest.mark.parametrize(
    "names",
    [
        ("ID", "Start time", "Completion time", "Email", "Name"),
        ("ID", "Startzeit", "Fertigstellungszeit", "E-Mail", "Name"),
    ],
)
def test_microsoft_forms_is_read_by_its_row_id(names):
    times = ["2024-03-01 09:00:00", "2024-03-01 09:10:00"]
    content = table([*names, BREAD, SALT], *rows(lambda at: [at + 1, *times, "anonymous", ""]))
    slug, found, seconds, _ = read("Form.csv", content)
    assert (slug, found, seconds) == ("microsoft-forms", by(("1", "2", "3")), {600})


LIME = {
    "codes": (
        ["id", "submitdate", "lastpage", "startlanguage", "seed", "token"],
        ["G1Q1", "G1Q2", "dev[SQ001]", "interviewtime"],
        ("G1Q1", "G1Q2"),
    ),
    "wordings": (
        ["Response ID", "Date submitted", "Last page", "Start language", "Seed", "Access code"],
        [BREAD, SALT, "Which do you own? [Phone]", "Total time"],
        (BREAD, SALT),
    ),
    "both": (
        [
            *("id. Response ID", "submitdate. Date submitted", "lastpage. Last page"),
            *("startlanguage. Start language", "seed. Seed", "token. Access code"),
        ],
        [f"G1Q1. {BREAD}", f"G1Q2. {SALT}", "dev[SQ001]. Which? [Phone]", "Total time"],
        (BREAD, SALT),
    ),
}


@pytest.mark.parametrize(("own", "asked", "questions"), LIME.values(), ids=LIME)
@pytest.mark.parametrize("sign", [",", ";"])
def test_lime_survey_is_read_by_its_access_code_without_unsent_responses(
    own, asked, questions, sign
):
    def before(at):
        return [at + 3, "2024-03-01 09:10:00", 4, "en", 100000 + at, f"tok{at}abcdefgh"]

    unsent = [9, "", 1, "en", 100009, "tok9abcdefgh", "I wrote only this", "", "", "60.1"]
    people = rows(before, lambda at: ["Yes", "540.5"])
    content = table([*own, *asked], *people, unsent, delimiter=sign)
    slug, found, seconds, notes = read("results.csv", content)
    assert slug == "limesurvey"
    assert found == by([f"tok{at}abcdefgh" for at in range(3)], questions)
    assert seconds == {540.5}
    assert "Left out: 1 unfinished responses" in notes


def test_the_wording_of_a_lime_survey_heading_is_what_follows_its_code():
    assert remove_question_code("G1Q1. Why?") == "Why?"
    assert remove_question_code("dev[SQ001]. Which? [Phone]") == "Which? [Phone]"
    assert remove_question_code("Why is 1. first?") == "Why is 1. first?"


def test_redcap_is_read_raw_without_checkboxes_and_incomplete_records():
    header = ["record_id", "redcap_event_name", "redcap_survey_identifier", "science_timestamp"]
    header += ["bread", "salt", "devices___1", "science_complete"]
    people = rows(
        lambda at: [at + 1, "baseline_arm_1", "", "2024-03-01 09:10"], lambda at: ["1", "2"]
    )
    unsent = ["9", "baseline_arm_1", "", "", "I began this only", "", "0", "0"]
    slug, found, _, notes = read("data.csv", table(header, *people, unsent))
    assert (slug, found) == ("redcap", by(("1", "2", "3"), ("bread", "salt")))
    assert "Left out: 1 unfinished responses" in notes


def test_redcap_is_read_with_labels():
    header = ["Record ID", "Survey Identifier", "Survey Timestamp", BREAD, SALT]
    header += ["Which do you own? (choice=Phone)", "Complete?"]
    people = rows(lambda at: [at + 1, "", "2024-03-01 09:10"], lambda at: ["Checked", "Complete"])
    assert read("labels.csv", table(header, *people))[:2] == ("redcap", by(("1", "2", "3")))


def test_redcap_with_events_has_each_question_in_the_row_of_its_event():
    header = ["record_id", "redcap_event_name", "bread", "salt", "science_complete"]
    people = []
    for at, (bread, salt) in enumerate(SAID, 1):
        people += [[at, "baseline_arm_1", bread, "", "2"], [at, "follow_up_arm_1", "", salt, "2"]]
    slug, found, _, _ = read("data.csv", table(header, *people))
    assert (slug, found) == ("redcap", by(("1", "2", "3"), ("bread", "salt")))
    source = make_bytes_source("data.csv", table(header, *people))
    head = read_head(source)
    preset = recognise_preset(head)
    both = open_answer_rows(source, preset, propose_mapping(preset, head, source))
    # Each of the six rows lacks the question of the other event: 6 x 2 - 6 = 6 answers.
    assert (len(list(both)), both.n_people, both.n_blank, both.n_rows) == (6, 6, 6, 6)
    # One row for each person: an empty cell is an answer that was left empty.
    single = [[at, "baseline_arm_1", texts[0], "", "2"] for at, texts in enumerate(SAID, 1)]
    single[0][3] = SAID[0][1]
    found = read("data.csv", table(header, *single))[1]
    assert found["2", "salt"] == ""


def test_a_repeated_instrument_of_redcap_is_a_second_answer():
    header = ["record_id", "redcap_repeat_instance", "bread", "salt", "science_complete"]
    first = [[at, "1", *texts, "2"] for at, texts in enumerate(SAID, 1)]
    source = make_bytes_source("d.csv", table(header, *first, [1, "2", *SAID[2], "2"]))
    head = read_head(source)
    preset = recognise_preset(head)
    with raises_problem("attempts_differ", name="1", n=2):
        stage_survey_export(source, preset=preset, mapping=propose_mapping(preset, head, source))


GORILLA = [
    *("Event Index", "UTC Timestamp", "Participant Public ID", "Participant Private ID"),
    *("Participant Status", "Task Name", "Task Version"),
]


def gorilla(at, event=1):
    return [event, "1709283000000", IDS[at], 7000001 + at, "complete", "science", "1"]


def test_gorilla_is_read_in_its_long_form():
    people = []
    for at, texts in enumerate(SAID):
        people.append([*gorilla(at), "BEGIN QUESTIONNAIRE", ""])
        people += [
            [*gorilla(at), key, text] for key, text in zip(("bread", "salt"), texts, strict=True)
        ]
    end = ["END OF FILE", *[""] * 8]
    content = table([*GORILLA, "Question Key", "Response"], *people, end)
    slug, found, _, notes = read("data_exp_1.csv", content)
    assert (slug, found) == ("gorilla", by(IDS, ("bread", "salt")))
    assert [note.split()[2] for note in notes] == ["4"]


def test_gorilla_is_read_in_its_short_form():
    content = table(
        [*GORILLA, "bread", "salt", "END QUESTIONNAIRE"], *rows(gorilla, lambda at: [1])
    )
    assert read("data_exp_1.csv", content)[:2] == ("gorilla", by(IDS, ("bread", "salt")))


def test_an_otree_app_has_the_text_that_is_shown_as_wording():
    header = ["participant.code", "player.id_in_group", "player.asked", "player.answer"]
    header += ["player.comments", "subsession.round_number"]
    people = [
        [IDS[at], "1", question, text, "A nice study it was", number]
        for at, texts in enumerate(SAID)
        for number, (question, text) in enumerate(zip((BREAD, SALT), texts, strict=True), 1)
    ]
    assert read("app.csv", table(header, *people))[:2] == ("otree", RIGHT)
    # Each participant in an order of its own: the text says which question it is.
    people[0][-1], people[1][-1] = 2, 1
    assert read("app.csv", table(header, *people))[:2] == ("otree", RIGHT)


def test_an_otree_file_of_all_apps_has_no_remarks_among_its_questions():
    header = ["participant.code", "participant._index_in_pages", "a.1.player.answer"]
    header += ["a.2.player.answer", "a.1.player.shown", "b.1.player.comments"]
    people = rows(lambda at: [IDS[at], "9"], lambda at: ["Read this text", "A nice study it was"])
    slug, found, _, _ = read("all_apps_wide.csv", table(header, *people))
    assert (slug, found) == ("otree", by(IDS, ("a.1.player.answer", "a.2.player.answer")))


@pytest.mark.parametrize(
    ("key", "labels", "number"),
    [
        ("username", "sentences", "doc_id"),
        ("user", "label", "id"),
        ("_user", "label", "id"),
        ("annotator", "label", "id"),
    ],
)
def test_doccano_has_the_annotator_that_its_documents_name(key, labels, number):
    lines = [
        {number: n, "text": question, labels: [text], key: who}
        for who, texts in zip(IDS, SAID, strict=True)
        for n, (question, text) in enumerate(zip((BREAD, SALT), texts, strict=True), 1)
    ]
    content = "".join(f"{json.dumps(one)}\n" for one in lines).encode()
    assert read("all.jsonl", content)[:2] == ("doccano", RIGHT)


def test_doccano_is_known_beside_values_that_were_uploaded_with_a_text():
    lines = [
        {"id": n, "text": asked, "label": [text], "topic": "science", "Comments": []}
        for n, (asked, text) in enumerate(zip((BREAD, SALT), SAID[0], strict=True), 1)
    ]
    content = "".join(f"{json.dumps(one)}\n" for one in lines).encode()
    slug, found, _, _ = read("ana.jsonl", content)
    assert (slug, found) == ("doccano", {("ana", BREAD): SAID[0][0], ("ana", SALT): SAID[0][1]})


def test_an_empty_text_in_a_list_of_answers_loses_no_other_answer():
    records = [
        {"id": n, "prompt": question, "responses": [{"annotator_id": "ana", "text": text}, more]}
        for n, (question, text, more) in enumerate(
            [
                (BREAD, SAID[0][0], {"annotator_id": "ben", "text": ""}),
                (SALT, SAID[0][1], {"annotator_id": "ben", "text": SAID[1][1]}),
            ]
        )
    ]
    content = "".join(f"{json.dumps(one)}\n" for one in records).encode()
    assert read("hub.jsonl", content)[1] == {
        ("ana", BREAD): SAID[0][0],
        ("ben", BREAD): "",
        ("ana", SALT): SAID[0][1],
        ("ben", SALT): SAID[1][1],
    }


def test_qualtrics_with_its_labels_as_header_leaves_out_spam_and_previews():
    header = ["Start Date", "End Date", "Response Type", "Finished", "Response ID"]
    header += ["Recorded Date", "PROLIFIC_PID", BREAD, SALT]
    time = "2024-03-01 09:00:00"

    def cells(at, kind="IP Address"):
        return [time, time, kind, "True", f"R_{at}abcdefghij", time]

    people = rows(lambda at: [*cells(at), IDS[at]])
    others = [
        [*cells(7, "Spam"), "5f07a1b2c3d4e5f607182007", "Buy this now", "Buy that now"],
        [*cells(8, "Survey Preview"), "", "A test of mine", "Another test"],
    ]
    slug, found, _, notes = read("survey.csv", table(header, *people, *others))
    assert (slug, found) == ("qualtrics", RIGHT)
    assert sorted(note for note in notes if note.startswith("Left out: 1 "))[0].endswith("spam")


def test_seconds_between_times_do_not_depend_on_the_order_of_day_and_month():
    assert compute_elapsed_seconds("03/04/2026 09:02:03 AM", "03/04/2026 09:11:03 AM") == 540
    assert compute_elapsed_seconds("31.12.2024 23:50", "01.01.2025 00:10") == 1200
    assert compute_elapsed_seconds("2024-03-01 09:00:00", "2024-03-01 08:00:00") is None
    assert compute_elapsed_seconds("01/02/2024 09:00", "02/02/2024 09:00") == 86400
    assert compute_elapsed_seconds("01/02/2024 09:00", "01/03/2024 09:00") is None
    assert compute_elapsed_seconds("never", "2024-03-01 08:00:00") is None


def test_a_file_without_ids_is_asked_about():
    content = table(["Timestamp", BREAD, SALT], *rows(lambda at: ["3/4/2024 9:01:57"]))
    with pytest.raises(InputError) as caught:
        read("form.csv", content)
    assert caught.value.problems[0].code == "worker_column_unclear"


def test_each_cell_of_a_column_of_answers_is_counted():
    source = make_bytes_source(
        "a.csv",
        table(
            ["Timestamp", "Prolific ID", BREAD, SALT],
            *rows(lambda at: ["3/4/2024 9:01:57", IDS[at]]),
        ),
    )
    head = read_head(source)
    preset = recognise_preset(head)
    found = open_answer_rows(source, preset, propose_mapping(preset, head, source))
    assert len(list(found)) == found.n_rows == 3 * 2


@pytest.mark.parametrize(
    ("other", "cell", "wording"),
    [
        ("Input.question_id", "q1", BREAD),
        ("Input.tone", "formal", f"tone: formal\nquestion: {BREAD}"),
    ],
)
def test_the_wording_of_a_batch_has_no_ids_of_questions(other, cell, wording):
    header = ["HITId", "WorkerId", "AssignmentStatus", other, "Input.question", "Answer.text"]
    people = [
        [f"HIT{cell}", who, "Submitted", cell, BREAD, texts[0]]
        for who, texts in zip(IDS, SAID, strict=True)
    ]
    slug, found, _, _ = read("batch.csv", table(header, *people))
    assert slug == "mturk"
    assert found == {(who, wording): texts[0] for who, texts in zip(IDS, SAID, strict=True)}


def test_a_remark_on_the_task_is_no_answer_of_a_batch():
    header = ["HITId", "WorkerId", "AssignmentStatus", "Input.question", "Answer.text"]
    header += ["Answer.feedback"]
    people = [
        ["HIT1", who, "Submitted", BREAD, texts[0], "I liked this task a lot"]
        for who, texts in zip(IDS, SAID, strict=True)
    ]
    _, found, _, _ = read("batch.csv", table(header, *people))
    assert found == {(who, BREAD): texts[0] for who, texts in zip(IDS, SAID, strict=True)}
    # Where nothing else was asked, it is the answer.
    alone = [[*row[:4], row[5]] for row in people]
    _, found, _, _ = read("batch.csv", table([*header[:4], header[5]], *alone))
    assert set(found.values()) == {"I liked this task a lot"}


def test_qualtrics_without_its_row_of_wordings_has_no_wording():
    header = ["StartDate", "EndDate", "Status", "Finished", "RecordedDate", "ResponseId"]
    header += ["Q1", "Q2", "PROLIFIC_PID"]
    ids = [f'{{"ImportId":"{name}","timeZone":"America/Denver"}}' for name in header]
    people = rows(
        lambda at: ["2026-03-01 09:00:00", "2026-03-01 09:05:00", "0", "1", "", f"R_abcdefg{at}"],
        lambda at: [IDS[at]],
    )
    for above in ((header,), (header, ids)):
        slug, found, _, _ = read("survey.csv", table(*above, *people))
        assert (slug, found) == ("qualtrics", by(IDS, ("Q1", "Q2")))
    source = make_bytes_source("survey.csv", table(header, ids, *people))
    head = read_head(source)
    assert head.wordings == {}
    preset = recognise_preset(head)
    found = open_answer_rows(source, preset, propose_mapping(preset, head, source))
    # 9 in Denver is 16 in UTC.
    assert {record.facts.started_at.hour for record, _ in found} == {16}


@pytest.mark.parametrize("questions", [("tides", "salt"), (BREAD, SALT)])
def test_demographics_joined_with_answers_are_no_list_of_submissions(questions):
    header = ["Submission id", "Participant id", "Status", "Started at", "Completed at"]
    header += ["Completion code", "Total approvals", "Age", "Employment status"]
    facts = ["Full-Time", "Not in paid work (e.g. homemaker, retired)", "Part-Time"]
    people = rows(
        lambda at: [
            f"65aa{at:020}",
            IDS[at],
            "APPROVED",
            "2026-03-01T09:00:00Z",
            "",
            "C",
            at,
            30,
            facts[at],
        ]
    )
    source = make_bytes_source("joined.csv", table([*header, *questions], *people))
    head = read_head(source)
    assert not is_submission_list(head)
    assert propose_mapping(recognise_preset(head), head, source).answers == questions
    alone = make_bytes_source(
        "demographics.csv", table(header, *[row[: len(header)] for row in people])
    )
    assert is_submission_list(read_head(alone))
