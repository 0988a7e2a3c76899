"""Facts on the pages of a run: what people agree on, who contradicts it, where nothing is said."""

import csv
import io
import re
from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotations.models import Response, Worker
from evaluation.core.messages.message import Message
from evaluation.core.messages.reasons import describe_reason
from evaluation.grading.facts.report import CrowdValue, StatedFact, mark_facts, split_by_state
from evaluation.grading.results.consensus_files import build_consensus_files
from evaluation.grading.results.report.consensus import build_consensus_report
from evaluation.grading.results.report.questions import build_question_report
from evaluation.grading.results.report.workers import build_worker_report
from evaluation.models import AnswerFact, LanguageModel, Run
from tests.evaluation import fact_world
from tests.evaluation.grading.results import world
from tests.evaluation.site.handles import element_text, element_texts, numbers, states
from tests.sentences import site_sentence

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(rana, tmp_path):
    return fact_world.graded(fact_world.asked(rana, tmp_path))


def address(run, page, /, **ids):
    return reverse(f"admin:results-{page}", kwargs={"run": run.public_id, **ids})


def question(run, name):
    return run.version.questions.get(external_id=name).public_id


def worker(name):
    return Worker.objects.get(external_id=name).public_id


def html(site, place):
    """A page."""
    response = site.get(place)
    assert response.status_code == 200
    return response.content.decode()


def shown(site, place):
    """The words of a page, without its elements; blanks as one."""
    text = re.sub(r"<(script|style).*?</\1>", "", html(site, place), flags=re.S)
    return " ".join(re.sub(r"<[^>]+>", "", text).split())


def fact_sentence(code, **values):
    """The sentence of a fact, with the values that it does not need left empty."""
    return site_sentence(code, **{"value": "", "crowd": "", "n_crowd": 0, "of": 0, **values})


ONE_AGAINST_NINE = {"value": "1857", "crowd": "1858", "n_crowd": 9}
"""The cable was laid in 1858, say nine; who says 1857 is compared with the others."""


def test_the_page_of_a_question_says_what_the_crowd_agrees_on_and_who_contradicts_it(site, run):
    place = address(run, "question", question=question(run, "cable"))
    source, page = html(site, place), shown(site, place)
    # Nine of ten say 1858; without Joe all nine.
    assert element_text(source, "facts_agreed").endswith("1858 (9 of 10)")
    assert "facts_contested" not in states(source)
    joe, small = element_texts(source, "fact_contradicts")
    assert joe.endswith(fact_sentence("facts.contradicts", **ONE_AGAINST_NINE, of=9))
    # Model Small has no vote: nine of the ten people.
    assert small.endswith(fact_sentence("facts.contradicts", **ONE_AGAINST_NINE, of=10))
    # The others' words around what is marked, with its sign.
    marks = re.findall(r'It was in <mark class="fact fact-(\w+)">(\d+)<span[^>]*>(.)<', source)
    assert sorted(marks) == [("agrees", "1858", "✓")] * (9 + 1) + [("contradicts", "1857", "≠")] * 2
    told = page[page.index("Facts") :].replace("no proof of being wrong", "")
    assert not re.search(r"\bwrong\b", told[: told.index("Alarms about")])


def test_values_on_which_people_are_divided_stand_with_how_many_say_them(site, run):
    page = html(site, address(run, "question", question=question(run, "ship")))
    # 7 and 3 of 10: Wilson's lower bound of 7 of 10 is .397, below .4; 3 are a quarter or more.
    assert element_text(page, "facts_contested").endswith(" 1866 (3), 1865 (7)")
    assert "facts_agreed" not in states(page)


def test_a_question_on_which_nothing_is_said_says_why_in_plain_words(site, run):
    why = describe_reason("no_shared_slot")
    page = html(site, address(run, "question", question=question(run, "why")))
    assert element_text(page, "facts_silent").endswith(f": {why}.")
    assert "facts_agreed" not in states(page)
    assert 'class="fact ' not in page
    people = html(site, address(run, "people"))
    # On 2 of 3 questions: 1 value agreed on, 2 contested; 1 question is silent.
    assert numbers(element_text(people, "facts_found")) == [2, 3, 1, 2]
    silent = element_text(people, "facts_silent")
    assert silent.endswith(f": {why}.")
    assert numbers(silent.replace(why, "")) == [1]


