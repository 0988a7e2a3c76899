"""Every shape of file in any order and spelling: the same workers, questions, wordings, answers."""

import csv
import io
import json
from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotations.exchange.presets import (
    locate_table,
    open_answer_rows,
    propose_mapping,
    read_head,
    recognise_preset,
    refuse_incomplete_mapping,
)
from annotations.exchange.reading.source import make_bytes_source
from tests.annotations.exchange.presets import exports, test_tools
from tests.annotations.exchange.presets.test_arrangement import TABLE
from tests.annotations.exchange.presets.test_presets import MTURK

WORKERS = [
    "Participant ID",
    "participant_id",
    "WORKER",
    "Teilnehmer-ID",
    "participante",
    "参加者ID",
]
ITEMS = ["Item", "question id", "ITEM_ID", "Frage-ID", "pregunta", "вопрос"]
ANSWERS = ["Response", "answer", "ANTWORT", "réponse", "risposta", "回答"]
WORDINGS = ["prompt", "Question Text", "wording", "Fragetext", "domanda"]
TIMES = ["Timestamp", "timestamp", "Zeitstempel", "created at"]
ANY_CASE = (str, str.upper, str.lower, str.title)


@dataclass(frozen=True)
class Table:
    """A table that is fuzzed.

    `names` are the other headings that a column may have, `cased` the columns whose letters and
    blanks do not count; the first `n_headers` rows stay above, and columns stay where `has_order`.
    """

    name: str
    content: bytes
    names: dict[str, list[str]] = field(default_factory=dict)
    cased: tuple[str, ...] = ()
    n_headers: int = 1
    has_order: bool = False
    sign: str = ","
    encoding: str = "utf-8-sig"


def written(rows, sign=","):
    text = io.StringIO()
    csv.writer(text, delimiter=sign).writerows(rows)
    return text.getvalue().encode()


LONG = [
    ["Participant ID", "Item", "prompt", "Response", "Timestamp"],
    *(
        [who, f"q{n}", TABLE[0][1 + n], said, f"2026-03-0{n + 1} 10:00:00"]
        for who, *texts in TABLE[1:]
        for n, said in enumerate(texts)
    ),
]
WIDE = [
    ["Participant ID", "Timestamp", "Age", *TABLE[0][1:], "Any comments?"],
    *(
        [who, f"2026-03-0{n + 1} 10:00:00", str(20 + n), *texts, "none at all, thank you"]
        for n, (who, *texts) in enumerate(TABLE[1:])
    ),
]
DOCUMENTS = f"id,text,label,Comments\n1,{test_tools.CAUSE},{test_tools.MOON},[]\n2,b c d,x,[]\n"
QUALTRICS = tuple(name for name in exports.QUALTRICS_COLUMNS if name not in ("Q1", "Q2", "Q3"))

TABLES = {
    "own": Table(
        "a.csv", written([["worker", "question", "answer"], ["a", "1", "x"], ["b", "1", "y"]])
    ),
    "long": Table(
        "a.csv",
        written(LONG),
        {
            "Participant ID": WORKERS,
            "Item": ITEMS,
            "Response": ANSWERS,
            "prompt": WORDINGS,
            "Timestamp": TIMES,
        },
    ),
    "wide": Table(
        "a.csv",
        written(WIDE),
        {"Participant ID": WORKERS, "Timestamp": TIMES, "Age": ["age", "AGE", "Alter", "edad"]},
    ),
    "prolific": Table("a.csv", exports.survey_of_prolific(), cased=("PROLIFIC_PID", "Timestamp")),
    "qualtrics": Table("a.csv", exports.qualtrics(), cased=QUALTRICS, n_headers=3),
    "qualtrics tsv": Table(
        "a.tsv", exports.qualtrics_tsv(), n_headers=3, sign="\t", encoding="utf-16"
    ),
    "mturk": Table(
        "a.csv", MTURK, cased=("HITId", "WorkerId", "AssignmentStatus", "WorkTimeInSeconds")
    ),
    "label-studio": Table(
        "a.csv", exports.label_studio_csv(), cased=("annotator", "annotation_id", "id", "lead_time")
    ),
    "potato": Table("a.tsv", exports.potato_tsv(), sign="\t"),
    "doccano": Table("ana.csv", DOCUMENTS.encode()),
    "psiturk": Table("a.csv", test_tools.PSITURK.encode(), n_headers=0, has_order=True),
    "psiturk trials": Table(
        "a.csv", test_tools.PSITURK_TRIALS.encode(), n_headers=0, has_order=True
    ),
    "otree": Table("a.csv", test_tools.OTREE.encode()),
    "otree app": Table("a.csv", test_tools.OTREE_APP.encode()),
}
OBJECTS = {
    "own": test_tools.OWN,
    "argilla": test_tools.ARGILLA,
    "argilla v1": test_tools.ARGILLA_V1,
    "argilla flat": test_tools.ARGILLA_FLAT,
    "argilla hub": test_tools.ARGILLA_HUB,
    "doccano": test_tools.DOCCANO,
    "doccano old": test_tools.DOCCANO_OLD,
    "potato state": [test_tools.STATE],
    "jspsych": test_tools.TRIALS,
    "jspsych 6": test_tools.TRIALS_V6,
    "label-studio": json.loads(exports.label_studio()),
    "long": [dict(zip(LONG[0], row, strict=True)) for row in LONG[1:]],
}


