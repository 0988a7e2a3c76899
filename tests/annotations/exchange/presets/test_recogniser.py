"""The recogniser of columns: right values of small files, and the same result in any order."""

import csv
import io
import json
import random

import pytest

from annotations.exchange import InputError
from annotations.exchange.column_names import is_demographic_heading, is_personal_heading
from annotations.exchange.importing.survey_exports import stage_survey_export
from annotations.exchange.presets import (
    ROW_NUMBER,
    propose_mapping,
    read_head,
    recognise_preset,
    refuse_incomplete_mapping,
    refuse_submission_list,
)
from annotations.exchange.reading.answers import read_answers
from annotations.exchange.reading.source import make_bytes_source

TIDES = ("What causes ocean tides?", "What is a neap tide?")
SAID = (
    ("The gravity of the Moon pulls the water", "A small tide at half moon"),
    ("Mostly the Moon pulling on the sea", "The weakest tide of the fortnight"),
    ("Moon gravity, and a little the Sun", "Tides with a small range"),
    ("The pull of the Moon on the oceans", "A tide of low range"),
)
IDS = [f"5f100000000000000000000{n}" for n in range(1, 5)]
TIMES = [f"2026/03/0{n} 10:00:00 AM GMT+1" for n in range(1, 5)]


def table(*columns, ids=None):
    """Return CSV of columns: a heading and a cell for each of four people."""
    rows = [[name for name, _ in columns], *zip(*(cells for _, cells in columns), strict=True)]
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue().encode()


def answers():
    return [(name, [said[n] for said in SAID]) for n, name in enumerate(TIDES)]


def read(content, name="file.csv", changes=()):
    """Return the preset, the mapping and the answers as triples, or the code of the refusal."""
    source = make_bytes_source(name, content)
    head = read_head(source)
    refuse_submission_list(head)
    preset = recognise_preset(head)
    mapping = propose_mapping(preset, head, source).replace_roles(changes, head.header, name)
    refuse_incomplete_mapping(preset, mapping, head)
    with stage_survey_export(source, preset=preset, mapping=mapping) as stage:
        names = list(stage.questions)
        found = {
            (stage.workers[one.worker].name, names[one.question], one.text)
            for one in stage.iterate_new_answers()
        }
        extra = {
            key for one in stage.iterate_new_answers() for key in json.loads(one.extra or "{}")
        }
    return mapping, found, extra


def refused(content, name="file.csv", changes=()):
    with pytest.raises(InputError) as caught:
        read(content, name, changes)
    return caught.value.problems[0]


WORKERS = {
    "a question for the id goes before an e-mail address": (
        [("E-mail", [f"{n}@example.org" for n in "abcd"]), ("Your Prolific ID?", IDS)],
        "Your Prolific ID?",
    ),
    "German address": (
        [("Zeitstempel", TIMES), ("E-Mail-Adresse", [f"{n}@example.org" for n in "abcd"])],
        "E-Mail-Adresse",
    ),
    "an id of any kind": (
        [("StartDate", ["2026-03-01"] * 4), ("SONA ID", ["900", "901", "902", "903"])],
        "SONA ID",
    ),
    "by the cells": ([("language", ["en", "de", "en", "de"]), ("who", IDS)], "who"),
    "a constant user is none": ([("user", ["web"] * 4), ("Response ID", IDS)], "Response ID"),
}


@pytest.mark.parametrize(("columns", "worker"), WORKERS.values(), ids=WORKERS)
def test_the_workers_are_in_a_column_of_ids(columns, worker):
    mapping, found, _ = read(table(*columns, *answers()))
    assert (mapping.worker, mapping.answers) == (worker, TIDES)
    assert len(found) == 4 * 2


@pytest.mark.parametrize(
    "columns",
    [
        [("Timestamp", TIMES)],
        [("Timestamp", TIMES), ("Age?", ["25", "31", "47", "52"])],
        [("condition", ["a", "b", "a", "b"])],
        [("session", ["1", "1", "1", "1"])],
        [("email", ["a@example.org", "", "", "b@example.org"])],
        [("user", ["web"] * 4)],
    ],
)
def test_who_answered_is_asked_where_no_column_says_it(columns):
    content = table(*columns, *answers())
    problem = refused(content)
    assert problem.code == "worker_column_unclear"
    assert columns[-1][0] in problem.values["looked_at"]
    mapping, found, _ = read(content, changes=[f"worker={ROW_NUMBER}"])
    assert mapping.answers == TIDES
    assert {worker for worker, _, _ in found} == {"1", "2", "3", "4"}


