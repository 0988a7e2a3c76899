"""Files as tools and people leave them: placeholders for ids, bots, lists, anonymised times."""

import json

import pytest

from annotations.exchange.ids import IdCleaner
from annotations.exchange.markup import MISSING
from annotations.exchange.presets import open_answer_rows, propose_mapping, recognise_preset
from annotations.exchange.presets.declared import PANEL_STATUSES, is_submission_list
from annotations.exchange.presets.demographics import is_demographic_export
from annotations.exchange.presets.otree import BOTS
from annotations.exchange.presets.rows import HEADERS
from annotations.exchange.presets.table import read_head
from annotations.exchange.presets.times import compute_elapsed_seconds
from annotations.exchange.reading.source import make_bytes_source
from tests.annotations.exchange.presets.test_survey_tools import (
    BREAD,
    IDS,
    RIGHT,
    SAID,
    SALT,
    by,
    read,
    rows,
    table,
)
from tests.problems import raises_problem

ASKED = (BREAD, SALT)
PAIRS = [(at, asked) for at in range(3) for asked in range(2)]
"""Each person with each question, as positions."""


def lines(records):
    return "\n".join(map(json.dumps, records)).encode()


def survey_monkey(respondent):
    header = ["Respondent ID", "Collector ID", "Start Date", "End Date", "Custom Data 1", *ASKED]
    times = ["03/01/2026 09:00:00 AM", "03/01/2026 09:05:00 AM"]
    labels = [""] * 5 + ["Open-Ended Response"] * 2
    return table(
        header, labels, *rows(lambda at: [respondent(at), "421", *times, IDS[at]], lambda at: [])
    )


def lime_survey():
    header = ["id", "submitdate", "lastpage", "startlanguage", "seed", "startdate", "datestamp"]
    nothing = "1980-01-01 00:00:00"
    before = [nothing, 2, "en", 12345, nothing, nothing]
    return table([*header, "PROLIFIC_PID", *ASKED], *rows(lambda at: [at, *before, IDS[at]]))


def otree():
    header = ["participant.code", "participant.label", "participant._is_bot"]
    header += ["participant._index_in_pages", "essay.1.player.bread", "essay.1.player.salt"]
    people = rows(lambda at: ["c0de", IDS[at], 0, 5])
    return table(header, *people, ["b0t", "bot 1", 1, 5, "A robot wrote this", "And this as well"])


def typeform():
    header = ["#", *ASKED, "prolific", "Response Type", "Start Date (UTC)", "Stage Date (UTC)"]
    header += ["Submit Date (UTC)", "Network ID", "Tags"]
    after = ["completed", "2026-03-01 09:00:00", "", "2026-03-01 09:04:00", "0a1b2c3d4e", ""]
    return table(header, *rows(lambda at: [f"tok{at}"], lambda at: [IDS[at], *after]))


def task_of_jspsych():
    header = ["trial_type", "trial_index", "subject_id", "responses", "response", "item"]
    return table(
        header,
        *[
            ["survey-text", asked, IDS[at], json.dumps({"Q0": SAID[at][asked]}), "", ASKED[asked]]
            for at, asked in PAIRS
        ],
    )


def label_studio(cell):
    header = ["annotation_id", "annotator", "answer", "created_at", "id", "lead_time", "question"]
    return table(
        header,
        *[
            [2 * at + asked, IDS[at], cell(SAID[at][asked]), "", asked, 12.5, ASKED[asked]]
            for at, asked in PAIRS
        ],
    )


def google(address):
    asks = "What is your Prolific ID?"
    return table(
        ["Timestamp", asks, *ASKED],
        *rows(lambda at: [f"2026/03/01 9:0{at}:00 AM GMT+1", address(at)]),
    )


def prolific():
    header = ["Participant id", "Submission id", "Status", "Country", *ASKED]
    people = rows(lambda at: [IDS[at], f"s{at}", "Approved", "Chile"])
    left = ["6a" * 12, "s8", "Timed out", "Chile", "The oven makes it rise", "It looks like sugar"]
    returned = ["6b" * 12, "s9", "RETURNED", "Chile", "I do not know that", "Nor do I know this"]
    return table(header, *people, left, returned)


