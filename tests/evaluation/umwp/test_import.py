"""Problems of which some have no answer become questions that say so."""

import pytest

from annotations.exchange import InputError
from annotations.exchange.importing import import_word_problems
from annotations.exchange.reading.source import make_bytes_source
from annotations.exchange.reading.word_problems import CATEGORY_NAMES
from annotations.models import QuestionSet
from evaluation.umwp.storage.questions import load_word_problems
from tests.evaluation.runs.run_types.texts import numbers_of
from tests.evaluation.umwp.world import PROBLEMS, lines, said_by
from tests.problems import raises_problem


def test_problems_become_questions_that_say_whether_they_have_an_answer(question_set):
    rows = {row.external_id: row for row in question_set.latest_version().questions.all()}
    assert (rows["1"].answerable, rows["1"].accepted_answers) == (True, ["55"])
    assert rows["2"].accepted_answers == ["2.5"]
    assert (rows["3"].answerable, rows["3"].category) == (False, "ambiguous key information")
    assert rows["3"].metadata == {"source": "SVAMP", "relevant_ids": ["1"]}
    found = load_word_problems(question_set.latest_version())
    assert [(one.id, one.answers, one.category, one.relevant) for one in found] == [
        ("1", (55.0,), None, ()),
        ("2", (2.5,), None, ()),
        ("3", (), 2, ("1",)),
        ("4", (), 1, ("2",)),
        ("5", (2.0,), None, ()),
    ]


def test_an_import_tells_what_there_is_and_what_contradicts_itself(rita, question_set):
    made = QuestionSet(owner=rita, name="more")
    more = {**PROBLEMS[2], "id": 6, "relevant_ids": [99], "answer": [3.0]}
    nobody = {**PROBLEMS[0], "id": 7, "answerable": None, "answer": None}
    report = import_word_problems(
        made, make_bytes_source("p.jsonl", lines([*PROBLEMS, more, nobody]))
    )
    told = list(report.lines())
    # With an answer and without, of unknown label; by category; with both labels: 4 and 5; made
    # of a problem that is not there; without an answer, but with a number: 6.
    assert [numbers_of(line) for line in told[-6:]] == [[3, 3], [1], [1, 2], [1, 4, 5], [1], [6]]
    assert f"{CATEGORY_NAMES[2]} 2" in told[-4]
    again = import_word_problems(made, make_bytes_source("p.jsonl", lines()))
    assert (again.n_new, again.n_unchanged) == (0, 5)
    other = {**PROBLEMS[0], "answer": [56.0]}
    with raises_problem("stored_problem_differs", line=1, column="id", name="1"):
        import_word_problems(made, make_bytes_source("p.jsonl", lines([other])))
    bad = {**PROBLEMS[2], "category": 9}
    with raises_problem("category_unknown", line=1, column="category", category="9"):
        import_word_problems(question_set, make_bytes_source("p.jsonl", lines([bad])))


def test_refused_problems_have_the_line_and_column_of_the_file(question_set):
    other = {**PROBLEMS[1], "answer": [56.0]}
    long = {**PROBLEMS[0], "id": "i" * 256}
    with pytest.raises(InputError) as caught:
        import_word_problems(
            question_set, make_bytes_source("p.jsonl", lines([PROBLEMS[0], other, long]))
        )
    assert [(one.line, one.column) for one in caught.value.problems] == [(2, "id"), (3, "id")]
    assert question_set.latest_version().questions.count() == 5


def test_a_command_imports_problems_and_a_dry_run_stores_nothing(rita, tmp_path):
    path = tmp_path / "problems.jsonl"
    path.write_bytes(lines())
    told = said_by("import_problems", "mine", path, "--dry-run")
    assert [5, 5, 0, 0] in [numbers_of(line) for line in told.splitlines()]
    assert not QuestionSet.objects.filter(name="mine").exists()
    said_by("import_problems", "mine", path)
    assert QuestionSet.objects.get(name="mine").latest_version().questions.count() == 5


def test_a_question_of_which_only_the_id_was_known_gets_its_text_and_label(rita):
    made = QuestionSet.objects.create(owner=rita, name="ids")
    made.draft().questions.create(external_id="3", text="", position=1)
    report = import_word_problems(made, make_bytes_source("p.jsonl", lines()))
    assert (report.n_new, report.n_completed) == (5, 1)
    (row,) = made.latest_version().questions.filter(external_id="3")
    assert (row.answerable, row.text) == (False, PROBLEMS[2]["question"])


@pytest.mark.parametrize("written", ["1, 2", "1 2", '["1", 2]', ["1", 2], "1;2"])
def test_partners_and_categories_of_questions_that_came_another_way_are_read(rita, written):
    made = QuestionSet.objects.create(owner=rita, name="other")
    made.draft().questions.create(
        external_id="9", text="How many?", position=1, answerable=False,
        category="3: unrealistic", metadata={"relevant_ids": written},
    )  # fmt: skip
    (found,) = load_word_problems(made.latest_version())
    assert (found.relevant, found.category) == (("1", "2"), 3)
