"""What may come in, and what is refused with one clear line and exit code 2."""

import codecs
import json
import shlex

import numpy as np
import openpyxl
import pytest

from annotations.exchange.facts import FACTS
from annotations.exchange.header import OF_ANSWERS, ColumnNames
from annotations.exchange.markup import FormattingReader
from annotations.exchange.problem_messages import PROBLEM_MESSAGES
from annotations.exchange.reading.duplicates import Duplicates, describe_superseded
from evaluation.runs.files.answers import read_worker_answers
from tests.annotations.exchange.presets.exports import SUBMISSIONS
from tests.annotations.exchange.presets.test_presets import FILES
from tests.evaluation.commands.crowd import (
    QUESTIONS,
    WORKERS,
    answer_rows,
    summary_of,
    table,
    write_csv,
)
from tests.evaluation.commands.running import evaluate, manage

HEADER = ("worker", "question", "answer")


def with_accents(rows):
    return [(worker.replace("Ana", "Añá"), question, text) for worker, question, text in rows]


def as_jsonl(path, rows):
    lines = [json.dumps(dict(zip(HEADER, row, strict=True)), ensure_ascii=False) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def as_xlsx(path, rows):
    book = openpyxl.Workbook()
    for row in (HEADER, *rows):
        book.active.append(row)
    book.save(path)


def as_tsv(path, rows):
    path.write_text(
        "\n".join("\t".join('"' + cell + '"' for cell in row) for row in (HEADER, *rows)), "utf-8"
    )


FORMATS = {
    "csv": lambda path, rows: write_csv(path, HEADER, rows),
    "csv with byte order mark": lambda path, rows: write_csv(path, HEADER, rows, "utf-8-sig"),
    "csv in cp1252": lambda path, rows: write_csv(path, HEADER, rows, "cp1252"),
    "csv in UTF-16": lambda path, rows: write_csv(path, HEADER, rows, "utf-16"),
    "tsv": as_tsv,
    "jsonl": as_jsonl,
    "xlsx": as_xlsx,
}


@pytest.mark.parametrize("form", FORMATS)
def test_the_same_answers_get_the_same_grades_from_every_format(tmp_path, output, form):
    rows = with_accents(answer_rows())
    path = tmp_path / f"answers.{form.split()[0]}"
    FORMATS[form](path, rows)
    ran = evaluate(path, "--embedder=tfidf-char", "--bootstrap=0", "--output", output)
    assert (ran.code, ran.err) == (0, "")
    plain = tmp_path / "plain.csv"
    write_csv(plain, HEADER, rows)
    evaluate(plain, "--embedder=tfidf-char", "--bootstrap=0", "--output", tmp_path / "plain")
    assert table(output / "workers.csv") == table(tmp_path / "plain" / "workers.csv")
    assert table(output / "exemplars.csv") == table(tmp_path / "plain" / "exemplars.csv")
    assert table(output / "workers.csv")[0]["worker"] == "Añá"


def test_text_that_a_spreadsheet_takes_for_a_formula_comes_out_as_it_went_in(tmp_path, output):
    rows = [
        (f"{sign}{worker}", question, f"{sign}1 + {worker} for {question}")
        for worker, sign in zip("abcd", "=+-@", strict=True)
        for question in ("q1", "=q2")
    ]
    answers = write_csv(tmp_path / "signs.csv", HEADER, rows)
    assert evaluate(answers, "--embedder=tfidf-char", "--output", output).code == 0
    assert [row["worker"] for row in table(output / "workers.csv")] == ["=a", "+b", "-c", "@d"]
    texts = {text for _, _, text in rows}
    assert {row["nearest_answer"] for row in table(output / "exemplars.csv")} <= texts


def test_columns_of_other_names_are_found_by_columns(tmp_path, output):
    rows = [(*row, "kept aside") for row in answer_rows()]
    answers = write_csv(tmp_path / "panel.csv", ("Prolific ID", "item", "Text, free", "note"), rows)
    models = write_csv(
        tmp_path / "llms.csv", ("system", "question", "answer"), [("m", "q1", "the moon")]
    )
    names = '"answer=Text, free",worker=Prolific ID,question=item,model=system'
    ran = evaluate(
        answers, "--models", models, "--columns", names, "--embedder=bow", "--output", output
    )
    assert (ran.code, ran.err) == (0, "")
    assert table(output / "models.csv")[0]["model"] == "m"


@pytest.mark.slow
def test_a_very_long_id_does_not_cost_its_length_in_every_row(tmp_path, output):
    rows = [(f"w{number}", f"q{number % 500}", f"answer {number % 7}") for number in range(5000)]
    rows.append(("x" * 100_000, "q1", "answer 1"))
    answers = write_csv(tmp_path / "long.csv", HEADER, rows)
    ran = evaluate(answers, "--embedder=tfidf-char", "--bootstrap=0", "--output", output)
    assert ran.code == 0
    # A warning is one line; the id has 100,000 characters.
    assert max(map(len, ran.out.splitlines())) < 400
    assert len(table(output / "workers.csv")) == 5001


BAD = [
    (b"worker,question,text\na,q,x\n", ["line 1", "answer", "--columns answer=NAME"]),
    (b"worker,question,answer\na,q,\n", ["every answer is empty"]),
    (codecs.BOM_UTF16_LE + b"w\x00o", ["bad.csv"]),
]


@pytest.mark.parametrize(
    ("content", "said"), BAD, ids=lambda v: " ".join(v) if isinstance(v, list) else ""
)
def test_a_bad_file_is_refused_with_its_place_and_a_remedy(tmp_path, output, content, said):
    path = tmp_path / "bad.csv"
    path.write_bytes(content)
    ran = evaluate(path, "--embedder=bow", "--output", output)
    assert ran.code == 2
    assert "bad.csv" in ran.err
    assert all(part in ran.err for part in said), ran.err
    assert "Traceback" not in ran.err
    assert not output.exists()


def test_a_file_that_is_not_there_or_no_workbook_is_refused(tmp_path, output):
    (tmp_path / "no.xlsx").write_text("worker,question,answer\n")
    for name, said in (("no.csv", "there is no file"), ("no.xlsx", "no XLSX workbook")):
        ran = evaluate(tmp_path / name, "--output", output)
        assert ran.code == 2
        assert said in ran.err
        assert not output.exists()


def test_all_bad_rows_are_told_at_once(tmp_path, output):
    path = write_csv(
        tmp_path / "bad.csv", HEADER, [("", "q", "x"), ("a", "q", "x"), ("a", "", "y")]
    )
    ran = evaluate(path, "--output", output)
    assert [
        line.partition(": ")[0] for line in ran.err.replace("CommandError: ", "").splitlines()
    ] == [
        "bad.csv, line 2, column worker",
        "bad.csv, line 4, column question",
    ]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--embedder=word2vec"], "'word2vec' "),
        (["--embedder=precomputed:"], "'precomputed:' "),
        (["--embedder=openai:model"], "openai:MODEL@URL"),
        (["--similarity=dot"], "invalid choice: 'dot'"),
        (["--init=entailment"], "--nli NAME"),
        (["--nli=some-model", "--no-facts"], "--init entailment"),
        (["--nli=./no-such-folder"], "no folder ./no-such-folder"),
        (["--init=entailment", "--nli=./no-such-folder"], "no folder ./no-such-folder"),
        (["--aggregation=majority"], "--embedder bow"),
        (["--embedder=bow", "--precision=bfloat16"], "no bfloat16"),
        (["--embedder=precomputed:x.npz", "--precision=bfloat16"], "keep their own"),
        (["--tolerance=-1"], "-1"),
        (["--tolerance=nan"], "nan"),
        (["--max-iterations=0"], "less than 1"),
        (["--bootstrap=1"], "argument --bootstrap: "),
        (["--bootstrap=1000000000000"], "more than 100000"),
        (["--seed=one"], "no whole number"),
        (["--columns=person=X"], "unknown column 'person'"),
        (["--no-such-switch"], "unrecognized arguments"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_usage_is_refused_with_code_2(crowd, output, arguments, said):
    ran = evaluate(crowd.answers, *arguments, "--output", output)
    assert ran.code == 2
    assert said in ran.err
    assert "Traceback" not in ran.err
    assert not output.exists()


def test_an_output_folder_and_answers_must_be_named(crowd, output):
    assert evaluate(crowd.answers).code == 2
    assert evaluate("--output", output).code == 2


def changed(crowd, tmp_path, **arrays):
    with np.load(crowd.vectors) as file:
        kept = {name: file[name] for name in file.files}
    path = tmp_path / "changed.npz"
    np.savez(path, **{k: v for k, v in {**kept, **arrays}.items() if v is not None})
    return path, kept


def refused(crowd, output, path, *arguments):
    ran = evaluate(
        crowd.answers,
        f"--models={crowd.models}",
        f"--embedder=precomputed:{path}",
        f"--output={output}",
        *arguments,
    )
    assert ran.code == 2
    assert str(path) in ran.err
    assert "Traceback" not in ran.err
    assert not output.exists()
    return ran.err


def test_a_vector_that_is_not_finite_is_named_by_row_and_line(crowd, tmp_path, output):
    path, kept = changed(crowd, tmp_path)
    kept["answers"][9, 3] = np.inf
    np.savez(path, **kept)
    # Answers take two lines in the file; the empty one before this row takes one.
    said = refused(crowd, output, path)
    assert "array 'answers', row 9 (the first is 0)" in said
    assert "crowd.csv, line 19" in said
    kept["answers"][9, 3] = 0
    kept["models"][4, 0] = np.nan
    np.savez(path, **kept)
    said = refused(crowd, output, path)
    assert "array 'models', row 4 (the first is 0)" in said
    assert "llms.csv, line 6" in said


def test_vectors_of_a_wrong_count_or_shape_are_refused(crowd, tmp_path, output):
    path, kept = changed(crowd, tmp_path, answers=np.zeros((29, 8)))
    assert "has 29 rows, crowd.csv has 30 data rows" in refused(crowd, output, path)
    path, _ = changed(crowd, tmp_path, models=np.zeros((1, 8)))
    assert "has 1 rows, llms.csv has 9 data rows" in refused(crowd, output, path)
    path, _ = changed(crowd, tmp_path, models=None)
    assert "no array 'models'" in refused(crowd, output, path)
    path, _ = changed(crowd, tmp_path, models=kept["models"][:, :3])
    assert "dimensions" in refused(crowd, output, path)
    path, _ = changed(crowd, tmp_path, answers=np.array([{}] * 30, dtype=object))
    assert "never unpickled" in refused(crowd, output, path)


def test_vectors_that_the_method_cannot_use_are_refused(crowd, tmp_path, output):
    path, kept = changed(crowd, tmp_path)
    said = refused(crowd, output, path, "--aggregation=majority")
    assert "zeros and ones" in said
    changed(crowd, tmp_path, answers=kept["answers"] * 1e200)
    assert "beyond 1e+150" in refused(crowd, output, path, "--similarity=euclidean")


def test_the_scale_of_vectors_changes_nothing_under_cosine(crowd, tmp_path):
    grades = []
    for factor in (1.0, 1e200, 1e-200):
        path, kept = changed(crowd, tmp_path)
        np.savez(path, answers=kept["answers"] * factor)
        output = tmp_path / f"out{factor:g}"
        ran = evaluate(
            crowd.answers, f"--embedder=precomputed:{path}", "--bootstrap=0", "--output", output
        )
        assert ran.code == 0, ran.err
        grades.append([float(row["grade"]) for row in table(output / "workers.csv")])
    np.testing.assert_allclose(grades[1:], [grades[0]] * 2, atol=1e-12)


def test_rows_without_a_text_may_hold_any_vector(crowd, output):
    # The crowd's vectors are not finite for the empty, the repeated and the refused rows.
    with np.load(crowd.vectors) as file:
        assert not np.isfinite(file["answers"]).all()
        assert not np.isfinite(file["models"]).all()
    ran = evaluate(
        crowd.answers,
        f"--models={crowd.models}",
        f"--embedder=precomputed:{crowd.vectors}",
        f"--output={output}",
    )
    assert (ran.code, ran.err) == (0, "")
    assert summary_of(output)["counts"]["repeated_rows"] == 1


def test_control_characters_in_ids_do_not_reach_the_terminal(tmp_path, output):
    rows = [(f"\x1b[31m{w}", q, f"{w} {q} words") for w in ("aa", "bb", "cc") for q in ("q1", "q2")]
    path = tmp_path / "ids.jsonl"
    as_jsonl(path, rows)
    ran = evaluate(path, "--embedder=bow", "--output", output)
    assert "\x1b" not in ran.out
    assert table(output / "workers.csv")[0]["worker"] == "[31maa"
    as_jsonl(path, [*rows, (*rows[0][:2], "other words")])
    ran = evaluate(path, "--embedder=bow", "--output", output)
    assert ran.code == 2
    assert "\x1b" not in ran.err


def test_of_two_answers_of_one_worker_the_chosen_one_is_graded_and_counted(tmp_path, output):
    rows = answer_rows()
    worker, question, _ = rows[0]
    again = (worker, question, "something else entirely")
    write_csv(tmp_path / "answers.csv", HEADER, [*rows, again])
    refused = evaluate(tmp_path / "answers.csv", "--output", output, "--embedder", "tfidf-word")
    assert refused.code == 2
    last = (tmp_path / "answers.csv").read_text("utf-8").count("\n")
    assert refused.refusals == (f"answers.csv, line {last}, answers_differ",)
    made = {}
    for which in ("first", "last"):
        where = tmp_path / which
        arguments = ("--output", where, "--embedder", "tfidf-word", "--duplicates", which)
        ran = evaluate(tmp_path / "answers.csv", *arguments)
        assert ran.code == 0, ran.err
        (note,) = describe_superseded(1, Duplicates(which))
        assert note in " ".join(ran.out.split())
        made[which] = summary_of(where)
        assert made[which]["counts"]["superseded_rows"] == 1
        assert made[which]["counts"]["rows"] == len(rows) + 1
        pair = [(row["worker"], row["question"]) for row in table(where / "answers.csv")]
        assert pair.count((worker, question)) == 1
        assert made[which]["parameters"]["duplicates"] == which
    first, last = (table(tmp_path / which / "answers.csv") for which in ("first", "last"))
    assert first != last  # another text was graded
    assert made["first"]["input_hash"] != made["last"]["input_hash"]
    assert made["first"]["signature"] != made["last"]["signature"]


def test_answers_are_graded_without_the_html_of_rich_text_fields(tmp_path):
    # One answer as a rich-text field stores it; another is about HTML and is read as it is.
    # The embedder has words of two letters and more, so "strong" would be a word of the text.
    about = (*answer_rows()[2][:2], "use <script> and a < b")
    plain = [about if row[:2] == about[:2] else row for row in dict.fromkeys(answer_rows())]
    formatted = [(*plain[0][:2], f"<strong>{plain[0][2]}</strong>"), *plain[1:]]
    write_csv(tmp_path / "plain.csv", HEADER, plain)
    write_csv(tmp_path / "formatted.csv", HEADER, formatted)
    made = {}
    for name, *options in (("plain",), ("formatted",), ("formatted", "--keep-html")):
        where = tmp_path / "-".join((name, *options))
        fast = ("--embedder", "tfidf-word", "--bootstrap", "0")
        ran = evaluate(tmp_path / f"{name}.csv", "--output", where, *fast, *options)
        assert ran.code == 0, ran.err
        made[where.name] = table(where / "answers.csv"), summary_of(where), ran.out
    scores = {name: scored for name, (scored, _, _) in made.items()}
    assert scores["plain"] == scores["formatted"]
    assert scores["plain"] != scores["formatted---keep-html"]
    for name, keeps in (("formatted", False), ("formatted---keep-html", True)):
        reader = FormattingReader(keeps)
        reader.read_answer(formatted[0][2])
        _, summary, printed = made[name]
        (note,) = reader.notes
        assert "1, such as" in note
        assert f"{note}." in summary["warnings"]
        assert " ".join(note.split()) in " ".join(printed.split())
        assert summary["parameters"].get("keep_html", False) is keeps
    assert "keep_html" not in made["plain"][1]["parameters"]
    removed, kept = (made[name][1] for name in ("formatted", "formatted---keep-html"))
    assert removed["input_hashes"].keys() ^ kept["input_hashes"].keys() == {"keep_html"}
    assert removed["signature"] != kept["signature"]


def numbered(rows, names, ending=""):
    """Return rows of a table with numbers from 1 in place of the names in their first two cells."""
    return [
        (*(f"{names.index(name) + 1}{ending}" for name in row[:2]), *row[2:])
        for row in dict.fromkeys(rows)
    ]


def test_a_worker_with_and_without_a_decimal_ending_is_one_unless_ids_are_kept(tmp_path):
    names = (*WORKERS, *QUESTIONS, "q7")
    plain = numbered(answer_rows(), names)
    # The first row as a spreadsheet stores it: worker 1.0, question 6.0.
    mixed = [(*(f"{cell}.0" for cell in plain[0][:2]), plain[0][2]), *plain[1:]]
    write_csv(tmp_path / "plain.csv", HEADER, plain)
    write_csv(tmp_path / "mixed.csv", HEADER, mixed)
    # The questions are 6 to 11; m-1 answered the first two of them.
    asked = [("m-1", "6.0", "a moon"), ("m-1", "7.0", "two moons")]
    models = write_csv(tmp_path / "models.csv", ("model", "question", "answer"), asked)
    made = {}
    for name, *options in (("plain",), ("mixed",), ("mixed", "--keep-ids")):
        where = tmp_path / "-".join((name, *options))
        fast = ("--embedder", "tfidf-word", "--bootstrap", "0")
        also = () if options else ("--models", models, "--exclude-workers", "5.0")
        ran = evaluate(tmp_path / f"{name}.csv", "--output", where, *fast, *also, *options)
        assert ran.code == 0, ran.err
        made[where.name] = table(where / "answers.csv"), summary_of(where)
    (plain_scores, of_plain), (mixed_scores, of_mixed), (kept_scores, of_kept) = made.values()
    assert plain_scores == mixed_scores
    # Five workers; with 1.0 as another one six.
    assert [made["counts"]["workers"] for made in (of_plain, of_mixed, of_kept)] == [5, 5, 6]
    assert {row["worker"] for row in kept_scores} == {*"12345", "1.0"}
    # Both questions of the model are known, and 5.0 is the worker who is left out.
    assert table(tmp_path / "mixed" / "models.csv")[0]["n"] == str(len(asked))
    assert of_mixed["parameters"]["exclude_workers"] == ["5"]
    for summary, code in ((of_mixed, "ids_mixed"), (of_kept, "ids_mixed_as_typed")):
        values = {"column": "worker", "typed": "1.0", "whole": "1", "n_decimal": 1}
        n_whole = len(plain) - 1
        reason, remedy, _ = PROBLEM_MESSAGES[code].texts({**values, "n_whole": n_whole})
        assert f"{reason}. {remedy}." in summary["warnings"]
    assert of_kept["parameters"]["keep_ids"] is True
    assert "keep_ids" not in of_mixed["parameters"]
    assert "keep_ids" not in of_mixed["input_hashes"]


def test_the_choice_to_keep_ids_is_signed(tmp_path):
    read = [
        read_worker_answers(
            write_csv(tmp_path / "answers.csv", HEADER, [("1.0", "2", "Paris")]),
            ColumnNames(),
            Duplicates.REFUSE,
            keep_html=False,
            keep_ids=keep,
        )
        for keep in (False, True)
    ]
    assert [file.records[0].worker for file in read] == ["1", "1.0"]
    assert read[0].hashes.keys() ^ read[1].hashes.keys() == {"keep_ids"}
    # Ids of another file follow those of the answers.
    assert [file.ids.read_worker_id("1.0") for file in read] == ["1", "1.0"]
    assert [file.ids.read_question_id("2.0") for file in read] == ["2", "2.0"]
    assert read[0].ids.read_worker_id("3.0") == "3.0"


def test_an_export_of_our_own_is_graded_as_it_is(tmp_path):
    # The answers of an export were stored with their HTML only because the user wanted it.
    header = (*HEADER, *FACTS, OF_ANSWERS)
    cells = ("", "text", *[""] * (len(FACTS) - 2), "1")
    rows = [(who, asked, f"<p>{text}</p>", *cells) for who, asked, text in answer_rows()]
    write_csv(tmp_path / "answers.csv", header, rows)
    read_plain = read_worker_answers(
        tmp_path / "answers.csv", ColumnNames(), Duplicates.REFUSE, keep_html=False, keep_ids=False
    )
    assert read_plain.records[0].text == rows[0][2]
    assert read_plain.warnings == []


FOREIGN = {
    "mturk": "batch.csv",
    "qualtrics": "survey.csv",
    "label-studio": "project.json",
    "potato": "annotated_instances.tsv",
    "prolific": "form.csv",
    "wide": "form.csv",
    "long": "table.csv",
}


@pytest.mark.parametrize("preset", FOREIGN)
def test_an_export_of_others_is_refused_with_the_command_that_takes_it(tmp_path, output, preset):
    path = tmp_path / FOREIGN[preset]
    path.write_bytes(FILES[preset][1])
    ran = evaluate(path, "--embedder", "tfidf-word", "--bootstrap", "0", "--output", output)
    assert ran.code == 2
    assert not output.exists()
    last = ran.err.strip().splitlines()[-1]
    assert "it looks like" in last
    command = last.partition("Take it in by: manage.py ")[2]
    assert f"--preset {preset} --output answers.csv" in command
    # The command that is told is one that works, and what it writes can be graded.
    table_of = tmp_path / "answers.csv"
    made = manage(*shlex.split(command.replace("answers.csv", str(table_of))))
    assert made.code == 0, made.err
    read = evaluate(table_of, "--embedder", "tfidf-word", "--bootstrap", "0", "--output", output)
    assert read.code == 0, read.err


def test_the_list_of_submissions_of_prolific_is_told_to_hold_no_answers(tmp_path, output):
    (tmp_path / "prolific_export.csv").write_bytes(SUBMISSIONS)
    ran = evaluate(tmp_path / "prolific_export.csv", "--output", output)
    assert ran.code == 2
    assert "prolific_export.csv, list_of_submissions" in ran.refusals


def test_a_table_whose_rows_are_bad_or_that_is_nobodys_export_gets_no_such_advice(tmp_path, output):
    for text in ("worker,question,answer\n,q,x\n", "a,b\n1,2\n", "who,q,a\nann,1,x\n"):
        (tmp_path / "a.csv").write_text(text)
        ran = evaluate(tmp_path / "a.csv", "--output", output)
        assert ran.code == 2
        assert "looks like" not in ran.err