QUALTRICS = (
    *("StartDate", "EndDate", "Status", "Progress", "Duration (in seconds)", "Finished"),
    *("RecordedDate", "ResponseId", "DistributionChannel"),
)
OF_RESPONSE = ("2026-03-01 09:00:00", "2026-03-01 09:05:00", "IP Address", 100, 300, "True")


def qualtrics(columns, wordings, cells, *, again=False):
    """A Qualtrics export: three header rows; `cells` of each person, after those of the tool."""
    header = [*QUALTRICS, *columns]
    top = [[*QUALTRICS, *wordings], [json.dumps({"ImportId": name}) for name in header]]
    people = [
        [*OF_RESPONSE, OF_RESPONSE[1], f"R_{at}abcDEF12345", "anonymous", *cells(at)]
        for at in range(3)
    ]
    if again:
        return table(header, *top, *people[:2], header, *top, people[2])
    return table(header, *top, *people)


ASKS_FOR_ID = "What is your Prolific ID? This response should auto-fill with the correct ID"


def quiz(names, points, feedback, *, of_row):
    """A quiz with a column of points and one of feedback behind each question."""
    header = [*names]
    for question in ASKED:
        header += [question, points(question), feedback(question)]
    people = []
    for at in range(3):
        people.append(of_row(at))
        for text in SAID[at]:
            people[-1] += [text, "1", "Well explained, many thanks"]
    return table(header, *people)


def lime_survey_times():
    header = ["id", "submitdate", "lastpage", "startlanguage", "seed", "token", *ASKED]
    header += ["interviewtime", "groupTime12", "q1Time", "q2Time"]
    before = ["2026-03-01 09:05:00", 2, "en", 1234]
    times = ["301.12", "150.5", "80.2", "70.3"]
    return table(header, *rows(lambda at: [at + 1, *before, IDS[at]], lambda at: times))


def survey_monkey_tags():
    header = ["Respondent ID", "Collector ID", "Start Date", "End Date", "Custom Data 1"]
    header += [BREAD, "", "How sure are you?", "", SALT]
    labels = [""] * 5 + ["Open-Ended Response", "Tags", "Response", "Other (please specify)"]
    times = ["03/01/2026 09:00:00 AM", "03/01/2026 09:05:00 AM"]
    return table(
        header,
        [*labels, "Open-Ended Response"],
        *[
            [118_000 + at, 421, *times, IDS[at], SAID[at][0], "yeast", "Quite", "", SAID[at][1]]
            for at in range(3)
        ],
    )


def psychopy():
    header = ["participant", "session", "date", "expName", "trials.thisN", "prompt"]
    header += ["textbox.text", "key_resp.rt", "frameRate"]
    before = ["001", "2026-03-01_09h00", "essay"]
    return table(
        header,
        *[
            [IDS[at], *before, asked, ASKED[asked], SAID[at][asked], "", "60.1"]
            for at, asked in PAIRS
        ],
    )


def responses_by_id():
    header = ["respondent_id", "question_id", "question_text", "response_id", "response_text"]
    return table(
        header,
        *[
            [IDS[at], f"q{asked}", ASKED[asked], f"r{at}{asked}", SAID[at][asked]]
            for at, asked in PAIRS
        ],
    )


def redcap_survey():
    header = ["record_id", "redcap_survey_identifier", "essay_timestamp", "prolific_id", *ASKED]
    header += ["essay_complete", "redcap_data_access_group"]
    people = rows(lambda at: [at + 1, "", "2026-03-01 09:05:00", IDS[at]], lambda at: [2, "site_a"])
    return table(header, *people, [4, "", "[not completed]", "6a" * 12, "It rises", "", 0, "a"])


