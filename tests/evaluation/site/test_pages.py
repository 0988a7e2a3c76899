"""The pages of results: who sees them, what they say in every state, and that texts stay texts."""

import csv
import io
import re
from html.parser import HTMLParser

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from annotations.models import QuestionSet, Response, Worker
from evaluation.core.messages.reasons import describe_reason
from evaluation.models import LanguageModel, LLMResponse, Run, WorkerGrade
from tests.annotations import world as people
from tests.evaluation.grading.results import world
from tests.evaluation.site.conftest import FOR_THE_READER
from tests.evaluation.site.handles import element_text, numbers, states

pytestmark = pytest.mark.django_db
HOSTILE = "<script>alert(1)</script> \" ' {{ 7*7 }} ${7} \u202eevil\u202c 🦊 </td> --> ]]> שלום"


def page(name, run, /, **ids):
    return reverse(f"admin:{name}", kwargs={"run": run.public_id, **ids})


def worker_of(run, name="w001"):
    return Worker.objects.get(owner=run.owner, external_id=name).public_id


def question_of(run, name="r1"):
    return run.version.questions.get(external_id=name).public_id


def every_address(run):
    worker = {"worker": worker_of(run)}
    question = {"question": question_of(run)}
    return [
        page("results-people", run),
        page("results-disagreement", run),
        page("results-models", run),
        page("results-worker", run, **worker),
        page("results-question", run, **question),
        page("results-comparison", run),
        *(
            page("results-chart", run, name=name)
            for name in (
                "decision",
                "grades",
                "ranks",
                "questions",
                "convergence",
                "placement",
                "comparison",
            )
        ),
        *(
            page("results-table", run, name=name)
            for name in ("workers", "questions", "models", "convergence")
        ),
        page("results-worker-chart", run, **worker),
        page("results-worker-table", run, **worker),
        page("results-question-chart", run, **question),
        page("results-question-table", run, **question),
        page("results-question-map", run, **question),
        page("results-question-map-table", run, **question),
    ]


def body(response):
    if response.streaming:
        return b"".join(response.streaming_content).decode()
    return response.content.decode()


def rows_of(response):
    text = body(response)
    assert text.startswith("\ufeff")
    return list(csv.DictReader(io.StringIO(text[1:])))