def test_the_id_of_a_record_with_objects_in_it_is_no_worker():
    records = [
        {"id": n, "text": name, "spans": [{"start": 0, "end": n}], "note": said[0]}
        for n, (name, said) in enumerate(zip(TIDES * 2, SAID, strict=True))
    ]
    problem = refused("".join(f"{json.dumps(one)}\n" for one in records).encode(), "file.jsonl")
    assert problem.code == "worker_column_unclear"
    assert problem.values["looked_at"].startswith("id (")


def test_a_conflict_names_the_guessed_columns():
    content = b"user,item,answer\na,1,The moon pulls\na,1,The wind blows\nb,1,Nobody knows it\n"
    problem = refused(content)
    assert problem.code == "answers_differ"
    assert problem.values["guess"] == "worker = user, question = item, answer = answer"


def test_answers_are_no_json_no_text_of_the_task_and_no_fact_about_the_person():
    rows = [
        [who, f"q{n}", name, said[n], json.dumps({"rt": n}), "Female, aged 20 to 30"]
        for who, said in zip(IDS, SAID, strict=True)
        for n, name in enumerate(TIDES)
    ]
    text = io.StringIO()
    header = ["participant", "item", "text", "written", "comment", "gender"]
    csv.writer(text).writerows([header, *rows])
    mapping, found, _ = read(text.getvalue().encode())
    assert (mapping.answers, mapping.text) == (("written",), "text")
    assert len(found) == 4 * 2
    problem = refused(table(("worker id", IDS), ("data", ['{"a": 1}'] * 4), ("Age", IDS)))
    assert problem.code == "answer_column_unclear"


def task(number, question, text):
    return {
        "id": number,
        "data": {"question": question, "source": f"tide survey number {number} of March"},
        "annotations": [
            {
                "id": number + 100,
                "completed_by": number % 2,
                "result": [
                    {"from_name": "answer", "type": "textarea", "value": {"text": [text]}},
                    {"from_name": "sure", "type": "choices", "value": {"choices": ["yes"]}},
                ],
            }
        ],
    }


@pytest.mark.parametrize("texts", [("The Moon pulls at it", "A low tide"), ("Moon", "Wind")])
def test_of_label_studio_the_result_is_the_answer_and_the_data_the_task(texts):
    tasks = [task(n, TIDES[n % 2], texts[n % 2]) for n in range(1, 5)]
    mapping, found, _ = read(json.dumps(tasks).encode(), "export.json")
    assert (mapping.answers, mapping.text) == (("answer",), "question")
    assert {text for _, _, text in found} == set(texts)
    header = "question,source,id,answer,annotator,annotation_id,created_at,updated_at,lead_time\n"
    rows = [f"{TIDES[n % 2]},survey {n} of March,{n},{texts[n % 2]},{n % 2},{n},x,x,1\n"
            for n in range(1, 5)]  # fmt: skip
    mapping, found, _ = read((header + "".join(rows)).encode())
    assert (mapping.answers, mapping.text) == (("answer",), "question")
    assert len(found) == 4


LABELS = {
    "Qualtrics' older exports": (
        ["V1", "V6", "V8", "Q1", "Q2"],
        ["ResponseID", "IPAddress", "StartDate", *TIDES],
    ),
    "German": (
        ["V1", "V6", "V8", "Q1", "Q2"],
        ["Antwort-ID", "IP-Adresse", "Startdatum", "Was ist die Ebbe?", "Was ist eine Flut?"],
    ),
    "SurveyMonkey": (
        ["Respondent ID", "IP Address", "Start Date", *TIDES],
        ["", "", "", "Open-Ended Response", "Open-Ended Response"],
    ),
}


@pytest.mark.parametrize(("header", "labels"), LABELS.values(), ids=LABELS)
def test_a_second_header_row_is_nobody(header, labels):
    rows = [
        [f"R_ana3fQ9{n}aZ", f"203.0.113.{n}", f"2026-03-0{n + 1} 10:00:00", *said]
        for n, said in enumerate(SAID)
    ]
    text = io.StringIO()
    csv.writer(text).writerows([header, labels, *rows])
    mapping, found, extra = read(text.getvalue().encode())
    assert (mapping.worker, mapping.answers) == (header[0], tuple(header[3:]))
    assert {worker for worker, _, _ in found} == {row[0] for row in rows}
    assert header[1] not in extra