def kobo():
    header = ["start", "end", "username", "deviceid", "essay/prolific_id", *ASKED]
    header += ["__version__", "_id", "_uuid", "_submission_time", "_index", "_tags", "_status"]
    before = ["2026-03-01T09:00:00", "2026-03-01T09:05:00", "", "ee.example"]
    return table(
        header,
        *rows(
            lambda at: [*before, IDS[at]],
            lambda at: ["v1", 900 + at, f"u{at}", before[1], at + 1, "", "submitted_via_web"],
        ),
    )


def plain(worker, *more, said=SAID):
    """A table of the workers and the two questions."""
    people = [[worker(at), *said[at]] for at in range(3)]
    return table(["PROLIFIC_PID", *ASKED], *people[:2], *more, people[2])


FILES = {
    "Qualtrics asks for Prolific's id": (
        "survey.csv",
        qualtrics(("Q1", "Q2", "Q3"), (ASKS_FOR_ID, *ASKED), lambda at: [IDS[at], *SAID[at]]),
    ),
    "Qualtrics with mark-up in its wordings": (
        "survey.csv",
        qualtrics(
            ("Q2", "Q3", "PROLIFIC_PID"),
            (f"<p><b>{BREAD}</b></p>", f'<span style="x">{SALT}</span>&nbsp;', "PROLIFIC_PID"),
            lambda at: [*SAID[at], IDS[at]],
        ),
    ),
    "Qualtrics, two exports put together": (
        "survey.csv",
        qualtrics(
            ("Q2", "Q3", "PROLIFIC_PID"),
            (*ASKED, "PROLIFIC_PID"),
            lambda at: [*SAID[at], IDS[at]],
            again=True,
        ),
    ),
    "Qualtrics with times of pages": (
        "survey.csv",
        qualtrics(
            ("Q2", "Q3", "Q4_First Click", "Q4_Page Submit", "Q4_Click Count", "PROLIFIC_PID"),
            (*ASKED, "Timing - First Click", "Timing - Page Submit", "Timing - Click Count", "P"),
            lambda at: [*SAID[at], "1.2", "20.5", "2", IDS[at]],
        ),
    ),
    "Qualtrics with Text iQ": (
        "survey.csv",
        qualtrics(
            ("Q2", "Q3", "Q2 - Parent Topics", "Q2 - Sentiment", "Q2 - Topics", "PROLIFIC_PID"),
            (*ASKED, *(f"{BREAD} - {of}" for of in ("Parent Topics", "Sentiment", "Topics")), "P"),
            lambda at: [*SAID[at], "Chemistry of bread", "Neutral", "Yeast and gas", IDS[at]],
        ),
    ),
    "Microsoft Forms with a quiz": (
        "form.csv",
        quiz(
            ("Id", "Start time", "Completion time", "What is your Prolific ID?", "Total points"),
            "Points - {}".format,
            "Feedback - {}".format,
            of_row=lambda at: [at + 1, "3/1/26 9:00:00", "3/1/26 9:05:00", IDS[at], 2],
        ),
    ),
    "Google Forms with a quiz": (
        "form.csv",
        quiz(
            ("Timestamp", "Score", "What is your Prolific ID?"),
            "{} [Score]".format,
            "{} [Feedback]".format,
            of_row=lambda at: [f"2026/03/01 9:0{at}:00 AM GMT+1", "2.00 / 2", IDS[at]],
        ),
    ),
    "LimeSurvey with times": ("results.csv", lime_survey_times()),
    "SurveyMonkey with tags": ("survey.csv", survey_monkey_tags()),
    "REDCap with an unfinished survey": ("redcap.csv", redcap_survey()),
    "KoboToolbox": ("kobo.csv", kobo()),
    "PsychoPy": ("data.csv", psychopy()),
    "a row for each response": ("responses.csv", responses_by_id()),
    "ids as formulas": ("survey.csv", plain(lambda at: f'="{IDS[at]}"')),
    "ids behind an apostrophe": ("survey.csv", plain(lambda at: f"'{IDS[at]}")),
    "two files put together": ("survey.csv", plain(IDS.__getitem__, ["PROLIFIC_PID", *ASKED])),
    "Excel's first line with the separator": (
        "survey.csv",
        b"sep=;\r\n" + plain(IDS.__getitem__).replace(b",", b";"),
    ),
    "UTF-16 without a byte order mark": (
        "survey.csv",
        plain(IDS.__getitem__).decode().encode("utf-16-le"),
    ),
    "two byte order marks": ("survey.csv", b"\xef\xbb\xbf" * 2 + plain(IDS.__getitem__)),
    "row names of R": (
        "survey.csv",
        table(["", "PROLIFIC_PID", *ASKED], *rows(lambda at: [at + 1, IDS[at]])),
    ),
    "SurveyMonkey with Prolific's ids as custom data": (
        "survey.csv",
        survey_monkey(lambda at: 11_800_000_000 + at),
    ),
    "SurveyMonkey after a spreadsheet rounded its ids": (
        "survey.csv",
        survey_monkey(lambda at: "1.18E+11"),
    ),
    "LimeSurvey with anonymised times": ("results.csv", lime_survey()),
    "oTree with a bot": ("all_apps_wide.csv", otree()),
    "Typeform with a hidden field": ("responses.csv", typeform()),
    "jsPsych of two versions": ("data.csv", task_of_jspsych()),
    "Label Studio with lists in cells": (
        "project.csv",
        label_studio(lambda text: json.dumps({"text": [text]})),
    ),
    "Google Forms with Prolific's e-mail addresses": (
        "form.csv",
        google(lambda at: f"{IDS[at]}@email.prolific.com" if at else IDS[at]),
    ),
    "Prolific joined with a survey": ("joined.csv", prolific()),
    "doccano's JSON Lines called .json": (
        "project.json",
        lines(
            {
                "doc_id": asked,
                "text": ASKED[asked],
                "sentences": [SAID[at][asked]],
                "username": IDS[at],
            }
            for at, asked in PAIRS
        ),
    ),
    "JSON Lines of participants with their answers": (
        "data.jsonl",
        lines(
            {"prolific_pid": IDS[at], "age": 30, "answers": dict(zip(ASKED, SAID[at], strict=True))}
            for at in range(3)
        ),
    ),
}


