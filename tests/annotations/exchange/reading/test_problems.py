import pickle
import subprocess
import sys

import pytest

from annotations.exchange import InputError, Problem
from annotations.exchange.problem_messages import PROBLEM_MESSAGES
from annotations.exchange.problems import KEPT, Problems


def test_a_problem_reads_as_one_line_with_its_place_and_what_to_do():
    problem = Problem("answers.csv", 7, "worker", "bad", "Mend it.")
    assert str(problem) == "answers.csv, line 7, column worker: bad. Mend it."
    in_terminal = Problem("answers.csv", 7, 3, "bad", "Mend it.", "Add --mend.")
    assert str(in_terminal) == "answers.csv, line 7, column 3: bad. Add --mend."


def test_a_problem_of_a_code_has_its_texts_and_keeps_its_values():
    problem = Problem.from_code("a.csv", 7, "worker", "id_missing", name="worker")
    message = PROBLEM_MESSAGES["id_missing"]
    assert (problem.code, problem.values) == ("id_missing", {"name": "worker"})
    assert (problem.reason, problem.remedy, problem.on_terminal) == (
        message.texts({"name": "worker"})
    )
    error = InputError.from_code("a.csv", "id_missing", line=7, column="worker", name="worker")
    assert error.problems == (problem,)
    assert len({problem, *error.problems}) == 1


def test_an_unknown_code_or_a_value_that_is_missing_is_an_error():
    with pytest.raises(KeyError):
        Problem.from_code("a.csv", None, None, "no_such_code")
    with pytest.raises(KeyError):
        Problem.from_code("a.csv", None, None, "id_missing")


def test_a_problem_of_the_whole_file_names_no_line():
    assert str(Problem("a.csv", None, None, "bad")) == "a.csv: bad."


def test_a_message_shows_twenty_problems_and_counts_the_others():
    problems = Problems("a.csv")
    for line in range(55):
        problems.add(line, None, "bad")
    with pytest.raises(InputError) as caught:
        problems.raise_if_any()
    lines = str(caught.value).splitlines()
    assert len(lines) == 21
    assert lines[-1] == "... and 35 more"


def test_thousands_of_problems_are_counted_but_only_some_kept():
    problems = Problems("a.csv")
    for line in range(5000):
        problems.add(line, None, "bad")
    with pytest.raises(InputError) as caught:
        problems.raise_if_any()
    assert (len(caught.value.problems), caught.value.total) == (KEPT, 5000)
    assert str(caught.value).endswith("... and 4980 more")


def test_no_problem_raises_nothing():
    Problems("a.csv").raise_if_any()


def test_an_error_survives_pickling():
    coded = Problem.from_code("a.csv", 2, "worker", "id_missing", name="worker")
    error = InputError([Problem("a.csv", 1, None, "bad"), coded], total=9)
    again = pickle.loads(pickle.dumps(error))
    assert (again.problems, again.total, str(again)) == (error.problems, 9, str(error))


def test_the_exchange_imports_without_django_and_without_openpyxl_until_asked():
    code = (
        "import sys, annotations.exchange;"
        "assert not {'django', 'openpyxl', 'numpy'} & set(sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