class Parts(HTMLParser):
    """Collects elements and attributes."""

    def __init__(self):
        super().__init__()
        self.tags, self.attributes = [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs


@pytest.mark.slow
def test_the_owner_sees_every_page_and_nobody_else_does(site, client, rana):
    run = world.finished(owner=rana)
    addresses = every_address(run)
    assert [site.get(address).status_code for address in addresses] == [200] * len(addresses)
    other = User.objects.create(username="otto", is_staff=True)
    client.force_login(other)
    assert {client.get(address).status_code for address in addresses} == {404}
    client.force_login(User.objects.create(username="guest"))
    assert {client.get(address).status_code for address in addresses} == {302}
    client.logout()
    assert {client.get(address).status_code for address in addresses} == {302}


def test_ids_of_another_run_are_not_found(site, rana):
    run = world.finished(owner=rana)
    otto = User.objects.create(username="otto", is_staff=True)
    foreign = world.finished(owner=otto)
    ids = {"worker": worker_of(foreign), "question": question_of(foreign)}
    for name in ("worker", "question"):
        for kind in ("", "-chart", "-table"):
            address = page(f"results-{name}{kind}", run, **{name: ids[name]})
            assert site.get(address).status_code == 404
    assert site.get(page("results-chart", run, name="nothing")).status_code == 404
    assert site.get(page("results-table", run, name="nothing")).status_code == 404


def test_the_run_page_shows_the_numbers_of_the_rows(site, rana):
    run = world.finished(owner=rana)
    text = body(site.get(page("results-people", run)))
    for grade in WorkerGrade.objects.filter(run=run):
        assert f"{grade.grade:.3f}" in text
        assert f"{grade.grade_low:.3f} to {grade.grade_high:.3f}" in text
    assert "0.810" in text  # the ceiling
    assert run.signature in text
    assert "too few" in text  # the last worker has no rank
    assert "answers_changed" not in states(text)


def test_the_pages_show_the_notices(site, rana):
    run = world.finished(owner=rana)
    QuestionSet.objects.update(notice="Written for a demo & nobody real")
    shown = "Written for a demo &amp; nobody real"
    for address in every_address(run)[:4]:
        assert shown in body(site.get(address))
    for name, ids in (("models", {}), ("question", {"question": question_of(run)})):
        assert "A small model" in body(site.get(page(f"results-{name}", run, **ids)))


@pytest.mark.parametrize("state", ["queued", "failed", "cancelled"])
def test_a_run_without_results_says_so(site, rana, state):
    fields = {"error": "no <b>room</b>"} if state == "failed" else {}
    make = (
        world.queued
        if state == "queued"
        else lambda owner, **f: world.ended(state, owner=owner, **f)
    )
    run = make(rana, **fields)
    for name in ("results-people", "results-models"):
        response = site.get(page(name, run))
        assert response.status_code == 200
        assert f"run_{state}" in states(body(response))
        assert str(run.public_id) in body(response)  # the link to its status
    assert ("no &lt;b&gt;room&lt;/b&gt;" in body(site.get(page("results-people", run)))) == (
        state == "failed"
    )
    assert site.get(page("results-table", run, name="workers")).status_code == 404


def test_a_run_of_two_workers_has_no_grades_and_says_why(site, rana):
    run = world.finished(n_workers=2, n_models=0, owner=rana)
    WorkerGrade.objects.filter(run=run).update(
        grade=None, grade_low=None, grade_high=None, rank=None, weight=None
    )
    ceiling = {
        "score": None,
        "low": None,
        "high": None,
        "n_workers": 0,
        "n_questions": 0,
        "reason": "fewer_than_3_workers",
    }
    Run.objects.filter(pk=run.pk).update(
        summary=run.summary | {"ceiling": ceiling, "trace": [], "iterations": 0},
        reasons=[
            {
                "file": "workers.csv",
                "column": "grade",
                "reason": "fewer_than_3_workers",
                "count": 2,
            }
        ],
    )
    text = body(site.get(page("results-people", run)))
    assert "too_few_workers" in states(text)
    assert 'data-chart="grades"' not in text
    assert describe_reason("fewer_than_3_workers") in text
    assert site.get(page("results-worker", run, worker=worker_of(run))).status_code == 200
    assert "no_models" in states(body(site.get(page("results-models", run))))


def test_a_model_without_a_score_says_why(site, rana):
    run = world.finished(owner=rana)
    run.llm_scores.filter(model__name="model 1").update(
        score=None, score_low=None, score_high=None, rank=None, reason="missing_answers"
    )
    run.llm_answer_scores.filter(llm_response__model__name="model 1").update(
        score=None, reason="no_exemplar"
    )
    assert describe_reason("missing_answers") in body(site.get(page("results-models", run)))
    text = body(site.get(page("results-question", run, question=question_of(run))))
    assert f"no score: {describe_reason('no_exemplar')}" in text


def test_texts_of_workers_and_models_stay_texts(site, rana):
    run = world.finished(owner=rana)
    Response.objects.update(text=HOSTILE)
    LLMResponse.objects.update(text=HOSTILE)
    Worker.objects.filter(external_id="w001").update(external_id=HOSTILE, panel=HOSTILE[:100])
    LanguageModel.objects.filter(name="model 0").update(
        name=HOSTILE, family=HOSTILE, notice=HOSTILE
    )
    QuestionSet.objects.update(name=HOSTILE, notice=HOSTILE)
    worker = {"worker": worker_of(run, HOSTILE)}
    question = {"question": question_of(run)}
    for address in (
        page("results-people", run),
        page("results-models", run),
        page("results-worker", run, **worker),
        page("results-question", run, **question),
    ):
        text = body(site.get(address))
        assert "alert(1)" in text
        assert "<script>alert" not in text
        parts = Parts()
        parts.feed(text)
        assert all(src for tag, src in _scripts(text))
        for name, value in parts.attributes:
            if name.startswith(("x-", "@", ":", "on", "style", "hx-")):
                assert "alert(1)" not in (value or "")
                assert "7*7" not in (value or "")
    for name, ids in (("chart", {"name": "grades"}), ("worker-chart", worker)):
        assert "<script" not in body(site.get(page(f"results-{name}", run, **ids)))


def _scripts(text):
    for tag in re.findall(r"<script[^>]*>", text):
        yield tag, "src=" in tag


@pytest.mark.medium
def test_lists_come_in_pages_that_follow_each_other(site, rana):
    run = world.finished(n_workers=120, n_questions=1, n_models=0, owner=rana)
    address, seen = page("results-people", run), []
    for _ in range(3):
        text = body(site.get(address))
        seen += re.findall(r"<bdi>(w\d{3})</bdi></a>", text)
        following = re.search(r'href="(\?workers=[^"#]+)#workers">Next page', text)
        address = following and page("results-people", run) + following[1]
    assert seen == [f"w{i:03}" for i in range(1, 121)]
    assert address is None
    assert site.get(page("results-people", run) + "?workers=nonsense").status_code == 404
    assert site.get(page("results-people", run) + "?by=colour").status_code == 404
    text = body(site.get(page("results-people", run) + "?q=w117"))
    assert re.findall(r"<bdi>(w\d{3})</bdi></a>", text) == ["w117"]
    answers = page("results-question", run, question=question_of(run))
    assert "Next page" in body(site.get(answers))


def test_tables_hold_every_row_in_full(site, rana):
    run = world.finished(n_workers=60, owner=rana)
    rows = rows_of(site.get(page("results-table", run, name="workers")))
    assert len(rows) == 60
    grade = WorkerGrade.objects.get(run=run, worker__external_id="w002")
    assert float(rows[1]["grade"]) == grade.grade
    assert rows[-1] | {"rank": "", "support": "too_few"} == rows[-1]
    questions = rows_of(site.get(page("results-table", run, name="questions")))
    assert [row["question"] for row in questions] == [f"r{i}" for i in range(1, 7)]
    models = rows_of(site.get(page("results-table", run, name="models")))
    assert [row["score"] for row in models] == ["0.6", "0.59"]
    trace = rows_of(site.get(page("results-table", run, name="convergence")))
    assert [float(row["rmse"]) for row in trace] == world.SUMMARY["trace"]
    answers = rows_of(site.get(page("results-question-table", run, question=question_of(run))))
    assert [bool(row["worker"]) for row in answers] == [True] * 60 + [False] * 2
    assert [bool(row["model"]) for row in answers] == [False] * 60 + [True] * 2
    worker = rows_of(site.get(page("results-worker-table", run, worker=worker_of(run))))
    assert [row["score"] for row in worker][:2] == ["0.9", "0.899"]


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@A1", "\t=1", " =1", "＝1"])
def test_a_formula_in_a_table_is_defused(site, rana, text):
    run = world.finished(n_workers=3, owner=rana)
    Response.objects.filter(submission__worker__external_id="w001").update(text=text)
    answers = rows_of(site.get(page("results-worker-table", run, worker=worker_of(run))))
    inside = text.replace("\t=", "\t'=")  # a tab may part cells, too
    assert answers[0]["answer"] == f"'{inside}"
    assert float(answers[0]["score"]) == 0.9


def test_numbers_below_zero_are_no_formulas(site, rana):
    run = world.finished(n_workers=3, owner=rana)
    run.answer_scores.update(score=-0.25)
    answers = rows_of(site.get(page("results-worker-table", run, worker=worker_of(run))))
    assert answers[0]["score"] == "-0.25"


def test_files_are_sent_as_attachments(site, rana):
    run = world.finished(owner=rana)
    for address in every_address(run)[6:]:
        response = site.get(address)
        name = f'attachment; filename="rivers-{run.created_at:%Y-%m-%d-%H%M}-'
        assert response["Content-Disposition"].startswith(name)
        assert response["X-Content-Type-Options"] == "nosniff"


def test_data_that_changed_is_told_and_can_be_compared(site, rana):
    run = world.finished(owner=rana)
    late = people.submission(run.version, "late")
    Response.objects.create(
        submission=late,
        question=run.version.questions.first(),
        text="south",
        status="text",
        state="submitted",
    )
    text = body(site.get(page("results-people", run)))
    assert "answers_changed" in states(text)
    text = body(site.get(page("results-people", run) + "?check=inputs"))
    assert "other_inputs" in states(text)


def test_the_answers_of_excluded_workers_are_told_apart_from_those_that_were_graded(site, rana):
    run = world.finished(owner=rana)
    late = people.response(people.submission(run.version, "late"))
    Response.objects.filter(pk=late.pk).update(state="submitted")
    graded = element_text(body(site.get(page("results-people", run))), "graded_then")
    assert numbers(graded) == [24]
    Run.objects.filter(pk=run.pk).update(parameters={"exclude_workers": ["w002", "w003"]})
    of_excluded = WorkerGrade.objects.filter(run=run, worker__external_id__in=["w002", "w003"])
    of_excluded.update(
        grade=None, grade_low=None, grade_high=None, weight=0, rank=None, rank_low=None,
        rank_high=None,
    )  # fmt: skip
    graded = element_text(body(site.get(page("results-people", run))), "graded_then")
    assert numbers(graded) == [12, 12, 2]  # 6 questions: graded, of the excluded, of whom


@pytest.mark.parametrize("n_workers", [10, 200])
def test_pages_take_a_constant_number_of_queries(
    site, rana, n_workers, django_assert_max_num_queries
):
    run = world.finished(n_workers=n_workers, n_models=n_workers // 10, owner=rana)
    addresses = every_address(run)[:4]
    for address, most in zip(addresses, (20, 12, 16, 22), strict=True):
        with django_assert_max_num_queries(most + FOR_THE_READER):
            assert site.get(address).status_code == 200


@pytest.mark.parametrize(
    ("options", "scores"),
    [
        ({}, ["graded", "raw", "contrast"]),
        # Grades are stretched from the raw score itself.
        ({"leave_one_out": True}, ["raw", "contrast"]),
        ({"leave_one_out": True, "difficulty": True}, ["graded", "raw", "contrast"]),
    ],
)
def test_the_raw_score_is_the_mean_leave_one_out_score(site, rana, options, scores):
    run = world.finished(owner=rana)
    run.parameters = {**run.parameters, **options}
    run.save()
    best = run.worker_grades.order_by("rank").first()
    run.worker_grades.filter(pk=best.pk).update(contrast=0.25)
    text = site.get(reverse("admin:results-people", args=[run.public_id])).content.decode()
    assert re.findall(r'data-score="(\w+)"', text) == scores
    cells = re.search(rf"<bdi>{best.worker.external_id}</bdi>.*?</tr>", text, re.DOTALL)[0]
    shown = re.findall(r'results-more">(0\.\d+)</td>', cells)
    values = {"graded": best.raw, "raw": best.leave_one_out, "contrast": 0.25}
    assert shown == [f"{values[score]:.3f}" for score in scores]
