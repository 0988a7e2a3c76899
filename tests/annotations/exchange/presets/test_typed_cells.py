"""Ids that were stored as decimals and answers of rich-text fields, in files of all kinds."""

import json

import pytest

from annotations.exchange.conversion import convert
from annotations.exchange.presets import get_preset, propose_mapping, read_head, recognise_preset
from annotations.exchange.presets.demographics import DemographicMapping, read_demographics
from annotations.exchange.presets.rows import open_rows
from annotations.exchange.presets.whole_ids import WholeIds
from annotations.exchange.reading.source import make_bytes_source
from tests.annotations.exchange.presets.test_survey_tools import BREAD, SALT, read, table

TYPED = {
    ("101", BREAD): ("<p>The <b>yeast</b> makes a gas</p>", "The yeast makes a gas"),
    ("101", SALT): ("It lowers<br>the melting point", "It lowers\nthe melting point"),
    ("102", BREAD): ("Yeast &amp; sugar, I believe", "Yeast & sugar, I believe"),
    ("102", SALT): ("Use <script> or a < b for it", "Use <script> or a < b for it"),
}
"""Answers as typed and as read. Three of the four change."""
CHANGED = 3


def wide(ending=".0"):
    people = [
        [f"{who}{ending}", *(TYPED[who, asked][0] for asked in (BREAD, SALT))]
        for who in ("101", "102")
    ]
    return "survey.csv", table(["Participant ID", BREAD, SALT], *people)


def long(names, ending=".0"):
    cells = [[f"{who}{ending}", asked, TYPED[who, asked][0]] for who, asked in TYPED]
    return "answers.csv", table(names, *cells)


def lines():
    records = [
        {"worker": float(who), "question": asked, "answer": TYPED[who, asked][0]}
        for who, asked in TYPED
    ]
    return "answers.jsonl", "\n".join(map(json.dumps, records)).encode()


FILES = {
    "wide": wide(),
    "wide, decimal comma": wide(",0"),
    "long": long(["Participant ID", "Item", "Response"]),
    "our own form": long(["worker", "question", "answer"]),
    "our own form in JSON Lines": lines(),
}


def read_all(name, content, *roles, **options):
    """Return the reader of a file, and its answers as (worker, question, text)."""
    source = make_bytes_source(name, content)
    head = read_head(source)
    preset = get_preset(recognise_preset(head).slug, **options)
    mapping = propose_mapping(preset, head, source).changed(roles, head.header, name)
    found = open_rows(source, preset, mapping)
    records = [(record.worker, record.question, record.text) for record, _ in found]
    found.finish()
    return found, records


@pytest.mark.parametrize("name", FILES)
def test_ids_are_whole_numbers_and_answers_plain_texts(name):
    found, records = read_all(*FILES[name])
    assert records == [(*pair, plain) for pair, (_, plain) in TYPED.items()]
    assert found.formatting.n_formatted == CHANGED
    # Two ids of workers, as a sentence each for the ids and for the answers.
    assert len(found.whole_ids.notes) == 1
    assert [note for note in found.notes if "--keep-html" in note] == found.formatting.notes


@pytest.mark.parametrize("name", FILES)
def test_html_stays_if_it_is_to_stay(name):
    found, records = read_all(*FILES[name], keep_html=True)
    assert records == [(*pair, typed) for pair, (typed, _) in TYPED.items()]
    assert found.formatting.n_formatted == CHANGED


@pytest.mark.parametrize("last", ["103", "103.5", "007.0", "p1", "1.0E2"])
def test_ids_stay_as_typed_if_one_is_no_such_decimal(last):
    content = table(
        ["Participant ID", BREAD, SALT],
        *[[f"{at}.0", f"It makes a gas {at}", f"It melts the ice {at}"] for at in range(300)],
        [last, "Yeast eats the sugar in it", "So that it is safe"],
    )
    found, records = read_all("survey.csv", content)
    assert {worker for worker, _, _ in records} == {last, *(f"{at}.0" for at in range(300))}
    assert found.whole_ids.notes == []


def test_the_file_is_read_again_only_if_its_first_ids_are_decimals():
    def refuse():
        raise AssertionError("read again")

    ids = WholeIds({"id": 0}, [("7.0",), ("8",)], refuse)
    assert ids.read(("7.0",), 0) == "7.0"
    ids = WholeIds({"id": 0}, [("7.0",), ("",)], lambda: [("7.0",), ("",), ("9.0",)])
    assert [ids.read((cell,), 0) for cell in ("7.0", "", "9.0")] == ["7", "", "9"]
    assert "2" in ids.notes[0]
    # A header row that is repeated in the file holds no id.
    again = [("id",), ("7.0",)]
    ids = WholeIds({"id": 0}, again, lambda: again, lambda cells: cells == ("id",))
    assert ids.read(("7.0",), 0) == "7"


def test_an_export_of_our_own_is_read_as_it_is(tmp_path):
    name, content = long(["worker", "question", "answer"])
    (tmp_path / name).write_bytes(content)
    source = make_bytes_source(name, content)
    preset = get_preset("own", keep_html=True)
    mapping = propose_mapping(preset, read_head(source), source)
    output = tmp_path / "own.csv"
    convert(source, output, preset=preset, mapping=mapping)
    found, records = read_all("own.csv", output.read_bytes())
    assert records == [(*pair, typed) for pair, (typed, _) in TYPED.items()]
    assert found.formatting.notes == []


def test_wordings_and_attention_checks_lose_their_html():
    header = ["participant", "question_id", "question_text", "answer"]
    cells = [
        [who, f"q{asked}", f"<p>{text}</p>", f"<p>{who} thinks of yeast</p>"]
        for who in ("ann", "bob")
        for asked, text in enumerate((BREAD, SALT))
    ]
    _, found, _, _ = read("answers.csv", table(header, *cells))
    assert found == {
        (who, asked): f"{who} thinks of yeast" for who in ("ann", "bob") for asked in (BREAD, SALT)
    }
    people = [["a1", "Yeast makes a gas in it", "<p>Blue</p>"], ["a2", "It is the heat", "red"]]
    content = table(["Participant ID", BREAD, "colour"], *people)
    found, _ = read_all("survey.csv", content, "check=colour=Blue")
    assert found.passed["colour"] == {"a1": True, "a2": False}


def test_participants_of_a_demographic_export_are_whole_numbers_too():
    content = table(["Participant id", "Age"], ["101.0", "31"], ["102.0", "45"])
    mapping = DemographicMapping("Participant id", "", ("Age",))
    file = read_demographics(make_bytes_source("people.csv", content), mapping)
    assert {who: row.cells for who, row in file.rows.items()} == {
        "101": {"Age": "31"},
        "102": {"Age": "45"},
    }
    assert len(file.warnings) == 1