def test_a_first_row_of_data_that_lacks_numbers_is_no_header_row():
    content = b"name,age,score,Why?\nann,,,The moon pulls it\nbob,30,4,It is the wind\ncyd,31,5,No"
    _, found, _ = read(content)
    assert {worker for worker, _, _ in found} == {"ann", "bob", "cyd"}


def test_columns_that_say_who_or_where_a_person_is_are_left_out():
    named = (
        *("IP Address", "_ip", "E-mail", "E-Mail-Adresse", "email", "First Name", "NAME"),
        *("Vorname", "Latitude", "Phone number", "Date of birth", "correo electrónico"),
        *("Nom", "Apellidos", "Geburtsdatum", "Contact e-mail address", "What is your name?"),
    )
    cells = [(name, [f"{name} {n}" for n in range(4)]) for name in named]
    group = ("Group", list("abab"))
    _, _, extra = read(table(("worker id", IDS), *cells, group, *answers()))
    assert extra == {"Group"}
    assert not any(
        map(is_personal_heading, ("Name three causes of tides", "file name", "description"))
    )
    assert is_demographic_heading("What is your highest level of education?")


@pytest.mark.parametrize(
    "ids",
    [("Submission ID", "Participant ID"), ("session_id", "participant_id"),
     ("submission id", "PROLIFIC_PID")],
)  # fmt: skip
def test_the_list_of_prolific_is_known_under_all_its_headings(ids):
    status = ("STATUS", ["APPROVED"] * 4)
    own = [("Started_at", TIMES), ("time taken", ["9"] * 4)]
    more = ("Student status", ["I am not a student at all", "Full time", "Part time", "No more"])
    content = table((ids[0], IDS), (ids[1], IDS), status, *own, more)
    assert refused(content).code == "list_of_submissions"


def test_headings_of_mechanical_turk_are_known_in_any_case():
    rows = "".join(f"H1,A1ANA{n},What is it?,The moon {n}\n" for n in range(3))
    for header in ("hitid,workerid,input.q,answer.text", "HIT ID,worker_id,INPUT.q,Answer. text"):
        mapping, found, _ = read(f"{header}\n{rows}".encode())
        assert mapping.answers == ("Answer.text",)
        assert len(found) == 3


@pytest.mark.parametrize(
    "lines",
    [
        [f"{who},{n},{said[n]}" for who, said in zip("abcd", SAID, strict=True) for n in (0, 1)],
        [f'{who},"{said[0]}",{said[1]}' for who, said in zip(IDS, SAID, strict=True)],
        [f'p{n},{1760000000000 + n},"{{""a"": {n}}}"' for n in range(4)],
    ],
)
def test_a_file_without_a_header_row_is_refused(lines):
    assert refused("\n".join(lines).replace(", and", " and").encode()).code == "header_missing"


@pytest.mark.parametrize(
    ("first", "sign"),
    [('"sep=,"\n', ","), ("sep = ;\n", ";"), ("sep=|\n", "|"), ('"sep=;"\n', ";"), ("", "|")],
)
def test_the_sign_that_parts_cells_is_found(first, sign):
    lines = [("worker", "question", "answer"), ("a", "1", "The moon"), ("b", "1", "The wind")]
    content = first + "".join(f"{sign.join(line)}\n" for line in lines)
    found = read_answers(make_bytes_source("file.csv", content.encode())).records
    assert [(one.worker, one.text) for one in found] == [("a", "The moon"), ("b", "The wind")]


@pytest.mark.parametrize("seed", range(12))
def test_orders_of_rows_and_columns_and_spellings_of_headings_change_nothing(seed):
    chance = random.Random(seed)
    columns = [
        ("Participant ID", IDS),
        ("Timestamp", TIMES),
        ("IP Address", [f"203.0.113.{n}" for n in range(4)]),
        ("First Name", ["Ana", "Ben", "Cem", "Dee"]),
        ("Gender", ["f", "m", "f", "m"]),
        *answers(),
    ]
    _, expected, _ = read(table(*columns))
    order = chance.sample(range(4), 4)
    changed = []
    for name, cells in chance.sample(columns, len(columns)):
        if name not in TIDES:
            sign = chance.choice([" ", "_", "", "  ", "-"])
            name = chance.choice([str.upper, str.lower, str.title])(name.replace(" ", sign))
        changed.append((name, [cells[n] for n in order]))
    _, found, extra = read(table(*changed))
    assert found == expected
    assert {key.casefold() for key in extra} == {"timestamp", "gender"}
