from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from annotations.exchange import read_answers, read_model_answers
from annotations.exchange.ids import is_blank
from tests.annotations.exchange.files import HEADER, check_fault, fault, write, write_jsonl

MODELS = "model,question,answer,status\n"


def test_an_unknown_ending_lists_the_accepted_ones(tmp_path):
    for name in ("a.txt", "a.xls", "a.json", "a.csv.gz", "a.ods", "a"):
        check_fault(
            write(tmp_path, HEADER + "w1,q1,yes\n", name),
            "ending_unknown",
            accepted=", ".join([".csv", ".tsv", ".jsonl", ".ndjson", ".xlsx"]),
            ending=Path(name).suffix or "(none)",
        )


def test_rows_are_counted_from_zero_and_order_is_kept(tmp_path):
    file = read_answers(write(tmp_path, HEADER + "w2,q1,b\nw1,q1,a\nw2,q1,b\nw1,q0,c\n"))
    assert [(r.row, r.worker, r.question) for r in file.records] == [
        (0, "w2", "q1"),
        (1, "w1", "q1"),
        (3, "w1", "q0"),
    ]
    assert (file.name, file.n_rows, file.n_repeated, file.n_empty) == ("answers.csv", 4, 1, 0)


def test_ids_are_trimmed_composed_and_otherwise_left_alone(tmp_path):
    path = write(tmp_path, HEADER + " 007 ,\u00a0q1,a\nAnn,e\u0301,b\nann,\u00e9,c\n7,q1,d\n")
    assert [(r.worker, r.question) for r in read_answers(path).records] == [
        ("007", "q1"),
        ("Ann", "\u00e9"),
        ("ann", "\u00e9"),
        ("7", "q1"),
    ]


def test_ids_that_differ_only_in_trimming_or_composition_are_the_same(tmp_path):
    path = write(tmp_path, HEADER + "e\u0301,q1,a\n \u00e9 ,q1 ,b\n")
    check_fault(path, "answers_differ", first_line=2)


def test_every_missing_id_is_told_with_its_line(tmp_path):
    error = fault(write(tmp_path, HEADER + ",q1,a\nw1,  ,b\n,,c\nw2,q1,d\n"))
    assert [(p.line, p.column) for p in error.problems] == [
        (2, "worker"),
        (3, "question"),
        (4, "worker"),
        (4, "question"),
    ]
    assert [(p.code, p.values["name"]) for p in error.problems] == [
        ("id_missing", p.column) for p in error.problems
    ]


def test_a_repeated_answer_with_the_same_text_is_counted_and_the_first_stays(tmp_path):
    path = write(tmp_path, HEADER + "w1,q1,caf\u00e9\nw1,q1, cafe\u0301 \nw1,q1,caf\u00e9\n")
    file = read_answers(path)
    assert [(r.row, r.text) for r in file.records] == [(0, "caf\u00e9")]
    assert (file.n_rows, file.n_repeated) == (3, 2)


def test_the_text_is_kept_as_written(tmp_path):
    path = write(tmp_path, HEADER + "w1,q1,  cafe\u0301  \n")
    assert read_answers(path).records[0].text == "  cafe\u0301  "


def test_an_answer_of_nothing_but_white_space_is_empty_and_counted(tmp_path):
    rows = enumerate(["", "   ", "\u00a0\u2003", '"\n\t"', "I don't know"])
    path = write(tmp_path, HEADER + "".join(f"w{n},q1,{text}\n" for n, text in rows))
    file = read_answers(path)
    assert [record.text for record in file.records] == ["", "", "", "", "I don't know"]
    assert (file.n_empty, file.n_rows) == (4, 5)


def test_a_path_may_be_plain_text(tmp_path):
    assert read_answers(str(write(tmp_path, HEADER + "w1,q1,a\n"))).n_rows == 1


def test_every_status_is_accepted_with_and_without_text_where_that_makes_sense(tmp_path):
    rows = [
        ("text", "a", "text"),
        ("", "a", "text"),
        ("text", " ", "empty"),
        ("", "", "empty"),
        ("empty", "", "empty"),
        ("refused", "No.", "refused"),
        (" REFUSED ", "", "refused"),
        ("refused_prompt", "", "refused_prompt"),
        ("refused_generation", "As I", "refused_generation"),
        ("error", "", "error"),
        ("error", "timeout", "error"),
    ]
    content = MODELS + "".join(f"m,q{i},{a},{s}\n" for i, (s, a, _) in enumerate(rows))
    file = read_model_answers(write(tmp_path, content))
    assert [r.status for r in file.records] == [status for _, _, status in rows]
    assert file.n_empty == 3


def test_a_file_without_status_has_text_and_empty(tmp_path):
    path = write_jsonl(
        tmp_path,
        {"model": "m", "question": 1, "answer": "a"},
        {"model": "m", "question": 2, "answer": None},
    )
    records = read_model_answers(path).records
    assert [(r.question, r.status) for r in records] == [("1", "text"), ("2", "empty")]


def test_a_repeated_model_answer_is_counted_by_its_status_in_effect(tmp_path):
    file = read_model_answers(write(tmp_path, MODELS + "m,q1,,\nm,q1, ,EMPTY\nm,q2,a,\n"))
    assert (file.n_rows, len(file.records), file.n_repeated, file.n_empty) == (3, 2, 1, 1)


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from("ab"), st.sampled_from("xyz"), st.sampled_from(["", " ", "t"]))
    ).filter(len)
)
def test_counts_in_are_counts_out(tmp_path_factory, rows):
    # One text for each worker and question, so that there are repetitions and no contradictions.
    given_texts: dict[tuple[str, str], str] = {}
    lines = [(w, q, given_texts.setdefault((w, q), t)) for w, q, t in rows]
    path = tmp_path_factory.mktemp("counts") / "answers.csv"
    path.write_text(HEADER + "".join(",".join(line) + "\n" for line in lines))
    file = read_answers(path)
    assert file.n_rows == len(rows) == len(file.records) + file.n_repeated
    assert len(file.records) == len(given_texts)
    assert file.n_empty == sum(map(is_blank, given_texts.values()))