def read(name, content):
    """Return the answers as triples, the wordings, and how many rows were left out."""
    arranged = locate_table(make_bytes_source(name, content))
    head = read_head(arranged.source)
    preset = recognise_preset(head)
    mapping = propose_mapping(preset, head, arranged.source)
    refuse_incomplete_mapping(preset, mapping, head)
    rows = open_answer_rows(arranged.source, preset, mapping)
    found = sorted((one.worker, one.question, one.text) for one, _ in rows)
    rows.raise_problems()
    wordings = {name: asked.text for name, asked in rows.questions.items()}
    return preset.slug, found, wordings, sorted(getattr(rows, "skipped", {}).items())


def respelled(draw, table, heading):
    if heading in table.names:
        return draw(st.sampled_from(table.names[heading]))
    if heading not in table.cased:
        return heading
    sign = draw(st.sampled_from(["", " "] if " " in heading else [""]))
    return draw(st.sampled_from(ANY_CASE))(heading.replace(" ", sign or " "))


def fuzzed(draw, table):
    rows = list(csv.reader(io.StringIO(table.content.decode(table.encoding)), delimiter=table.sign))
    headers, data = rows[: table.n_headers], rows[table.n_headers :]
    data = draw(st.permutations([row for row in data if row]))
    width = len(rows[0])
    order = range(width) if table.has_order else draw(st.permutations(range(width)))
    if headers:
        headers = [[respelled(draw, table, name) for name in headers[0]], *headers[1:]]
    # Mechanical Turk ends rows before the columns that only reviewers fill.
    rows = [[*row, *[""] * (width - len(row))] for row in [*headers, *data]]
    return written([[row[at] for at in order] for row in rows], table.sign)


def shuffled(draw, value):
    """Return JSON with the keys of its objects in another order."""
    if isinstance(value, dict):
        keys = draw(st.permutations(list(value)))
        return {key: shuffled(draw, value[key]) for key in keys}
    return [shuffled(draw, one) for one in value] if isinstance(value, list) else value


FUZZ = settings(
    max_examples=10, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True
)


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
@FUZZ
@given(data=st.data())
def test_columns_rows_and_headings_of_a_table_in_any_order_and_spelling(table, data):
    right = read(table.name, table.content)
    assert read(table.name, fuzzed(data.draw, table)) == right


@pytest.mark.parametrize("records", OBJECTS.values(), ids=OBJECTS)
@FUZZ
@given(data=st.data())
def test_objects_and_their_keys_in_any_order(records, data):
    right = read("ana.json", json.dumps(records).encode())
    order = data.draw(st.permutations(records))
    found = [shuffled(data.draw, one) for one in order]
    assert read("ana.json", json.dumps(found).encode()) == right
    lines = "".join(f"{json.dumps(one)}\n" for one in found)
    assert read("ana.jsonl", lines.encode()) == right
