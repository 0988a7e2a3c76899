"""The page of a question set: tabs, one next action by its state, and folded analyses."""

import re
from types import SimpleNamespace

import pytest
from django.urls import reverse

from annotations.models import Collection, Question, QuestionSet
from evaluation.models import Run
from evaluation.site.question_set import find_next_step
from evaluation.umwp.storage.questions import has_word_problems
from tests.desk.conftest import import_world

OWNER = SimpleNamespace(answers=True, edit=True)
VIEWER = SimpleNamespace(answers=True, edit=False)
EXPERT = SimpleNamespace(answers=False, edit=False)
ALL_TABS = ["overview", "questions", "people", "models", "analyses", "settings"]


@pytest.fixture
def rivers(rana, tmp_path):
    """Return a set whose version 1 has two questions and the answers of three workers."""
    made = QuestionSet.objects.create(owner=rana, name="rivers")
    import_world(made, tmp_path)
    return made


@pytest.fixture
def page_of(client, rivers):
    client.force_login(rivers.owner)

    def read(question_set=rivers):
        return client.get(reverse("admin:question-set", args=[question_set.public_id]))

    return read


def tabs_of(response):
    """Return the anchors that the tabs lead to."""
    found = re.search(r'<nav class="set-tabs".*?</nav>', response.content.decode(), re.DOTALL)
    return re.findall(r'href="#([a-z]+)"', found[0])


def test_each_tab_leads_to_a_section_of_the_page(page_of):
    response = page_of()
    assert tabs_of(response) == ALL_TABS
    sections = re.findall(r'class="set-panel" id="([a-z]+)"', response.content.decode())
    assert sections == ALL_TABS


def test_the_page_has_one_primary_action(page_of, rivers):
    response = page_of()
    assert response.content.decode().count("cg-primary") == 1
    assert response.context["step"].code == "grade"  # it has answers and no run
    empty = QuestionSet.objects.create(owner=rivers.owner, name="empty")
    response = page_of(empty)
    assert response.content.decode().count("cg-primary") == 1
    assert response.context["step"].code == "import_answers"


def step(rights=OWNER, n_questions=3, n_answers=9, runs=(), record=None, collecting=None):
    """Return the code of the next step of a set in that state; None without one."""
    made = QuestionSet(name="rivers")
    counts = {"questions": n_questions, "answers": n_answers}
    found = find_next_step(made, rights, counts, runs, record, collecting)
    return found and found.code


def test_the_next_step_follows_the_state_of_the_set():
    run, old = Run(), Run()
    done = SimpleNamespace(run=run.public_id, changed=False, newer=None)
    changed = SimpleNamespace(run=run.public_id, changed=True, newer=None)
    renewed = SimpleNamespace(run=run.public_id, changed=True, newer=old.public_id)
    active = Run(kind="aqer", state="running")
    assert step(n_questions=0, n_answers=0) == "import_answers"
    assert step(n_answers=0) == "collect"
    assert step(n_answers=0, collecting=Collection.State.CLOSED) == "collect"
    assert step(n_answers=0, collecting=Collection.State.OPEN) == "watch"
    assert step() == "grade"
    assert step(runs=[active]) == "follow_run"
    assert step(record=done) == "show_results"
    assert step(record=changed) == "grade"
    assert step(record=renewed) == "show_results"


def test_who_may_not_edit_is_offered_results_alone():
    done = SimpleNamespace(run=Run().public_id, changed=True, newer=None)
    assert step(VIEWER) is None
    assert step(VIEWER, record=done) == "show_results"
    assert step(EXPERT, record=done) is None


def test_research_analyses_are_folded_and_all_others_are_not(page_of):
    context = page_of().context
    research = {start.link.rstrip("/").rpartition("/")[2] for start in context["research"]}
    assert {"maqa", "multiqa", "eloquent", "judge", "panels"} <= research
    assert not research & {"grade", "ask", "crowd-size", "views"}
    said = page_of().content.decode()
    folded = said[said.index('<details class="cg-after" id="more">') :]
    assert all(start.link in folded for start in context["research"])


def with_questions(owner, text):
    """Return a set with a draft of two questions of that text."""
    made = QuestionSet.objects.create(owner=owner, name=f"{len(text)} letters")
    draft = made.draft()
    for name in ("q1", "q2"):
        draft.questions.create(external_id=name, text=text)
    return made


def test_math_word_problems_are_offered_to_sets_that_hold_some(page_of, rivers, rana):
    unsuited = [start.link for start in page_of().context["unsuited"]]
    assert unsuited == [reverse("admin:start", args=[rivers.public_id, "umwp"])]
    text = "Ann has 3 pens and buys 2. How many pens has she?"
    assert page_of(with_questions(rana, text)).context["unsuited"] == []
    # What is asked stands at the end of a long problem.
    long = f"Ann has 3 pens. {'She writes a letter. ' * 30}How many pens has she?"
    assert page_of(with_questions(rana, long)).context["unsuited"] == []


def test_digits_alone_make_no_word_problem_and_a_label_does():
    why = "Why does CO2 warm the air, and not H2O?"
    assert not has_word_problems([Question(text=why)])
    assert has_word_problems([Question(text=why, answerable=False)])
    assert not has_word_problems([Question(text="How many rivers are there?")])  # without a number
    assert has_word_problems([Question(text="Of 3 rivers 2 are dry. How many are not?")])
    assert not has_word_problems([])
