import pytest

from annotations import demo
from annotations.exchange import InputError
from annotations.exchange.importing import import_answers, import_passages, import_questions
from annotations.models import Passage, Question, QuestionSet
from tests.annotations import world
from tests.annotations.exchange.files import HEADER, write
from tests.problems import check_problem, faults, only_problem

pytestmark = pytest.mark.django_db


@pytest.fixture
def rivers():
    return QuestionSet.objects.create(owner=world.user("rana"), name="rivers")


def questions(tmp_path, *rows):
    return write(tmp_path, "question,text,passage\n" + "".join(f"{r}\n" for r in rows), "q.csv")


def refusal(do, *arguments):
    before = Question.objects.count(), Passage.objects.count()
    with pytest.raises(InputError) as caught:
        do(*arguments)
    assert before == (Question.objects.count(), Passage.objects.count())
    return caught.value


def test_the_demo_comes_in_whole_and_a_second_time_changes_nothing(rivers):
    for again in (False, True):
        reports = [
            import_passages(rivers, demo.PASSAGES),
            import_questions(rivers, demo.QUESTIONS),
            import_answers(rivers, demo.ANSWERS),
        ]
        assert [report.changed for report in reports] == [not again] * 3
        assert [report.n_rows for report in reports] == [2, 16, 464]
    version = rivers.versions.get()
    assert version.is_published
    last = version.questions.order_by("position").last()
    assert (last.external_id, last.position, last.passage.external_id) == ("cable-8", 16, "cable")
    assert last.passage.title == "A wire across the Atlantic"


def test_another_content_under_a_stored_id_is_an_error(rivers, tmp_path):
    import_questions(rivers, questions(tmp_path, "q1,Why?,"))
    error = refusal(import_questions, rivers, questions(tmp_path, "q2,Who?,", "q1,How?,"))
    expected = {"line": 3, "version": "rivers, version 1", "name": "q1", "what": "text"}
    check_problem(only_problem(error), "stored_differs", **expected)
    import_passages(rivers, write(tmp_path, "passage,title,text\np,A,Long.\n", "p.csv"))
    other = write(tmp_path, "passage,title,text\np,B,Long.\n", "p.csv")
    error = refusal(import_passages, rivers, other)
    check_problem(only_problem(error), "stored_differs", name="p", what="title")


def test_a_question_about_an_unknown_passage_is_an_error(rivers, tmp_path):
    path = questions(tmp_path, "q1,Why?,p1", "q2,Who?,p2")
    error = refusal(import_questions, rivers, path)
    assert faults(error) == [(line, "passage", "passage_unknown") for line in (2, 3)]


def test_new_questions_open_the_next_version_once_one_is_published(rivers, tmp_path):
    import_questions(rivers, questions(tmp_path, "q1,Why?,"))
    rivers.latest_version().publish()
    same = import_questions(rivers, questions(tmp_path, "q1,Why?,"))
    assert (same.version, same.changed) == (1, False)
    report = import_questions(rivers, questions(tmp_path, "q1,Why?,", "q2,Who?,"))
    assert (report.version, report.n_new, report.n_unchanged) == (2, 1, 1)
    assert any("Version 2 " in note for note in report.notes)
    numbers = Question.objects.order_by("version__number", "position")
    assert list(numbers.values_list("version__number", "external_id")) == [
        (1, "q1"),
        (2, "q1"),
        (2, "q2"),
    ]


def test_a_question_that_came_with_answers_gets_its_text_where_it_stands(rivers, tmp_path):
    import_answers(rivers, write(tmp_path, HEADER + "ada,q1,x\n"), create_questions=True)
    import_passages(rivers, write(tmp_path, "passage,text\np,Long.\n", "p.csv"))
    path = questions(tmp_path, "q1,Why?,p")
    report = import_questions(rivers, path)
    assert (report.version, report.n_new, report.n_completed) == (1, 1, 1)
    question = Question.objects.get()
    assert (question.text, question.passage.external_id) == ("Why?", "p")
    assert not import_questions(rivers, path).changed


def test_a_dry_run_opens_no_version(rivers, tmp_path):
    import_questions(rivers, questions(tmp_path, "q1,Why?,"))
    rivers.latest_version().publish()
    report = import_questions(rivers, questions(tmp_path, "q2,Who?,"), dry_run=True)
    assert (report.version, report.n_new) == (2, 1)
    assert rivers.versions.count() == 1
