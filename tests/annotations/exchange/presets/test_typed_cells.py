"""Ids that were stored as decimals and answers of rich-text fields, in files of all kinds."""

import json

import pytest

from annotations.exchange.conversion import convert_survey_export
from annotations.exchange.presets import get_preset, propose_mapping, read_head, recognise_preset
from annotations.exchange.presets.demographics import DemographicMapping, read_demographics
from annotations.exchange.presets.rows import open_answer_rows
from annotations.exchange.problem_messages import PROBLEM_MESSAGES
from annotations.exchange.reading.outside_information import AnchorRecord
from annotations.exchange.reading.source import make_bytes_source
from annotations.exchange.whole_ids import KnownIdReader, WholeIdReader
from tests.annotations.exchange.presets.test_survey_tools import BREAD, SALT, read, table

TYPED = {
    ("101", BREAD): ("<p>The <b>yeast</b> makes a gas</p>", "The yeast makes a gas"),
    ("101", SALT): ("It lowers<br>the melting point", "It lowers\nthe melting point"),
    ("102", BREAD): ("Yeast &amp; sugar, I believe", "Yeast & sugar, I believe"),
    ("102", SALT): ("Use <script> or a < b for it", "Use <script> or a < b for it"),
}
"""Answers as typed and as read. Three of the four change."""
CHANGED = 3
OWN = ("worker", "question", "answer")


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
    mapping = propose_mapping(preset, head, source).replace_roles(roles, head.header, name)
    found = open_answer_rows(source, preset, mapping)
    records = [(record.worker, record.question, record.text) for record, _ in found]
    found.raise_problems()
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


@pytest.mark.parametrize("last", ["103.5", "007.0", "p1", "1.0E2"])
def test_ids_stay_as_typed_if_one_is_no_such_decimal(last):
    content = table(
        ["Participant ID", BREAD, SALT],
        *[[f"{at}.0", f"It makes a gas {at}", f"It melts the ice {at}"] for at in range(300)],
        [last, "Yeast eats the sugar in it", "So that it is safe"],
    )
    found, records = read_all("survey.csv", content)
    assert {worker for worker, _, _ in records} == {last, *(f"{at}.0" for at in range(300))}
    assert found.whole_ids.notes == []


def read_ids(*cells, **options):
    """Return the reader of a column of ids, and its ids as read."""
    ids = WholeIdReader({"id": 0}, lambda: [(cell,) for cell in cells], **options)
    return ids, [ids.read_id((cell,), 0) for cell in cells]


def test_the_file_is_read_again_only_if_an_id_is_a_decimal():
    def refuse():
        raise AssertionError("read again")

    ids = WholeIdReader({"id": 0}, refuse)
    assert [ids.read_id((cell,), 0) for cell in ("7", "p8", "7.5", "")] == ["7", "p8", "7.5", ""]
    assert ids.notes == []
    ids, read_as = read_ids("7.0", "", "9.0")
    assert read_as == ["7", "", "9"]
    assert "2" in ids.notes[0]
    # A header row that is repeated in the file holds no id.
    ids, read_as = read_ids("id", "7.0", is_skipped=lambda cells: cells == ("id",))
    assert read_as == ["id", "7"]


MIXED = ("101", "101.0", " 102 ", "", "103,0", "101.0")
"""Three rows with a decimal ending, two without, one empty."""


@pytest.mark.parametrize(
    ("cells", "options", "code", "read_as"),
    [
        (MIXED, {}, "ids_mixed", ["101", "101", " 102 ", "", "103", "101"]),
        (MIXED, {"keeps": True}, "ids_mixed_as_typed", list(MIXED)),
        ((*MIXED, "p1"), {}, "ids_mixed_with_texts", [*MIXED, "p1"]),
    ],
)
def test_a_column_with_and_without_decimals_is_named_in_one_note(cells, options, code, read_as):
    ids, found = read_ids(*cells, **options)
    assert found == read_as
    values = {"n_decimal": 3, "n_whole": 2, "n_other": 1, "typed": "101.0", "whole": "101"}
    reason, remedy, _ = PROBLEM_MESSAGES[code].texts({"column": "id", **values})
    assert ids.notes == [f"{reason}. {remedy}"]


def test_texts_with_a_decimal_among_them_have_no_note():
    assert read_ids("p1", "7.0")[0].notes == []
    # All ids are decimals, and stay so at the user's wish.
    assert read_ids("7.0", "8.0", keeps=True)[0].notes == []


HALVES = [["101", BREAD, "Yeast makes gas"], ["101.0", SALT, "Ice melts at once"]]
"""Two answers of one worker, whose id a spreadsheet stored in two ways."""


@pytest.mark.parametrize("names", [["Participant ID", "Item", "Response"], list(OWN)])
@pytest.mark.parametrize(("keep", "workers"), [(False, {"101"}), (True, {"101", "101.0"})])
def test_a_worker_in_two_spellings_is_one_unless_ids_are_kept(tmp_path, names, keep, workers):
    source = make_bytes_source("answers.csv", table(names, *HALVES))
    head = read_head(source)
    preset = get_preset(recognise_preset(head).slug, keep_ids=keep)
    mapping = propose_mapping(preset, head, source)
    notes = convert_survey_export(source, tmp_path / "out.csv", preset=preset, mapping=mapping)
    rows = (tmp_path / "out.csv").read_text().splitlines()[1:]
    assert {row.split(",")[0] for row in rows} == workers
    # One row with the ending and one without, of the worker's column.
    (note,) = [note for note in notes if "--keep-ids" in note]
    values = {"n_decimal": 1, "n_whole": 1, "typed": "101.0", "whole": "101"}
    message = PROBLEM_MESSAGES["ids_mixed_as_typed" if keep else "ids_mixed"]
    assert note.startswith(message.texts({"column": names[0], **values})[0])


def test_demographics_join_ids_of_both_spellings():
    content = table(["Participant id", "Age"], ["101.0", "31"], ["102", "45"])
    mapping = DemographicMapping(worker="Participant id", extra=("Age",))
    file = read_demographics(make_bytes_source("people.csv", content), mapping)
    assert {who: row.cells["Age"] for who, row in file.rows.items()} == {"101": "31", "102": "45"}
    kept = read_demographics(make_bytes_source("people.csv", content), mapping, keep_ids=True)
    assert set(kept.rows) == {"101.0", "102"}


def test_an_export_of_our_own_is_read_as_it_is(tmp_path):
    name, content = long(["worker", "question", "answer"])
    (tmp_path / name).write_bytes(content)
    source = make_bytes_source(name, content)
    preset = get_preset("own", keep_html=True)
    mapping = propose_mapping(preset, read_head(source), source)
    output = tmp_path / "own.csv"
    convert_survey_export(source, output, preset=preset, mapping=mapping)
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


def test_records_of_a_joined_file_get_the_ids_of_the_answers():
    known = KnownIdReader([("101", "7"), ("102.0", "q8")], keeps=False)
    records = [
        AnchorRecord(2, "101.0", "7.0", 1.0),
        # As typed it is known, or no form of it is.
        AnchorRecord(3, "102.0", "q8", 0.5),
        AnchorRecord(4, "103.0", "9.0", 0.0),
    ]
    matched = known.match_record_ids(records)
    assert [(one.worker, one.question) for one in matched] == [
        ("101", "7"),
        ("102.0", "q8"),
        ("103.0", "9.0"),
    ]
    assert matched[1] is records[1]
    kept = KnownIdReader([("101", "7")], keeps=True)
    assert kept.match_record_ids(records) == records