def right_answers(name):
    """The right answers of a file, by worker and wording or name of the question."""
    names = ("essay.1.player.bread", "essay.1.player.salt") if name.startswith("oTree") else ASKED
    return by(IDS, names)


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_read_as_it_is(name):
    _, found, _, _ = read(*FILES[name])
    assert found == right_answers(name)


def read_rows(name, content):
    """Return the preset of a file, and its reader with all rows read."""
    source = make_bytes_source(name, content)
    head = read_head(source)
    preset = recognise_preset(head)
    found = open_answer_rows(source, preset, propose_mapping(preset, head, source))
    list(found)
    found.raise_problems()
    return preset.slug, found


def test_rows_that_are_left_out_are_counted():
    assert read_rows(*FILES["oTree with a bot"])[1].skipped == {BOTS: 1}
    slug, found = read_rows(*FILES["Prolific joined with a survey"])
    assert (slug, found.skipped) == ("prolific", dict.fromkeys(PANEL_STATUSES.values(), 1))


def test_repeated_header_rows_are_counted():
    assert read_rows(*FILES["two files put together"])[1].skipped == {HEADERS: 1}
    assert read_rows(*FILES["Qualtrics, two exports put together"])[1].skipped == {HEADERS: 3}


@pytest.mark.parametrize(
    ("written", "read_as"),
    [
        ('="0012"', "0012"),
        ("'0012", "0012"),
        (f"'{IDS[0].upper()}", IDS[0].upper()),
        # No guard of a spreadsheet: a name may begin with an apostrophe.
        ("'t Hart", "'t Hart"),
        ('="a" & "b"', '="a" & "b"'),
    ],
)
def test_a_guarded_id_is_read_without_its_guard_and_named(written, read_as):
    notes = IdCleaner()
    assert notes.clean_and_record(written) == read_as
    assert bool(notes.warnings) == (written != read_as)


