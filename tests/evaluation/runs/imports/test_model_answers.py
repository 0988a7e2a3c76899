import pytest

from annotations import demo
from annotations.exchange import AnswerStatus, InputError
from annotations.exchange.importing import import_passages, import_questions
from annotations.exchange.model_replies import describe_thinking_counts
from annotations.models import QuestionSet
from evaluation.models import LanguageModel, LLMResponse
from evaluation.runs.imports import import_model_answers
from evaluation.runs.steps.answers import load_model_answers
from tests.annotations import world
from tests.annotations.exchange.files import write
from tests.problems import faults, raises_problem

pytestmark = pytest.mark.django_db

HEADER = "model,question,answer,status\n"
ROWS = HEADER + "small,r1,north,\nsmall,r2,,\nlarge,r1,,refused\nlarge,r2,,error\nlarge,r2,,ERROR\n"


@pytest.fixture
def rivers():
    return world.version(world.user("rana")).question_set


def write_rows(folder, rows):
    return write(folder, rows, "models.csv")


def test_answers_come_in_with_their_status(rivers, tmp_path):
    report = import_model_answers(rivers, write_rows(tmp_path, ROWS))
    assert (report.n_rows, report.n_new, report.n_repeated, report.n_empty) == (5, 4, 1, 1)
    assert report.created == {"models": 2}
    rows = LLMResponse.objects.order_by("pk").values_list("model__name", "text", "status")
    assert list(rows) == [
        ("small", "north", "text"),
        ("small", "", "empty"),
        ("large", "", "refused"),
        ("large", "", "error"),
    ]
    assert {m.owner for m in LanguageModel.objects.all()} == {rivers.owner}
    assert rivers.latest_version().is_published


def test_the_same_file_again_changes_nothing(rivers, tmp_path):
    path = write_rows(tmp_path, ROWS)
    import_model_answers(rivers, path)
    report = import_model_answers(rivers, path)
    assert (report.n_new, report.n_unchanged, report.changed) == (0, 4, False)


def test_what_contradicts_a_stored_answer_is_told_and_nothing_is_stored(rivers, tmp_path):
    import_model_answers(rivers, write_rows(tmp_path, ROWS))
    other = HEADER + "new,r1,x,\nsmall,r1,south,\nlarge,r1,,error\n"
    with pytest.raises(InputError) as caught:
        import_model_answers(rivers, write_rows(tmp_path, other))
    assert faults(caught.value) == [(line, None, "model_answer_differs") for line in (3, 4)]
    assert [problem.values["what"] for problem in caught.value.problems] == ["text", "status"]
    assert (LLMResponse.objects.count(), LanguageModel.objects.count()) == (4, 2)


THOUGHT = HEADER + 'm,r1,"<think>\nhm\n</think>\n\nnorth",\nm,r2,"<think>\nhm",\n'


def test_thinking_is_put_aside_and_kept_with_the_answer(rivers, tmp_path):
    report = import_model_answers(rivers, write_rows(tmp_path, THOUGHT))
    rows = LLMResponse.objects.order_by("pk")
    assert [(one.text, one.status, one.extra["thinking"]) for one in rows] == [
        ("north", "text", "hm"),
        ("", "cut_off", "hm"),
    ]
    assert report.warnings == describe_thinking_counts(2, 1)


def test_an_option_leaves_thinking_in_the_answer_and_it_counts_so(rivers, tmp_path):
    path = write_rows(tmp_path, THOUGHT)
    import_model_answers(rivers, path, keep_thinking=True)
    texts = ["<think>\nhm\n</think>\n\nnorth", "<think>\nhm"]
    found = load_model_answers(rivers.latest_version().pk)
    assert (found.texts, set(found.statuses)) == (texts, {AnswerStatus.TEXT})
    assert import_model_answers(rivers, path, keep_thinking=True).n_unchanged == 2


def test_answers_that_were_stored_with_their_thinking_count_as_they_do_now(rivers, tmp_path):
    path = write_rows(tmp_path, THOUGHT)
    import_model_answers(rivers, path)
    stored = {"r1": "<think>\nhm\n</think>\n\nnorth", "r2": "<think>\nhm"}
    for row in LLMResponse.objects.all():
        row.text, row.status, row.extra = stored[row.question.external_id], "text", {}
        row.save()
    report = import_model_answers(rivers, path)
    assert (report.n_new, report.n_unchanged) == (0, 2)
    found = load_model_answers(rivers.latest_version().pk)
    assert list(zip(found.texts, found.statuses, strict=True)) == [
        ("north", AnswerStatus.TEXT),
        ("", AnswerStatus.CUT_OFF),
    ]


def test_an_unknown_question_is_an_error(rivers, tmp_path):
    with raises_problem("question_unknown", line=2, question="r9"):
        import_model_answers(rivers, write_rows(tmp_path, HEADER + "small,r9,x,\n"))
    assert not LanguageModel.objects.exists()


def test_a_dry_run_stores_nothing(rivers, tmp_path):
    assert import_model_answers(rivers, write_rows(tmp_path, ROWS), dry_run=True).n_new == 4
    assert (LLMResponse.objects.count(), LanguageModel.objects.count()) == (0, 0)


def test_the_demos_recorded_answers_come_in():
    question_set = QuestionSet.objects.create(owner=world.user("rana"), name="demo")
    import_passages(question_set, demo.PASSAGES)
    import_questions(question_set, demo.QUESTIONS)
    report = import_model_answers(question_set, demo.MODEL_ANSWERS)
    assert (report.n_rows, report.n_new, report.created) == (64, 64, {"models": 4})
    answer = LLMResponse.objects.order_by("pk")[0]
    assert answer.finish_reason == "stop"
    assert answer.extra["temperature"] == "0"
