"""A worker who answered a question twice, with another text: refused, or one of the two counts."""

import csv

import pytest
from django.core.management import CommandError, call_command

from annotations.exchange import ColumnNames, InputError, read_answers
from annotations.exchange.importing import import_answers, import_mturk
from annotations.exchange.reading.duplicates import Duplicates
from annotations.models import QuestionSet, Response
from tests.annotations import world
from tests.annotations.exchange.files import HEADER, write
from tests.annotations.exchange.reading.mturk_export import batch_text
from tests.annotations.exchange.reports import counts_line
from tests.problems import check_problem, only_problem

# Rows 0 to 6: ann says "a" and "b" to q1 and "a" again; bob repeats himself; cyd answers once.
ROWS = "ann,q1,a\nbob,q1,x\nann,q1,b\nann,q1,a\nbob,q1, x \ncyd,q1,c\nann,q2,d\n"


@pytest.fixture
def twice(tmp_path):
    return write(tmp_path, HEADER + ROWS)


@pytest.mark.parametrize(
    ("duplicates", "rows", "n_repeated", "n_superseded"),
    [
        # Row 3 says what row 0 said, row 4 what row 1 said.
        (Duplicates.FIRST, [(0, "a"), (1, "x"), (5, "c"), (6, "d")], 2, 1),
        # Row 2 takes the place of row 0, row 3 that of row 2.
        (Duplicates.LAST, [(1, "x"), (3, "a"), (5, "c"), (6, "d")], 1, 2),
    ],
)
def test_one_answer_counts_and_the_others_are_counted(
    twice, duplicates, rows, n_repeated, n_superseded
):
    file = read_answers(twice, duplicates=duplicates)
    assert [(record.row, record.text) for record in file.records] == rows
    assert (file.n_repeated, file.n_superseded) == (n_repeated, n_superseded)
    assert file.n_rows == 7 == len(rows) + n_repeated + n_superseded
    assert f"the {duplicates} answer counts" in file.warnings[0]


def test_what_the_results_hang_on_differs_with_the_choice(twice):
    first, last = (read_answers(twice, duplicates=one).hashes for one in ("first", "last"))
    assert first["answers"] == last["answers"]
    assert first["duplicates"] != last["duplicates"]
    sound = write(twice.parent, HEADER + "ann,q1,a\n", "sound.csv")
    assert list(read_answers(sound, duplicates=Duplicates.REFUSE).hashes) == ["answers"]


def test_the_error_names_the_option_in_a_terminal_only(twice):
    with pytest.raises(InputError) as caught:
        read_answers(twice, duplicates=Duplicates.REFUSE)
    problem = only_problem(caught.value)  # row 3 says what the first one said
    check_problem(problem, "answers_differ", line=4, choosable=True)
    assert "--duplicates first" in str(problem)
    assert "--" not in problem.remedy
    # A door without the choice names none.
    with pytest.raises(InputError) as caught:
        read_answers(twice)
    check_problem(only_problem(caught.value), "answers_differ", line=4, choosable=False)
    assert "duplicates" not in str(caught.value)


@pytest.mark.django_db
class TestImports:
    @pytest.fixture
    def lakes(self):
        return QuestionSet.objects.create(owner=world.user("rana"), name="lakes")

    @pytest.mark.parametrize(("duplicates", "text"), [("first", "a"), ("last", "a")])
    def test_of_answers(self, lakes, twice, duplicates, text):
        report = import_answers(
            lakes, twice, duplicates=Duplicates(duplicates), create_questions=True
        )
        assert report.n_new == 4
        assert report.n_superseded == (1 if duplicates == "first" else 2)
        of_ann = Response.objects.filter(submission__worker__external_id="ann")
        stored = of_ann.get(question__external_id="q1")
        assert stored.text == text
        told = "\n".join(report.lines())
        assert f"+ {report.n_superseded} superseded" in told
        assert f"the {duplicates} answer counts" in told

    def test_the_last_one_is_the_last_row(self, lakes, tmp_path):
        path = write(tmp_path, HEADER + "ann,q1,a\nbob,q1,x\nann,q1,b\n")
        import_answers(lakes, path, duplicates=Duplicates.LAST, create_questions=True)
        assert set(Response.objects.values_list("text", flat=True)) == {"b", "x"}
        again = import_answers(lakes, path, duplicates=Duplicates.LAST)
        assert (again.changed, again.n_unchanged, again.n_superseded) == (False, 2, 1)

    def test_of_a_batch_by_the_command_which_names_the_option(self, lakes, tmp_path, capsys):
        path = tmp_path / "batch.csv"
        texts = ("one", "two")
        path.write_text(batch_text([("H1", "ann", {"Answer.text": text}) for text in texts]))
        with pytest.raises(CommandError, match="--duplicates first"):
            call_command("import_mturk", "lakes", str(path))
        assert not Response.objects.exists()
        call_command("import_mturk", "lakes", str(path), "--duplicates", "last")
        assert Response.objects.get().text == "two"
        counts = {"n_rows": 2, "n_new": 1, "n_superseded": 1}
        assert counts_line("answers", **counts) in capsys.readouterr().out

    def test_rejected_in_one_of_two_equal_rows_only_is_such_a_pair_too(self, lakes, tmp_path):
        path = tmp_path / "batch.csv"
        status = {"AssignmentStatus": "Rejected"}
        cells = {"Answer.text": "one"}
        path.write_text(batch_text([("H1", "ann", cells | status), ("H1", "ann", cells)]))
        report = import_mturk(lakes, path, duplicates=Duplicates.LAST)
        assert report.n_superseded == 1
        assert not Response.objects.get().rejected


@pytest.mark.data
@pytest.mark.parametrize(("crowd", "kept"), [("T1", 882), ("T2", 908)])
def test_of_a_thousand_answers_of_translators_the_first_ones_stay(
    data_folder, tmp_path, crowd, kept
):
    source = data_folder / "crowdwsa2019" / f"{crowd}_label_anonymous.tsv"
    columns = ColumnNames(question="sentence", answer="workeranswer")
    with pytest.raises(InputError) as caught:
        read_answers(source, columns, Duplicates.REFUSE)
    n_conflicts = caught.value.total
    file = read_answers(source, columns, Duplicates.FIRST)
    assert (file.n_rows, len(file.records)) == (1000, kept)
    assert file.n_superseded == n_conflicts
    assert file.n_repeated == 1000 - kept - n_conflicts
    # Counted once more by somebody else's reader.
    with source.open(newline="", encoding="utf-8") as rows:
        first = {}
        for row in csv.DictReader(rows, delimiter="\t"):
            first.setdefault((row["worker"], row["sentence"]), row["workeranswer"].strip())
    assert {(r.worker, r.question): r.text.strip() for r in file.records} == first