def test_a_worker_and_a_model_are_told_with_where_they_contradict_the_crowd(site, run):
    place = address(run, "worker", worker=worker("joe"))
    source, joe = html(site, place), shown(site, place)
    standing = site_sentence("facts.standing", questions=2, contradicted=2)
    said = element_text(source, "facts-standing")
    assert said.startswith(standing)
    # Of 2 facts there is no share, which needs 5.
    assert numbers(said.removeprefix(standing)) == [2, 5]
    said = fact_sentence("facts.contradicts", **ONE_AGAINST_NINE, of=9)
    assert f"cable: {said}" in joe
    # Without Joe seven of nine say 1865, who are a majority: the lower bound is .453.
    said = fact_sentence("facts.contradicts", value="1866", crowd="1865", n_crowd=7, of=9)
    assert f"ship: {said}" in joe
    assert 'It was in <mark class="fact fact-contradicts">1857<' in source
    small = LanguageModel.objects.get(name="Small").public_id
    page = shown(site, address(run, "model", model=small))
    assert site_sentence("facts.standing", questions=1, contradicted=1) in page
    said = fact_sentence("facts.contradicts", **ONE_AGAINST_NINE, of=10)
    assert f"cable: {said}" in page
    assert "She sailed in 1865 I believe" in page
    models = shown(site, address(run, "models"))
    assert "on 1 of 1" in models
    assert "on 0 of 1" in models
    compared = reverse("admin:compare-models", args=[run.version.question_set.public_id])
    assert "on 1 of 1" in shown(site, compared)


@pytest.mark.medium
def test_the_queue_has_them_beside_the_names_and_its_order_does_not_change(site, run):
    queue = address(run, "triage") + "?who=everybody"
    page = site.get(queue)
    before = [row.row.name for row in page.context["rows"]]
    words = shown(site, queue)
    assert site_sentence("facts.notice", contradicted=2, questions=2) in words
    # Hal and Ivy.
    assert words.count(site_sentence("facts.notice", contradicted=1, questions=2)) == 2
    place = address(run, "triage-worker", worker=worker("joe"))
    said = fact_sentence("facts.contradicts", **ONE_AGAINST_NINE, of=9)
    assert f"cable: {said}" in shown(site, place)
    assert "facts_limits" in states(html(site, place))
    run.worker_grades.update(fact_contradicted=0, fact_agreement=None, facts=0)
    AnswerFact.objects.all().delete()
    assert [row.row.name for row in site.get(queue).context["rows"]] == before


@pytest.mark.medium
def test_a_run_without_facts_shows_nothing_and_asks_the_database_nothing(site, rana, tmp_path):
    asked = fact_world.asked(rana, tmp_path)
    without = fact_world.graded(asked, facts=False)
    older = world.finished(owner=rana)  # from before there were facts
    assert without.summary["facts"] is None
    assert not without.crowd_facts.exists()
    assert not without.answer_facts.exists()
    for run in (without, older):
        of = run.version.questions.first()
        who = run.worker_grades.first().worker.public_id
        model = run.llm_scores.first().model.public_id
        places = [
            address(run, "question", question=of.public_id),
            address(run, "worker", worker=who),
            address(run, "model", model=model),
            address(run, "people"),
            address(run, "models"),
            address(run, "triage"),
            address(run, "triage-worker", worker=who),
        ]
        for place in places:
            with CaptureQueriesContext(connection) as asked_for:
                page = html(site, place)
            assert not [state for state in states(page) if state.startswith("fact")]
            assert 'class="fact ' not in page
            assert "facts-standing" not in page
            assert "ontradicts the crowd" not in page
            assert not [one for one in asked_for if "evaluation_answerfact" in one["sql"]]
            assert not [one for one in asked_for if "evaluation_crowdfact" in one["sql"]]
        for name in ("facts", "answer-facts"):
            assert rows(site.get(address(run, "table", name=name))) == []