def test_anonymised_times_are_no_duration():
    *_, seconds, _ = read(*FILES["LimeSurvey with anonymised times"])
    assert seconds == {None}
    for form in ("1980-01-01 00:00:00", "01.01.1980 00:00"):
        assert compute_elapsed_seconds(form, form) is None
    assert compute_elapsed_seconds("1980-01-01 00:00:00", "1980-01-01 00:00:07") == 7


def test_addresses_by_prolific_are_counted_and_others_stay():
    _, found = read_rows(*FILES["Google Forms with Prolific's e-mail addresses"])
    # Two people with two answers each, in a row for each person.
    assert found.n_mails == 2
    assert [note for note in found.notes if note.endswith(": 2")]
    ids = [f"{who}@example.org" for who in IDS]
    _, found, _, _ = read("form.csv", google(lambda at: ids[at]))
    assert found == by(ids)


@pytest.mark.parametrize("word", MISSING)
def test_a_word_for_a_missing_value_is_counted_and_stays_an_answer(word):
    people = [*rows(lambda at: [IDS[at]])[:2], [IDS[2], word, "The cars need it"]]
    content = table(["PROLIFIC_PID", *ASKED], *people)
    _, found, _, notes = read("survey.csv", content)
    assert found[IDS[2], BREAD] == word
    assert read_rows("survey.csv", content)[1].formatting.missing == {word: 1}
    assert [note for note in notes if f"“{word}”: 1." in note]
    assert not read_rows(*FILES["Typeform with a hidden field"])[1].formatting.missing


def test_a_word_for_a_missing_value_is_counted_in_our_own_form_too():
    content = table(["worker", "question", "answer"], ["w1", "q1", "NA"], ["w2", "q1", "Yeast"])
    _, found, _, notes = read("answers.csv", content)
    assert found["w1", "q1"] == "NA"
    assert [note for note in notes if "“NA”: 1." in note]


PLACEHOLDERS = ("{{%PROLIFIC_PID%}}", "${e://Field/PROLIFIC_PID}", "[object Object]", "undefined")


@pytest.mark.parametrize("text", PLACEHOLDERS)
def test_a_placeholder_is_no_worker(text):
    people = rows(lambda at: [IDS[at] if at else text])
    with raises_problem("id_is_placeholder", line=2, column="PROLIFIC_PID", text=text):
        read("survey.csv", table(["PROLIFIC_PID", *ASKED], *people))


def test_a_json_list_and_a_damaged_one_are_no_lines():
    records = [{"worker": IDS[at], "question": BREAD, "answer": SAID[at][0]} for at in range(3)]
    _, found, _, _ = read("answers.json", json.dumps(records, indent=1).encode())
    assert found == {pair: text for pair, text in RIGHT.items() if pair[1] == BREAD}
    _, found, _, _ = read("answers.json", lines(records))
    assert found == {pair: text for pair, text in RIGHT.items() if pair[1] == BREAD}
    with raises_problem("json_goes_on", file="answers.json"):
        read("answers.json", json.dumps(records).encode() + b"\n[]")


SCREENERS = ["Were you born in the country you live in?", "Highest education level completed"]


@pytest.mark.parametrize("delimiter", [",", ";"])
def test_a_demographic_export_with_screeners_is_no_answers_file(delimiter):
    header = ["Submission id", "Participant id", "Status", "Started at", "Time taken", "Age"]
    header += ["Total approvals", *SCREENERS]
    answers = [("Yes", "Undergraduate degree (BA/BSc/other)"), ("No", "High school diploma")]
    people = [
        [f"s{at}", f"{at:024x}", "APPROVED", "2026-03-01T09:00:00Z", 60, 30, at, *answers[at % 2]]
        for at in range(12)
    ]
    content = table(header, *people, delimiter=delimiter)
    for encoded in (content, content.decode().encode("utf-16")):
        head = read_head(make_bytes_source("prolific_demographic_export.csv", encoded))
        assert is_demographic_export(head)
        assert is_submission_list(head)