def rows(response):
    text = b"".join(response.streaming_content).decode("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_the_tables_to_take_away_have_every_fact_and_the_counts_last(site, run):
    facts = rows(site.get(address(run, "table", name="facts")))
    assert {name: cell for name, cell in facts[0].items() if ":" not in name} == {
        "question": "cable", "slot": "year", "value": "1858", "mentions": "9", "of": "10",
        "state": "agreed",
    }  # fmt: skip
    answers = rows(site.get(address(run, "table", name="answer-facts")))
    assert len(answers) == 24  # ten people and two models on two questions
    (small,) = [row for row in answers if row["name"] == "Small" and row["question"] == "cable"]
    assert {name: cell for name, cell in small.items() if ":" not in name} == {
        "kind": "model", "name": "Small", "question": "cable", "slot": "year", "value": "1857",
        "verdict": "contradicts", "of": "10",
    }  # fmt: skip
    workers = rows(site.get(address(run, "table", name="workers")))
    last = ["facts", "fact_agreement", "fact_agreement_low", "fact_agreement_high"]
    contrast = ["contrast", "contrast_low", "contrast_high"]
    assert list(workers[0])[-9:-1] == [*last, "raw_leave_one_out", *contrast]
    assert [row["raw_leave_one_out"] for row in workers] == [
        row["leave_one_out"] for row in workers
    ]
    (joe,) = [row for row in workers if row["worker"] == "joe"]
    assert [joe[name] for name in last] == ["2", "", "", ""]
    leaders = rows(site.get(address(run, "table", name="leaderboard")))
    (small,) = [row for row in leaders if row["model"] == "Small"]
    assert list(small)[-3:-1] == ["fact_questions", "fact_contradicted"]
    assert [small["fact_questions"], small["fact_contradicted"]] == ["1", "1"]
    models = rows(site.get(address(run, "table", name="models")))
    assert list(models[0])[-8:-1] == [*last, *contrast]


def test_the_consensus_has_them_in_its_last_columns(run):
    made = build_consensus_files(build_consensus_report(run))
    text = b"".join(made["consensus.csv"]()).decode("utf-8-sig")
    header, *table = csv.reader(io.StringIO(text, newline=""))
    assert header[-5:-1] == ["camps_reason", "agreed_facts", "contested_facts", "facts_reason"]
    by_name = {row[0]: row[-4:-1] for row in table}
    assert by_name["cable"] == ["1858 (9 of 10)", "", ""]
    assert by_name["ship"] == ["", "1866 (3); 1865 (7)", ""]
    assert by_name["why"] == ["", "", "no_shared_slot"]


def test_pages_ask_as_often_for_many_questions_and_answers_as_for_few(
    rana, run, django_assert_num_queries
):
    cable = question(run, "cable")
    # Three queries without facts; what people state, and what single answers state.
    with django_assert_num_queries(5):
        build_question_report(run, cable)
    joe = worker("joe")
    with django_assert_num_queries(4):
        build_worker_report(run, joe)
    with django_assert_num_queries(3):
        report = build_consensus_report(run)
    with django_assert_num_queries(4):
        assert len(list(report.iterate_rows())) == 3


@pytest.mark.medium
def test_pages_of_many_questions_are_no_larger_than_those_of_some(client, django_user_model):
    """A list ends after 50 rows, with facts as without them."""

    def asked_for(n_questions):
        owner = django_user_model.objects.create(username=f"of {n_questions}", is_staff=True)
        run = fact_world.with_facts(
            world.finished(owner=owner, n_workers=6, n_questions=n_questions)
        )
        client.force_login(owner)
        who = run.worker_grades.order_by("pk").last().worker.public_id
        model = run.llm_scores.order_by("pk").first().model.public_id
        some = run.version.questions.order_by("position").first().public_id
        client.get(address(run, "models"))  # what is cached once is not counted
        for place in (
            address(run, "question", question=some),
            address(run, "worker", worker=who),
            address(run, "model", model=model),
            address(run, "models"),
            address(run, "triage") + "?who=everybody",
            address(run, "triage-worker", worker=who),
        ):
            with CaptureQueriesContext(connection) as queries:
                page = client.get(place).content
            facts = [one for one in queries if "_answerfact" in one["sql"]]
            yield len(queries), len(facts), len(page)

    for few, many in zip(asked_for(60), list(asked_for(240)), strict=True):
        assert many[:2] == few[:2]
        assert many[1] <= 2
        assert many[2] < 1.05 * few[2]


def test_what_was_withdrawn_takes_its_facts_along(run):
    Response.objects.filter(submission__worker__external_id="joe").delete()
    assert not AnswerFact.objects.filter(value="1857", response__isnull=False).exists()
    # Of the two answers of Joe to questions with facts nothing is left.
    assert AnswerFact.objects.filter(run=run).count() == 24 - 2


def test_a_run_takes_its_facts_along(run):
    Run.objects.filter(pk=run.pk).delete()
    assert not AnswerFact.objects.exists()


def fact(verdict, *spans):
    return StatedFact(
        "year", "1858", verdict, 1, 2, "", 0, [list(one) for one in spans], Message("")
    )


def test_texts_are_marked_where_they_say_it_once_and_never_beyond_their_end():
    text = "laid in 1858 or 1857"
    agrees, against = fact("agrees", (8, 12)), fact("contradicts", (16, 20))
    assert [tuple(part) for part in mark_facts(text, [against, agrees])] == [
        ("laid in ", None), ("1858", agrees), (" or ", None), ("1857", against),
    ]  # fmt: skip
    # The second begins within the first; the third beyond the end; of the fourth nothing is said.
    inside, beyond = fact("contested", (10, 14)), fact("agrees", (18, 24))
    assert mark_facts(text, [agrees, inside, beyond, fact("open", (0, 4))]) == [
        ("laid in ", None),
        ("1858", agrees),
        (" or 1857", None),
    ]
    assert mark_facts("", []) == [("", None)]
    # A fact after the one that begins within another is marked.
    assert mark_facts(text, [agrees, inside, against]) == [
        ("laid in ", None), ("1858", agrees), (" or ", None), ("1857", against),
    ]  # fmt: skip


def test_an_agreed_value_of_a_contested_slot_stands_among_the_contested_ones_too():
    values = [
        CrowdValue("year", "1858", 21, 28, "agreed"),
        CrowdValue("year", "1857", 7, 28, "contested"),
        CrowdValue("length", "3 km", 5, 5, "agreed"),
        CrowdValue("people", "4", 1, 9, "open"),
    ]
    agreed, contested = split_by_state(values)
    names = [
        CrowdValue("name", "Ireland", 18, 25, "agreed"),
        CrowdValue("name", "Newfoundland", 17, 25, "agreed"),
        CrowdValue("name", "Valentia", 12, 25, "contested"),
    ]
    # A place that fewer name is not against those that are agreed; without these it is.
    assert [value.value for value in split_by_state(names)[0]] == ["Ireland", "Newfoundland"]
    assert split_by_state(names)[1] == []
    assert [value.value for value in split_by_state(names[2:])[1]] == ["Valentia"]
    assert [value.value for value in agreed] == ["1858", "3 km"]
    assert [(value.value, value.mentions) for value in contested] == [("1857", 7), ("1858", 21)]


def test_nothing_that_grades_pays_admits_or_rings_reads_a_fact():
    root = Path(__file__).parents[4]
    rooms = [
        "evaluation/consensus",
        "evaluation/grading/alarms",
        "evaluation/grading/remedies",
        "evaluation/triage/report",
        "evaluation/grading/alarms/report",
        "annotations",
    ]
    paths = [path for room in rooms for path in (root / room).rglob("*.py")]
    paths += [root / f"evaluation/{name}.py" for name in ("admission/storage", "triage/storage")]
    paths.append(root / "evaluation/grading/run/fitting.py")
    assert len(paths) > 100
    names = re.compile(r"\b(AnswerFact|CrowdFact|crowd_facts|fact_agreement|fact_contradicted)\b")
    assert [path.name for path in paths if names.search(path.read_text())] == []
