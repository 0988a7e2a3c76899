"""Questions that are no math problems: letters in their answers are no variables."""

import pytest
from django.urls import reverse

from annotations.exchange.importing import import_answers
from annotations.exchange.reading.source import make_bytes_source
from annotations.models import QuestionSet
from evaluation.umwp.report.people import build_people_report
from evaluation.umwp.report.results import build_replies_page, build_report
from evaluation.umwp.storage.questions import load_word_problems
from evaluation.umwp.views import describe_version_inputs
from tests.evaluation.core.backends.chat.fake import said
from tests.evaluation.runs.run_types.texts import numbers_of
from tests.evaluation.umwp.world import UNKNOWN, done, options, table

GAS = "The gas is CO2."


def science(owner, accepted=("carbon dioxide", "Na")):
    """A set of two questions about substances; `accepted` answers, None for none."""
    made = QuestionSet.objects.create(owner=owner, name="science")
    texts = ("Which gas do plants take up?", "Which symbol has sodium?")
    for place, text in enumerate(texts):
        answers = [accepted[place]] if accepted else []
        made.draft().questions.create(
            external_id=f"q{place}", text=text, position=place, accepted_answers=answers
        )
    return made


@pytest.fixture
def chemist(server):
    """A server whose models answer CO2 to everything, but Na of sodium."""
    server.reply = lambda body: said("Na" if "sodium" in str(body) else GAS)
    return server


@pytest.mark.parametrize("rules", ["fixed", "paper"])
def test_letters_of_a_text_answer_are_no_variables(rita, small, chemist, rules):
    version = science(rita).latest_version()
    version.questions.update(answerable=True)
    run = done(version.question_set, options(small, rules=rules))
    rows = table(run, "items")
    assert [(row["taken_as"], row["answer"]) for row in rows] == [("answerable", None)] * 2
    assert [warning["code"] for warning in run.warnings] == ["umwp.not_math"]
    assert run.warnings[0]["values"] == {"count": 2, "questions": 2}
    # The same replies where an accepted answer is a number: CO2 is an expression.
    version.questions.update(accepted_answers=["2"])
    again = done(version.question_set, options(small, rules=rules))
    assert table(again, "items")[0]["decided_by"] == "expression"
    assert again.warnings == []


def is_math(owner, **about):
    """Whether each question of a set is mathematical: accepted answers by name."""
    made = QuestionSet.objects.create(owner=owner, name="-".join(about))
    for place, (name, accepted) in enumerate(about.items()):
        made.draft().questions.create(
            external_id=name, text="How many?", position=place, accepted_answers=accepted
        )
    return {one.id: one.is_math for one in load_word_problems(made.latest_version())}


def test_accepted_answers_tell_which_questions_are_mathematical(rita):
    # 2 of 3 with accepted answers accept a number: a set of math, but for the text.
    found = is_math(rita, a=["7"], b=["1,250"], c=["red"], d=[])
    assert found == {"a": True, "b": True, "c": False, "d": True}
    # 1 of 3: no set of math, the year included.
    found = is_math(rita, year=["1969"], sky=["blue"], rose=["red"], none=[])
    assert not any(found.values())


def test_without_accepted_answers_digits_in_the_wordings_tell(rita):
    made = science(rita, None)
    assert [one.is_math for one in load_word_problems(made.latest_version())] == [False, False]
    made.latest_version().questions.filter(external_id="q1").update(text="Tom has 3. How many?")
    # A digit in 1 of 2 wordings: half are enough, as a problem without an answer may lack its own.
    assert [one.is_math for one in load_word_problems(made.latest_version())] == [True, True]


def test_the_form_counts_questions_that_are_no_math_before_the_start(rita, question_set):
    version = science(rita).latest_version()
    assert numbers_of(describe_version_inputs(version).words) == [2, 2, 2]
    assert numbers_of(describe_version_inputs(question_set.latest_version()).words) == [3, 2]


@pytest.mark.medium
def test_people_are_counted_without_any_label(client, rita, small, large, chemist):
    made = science(rita, None)
    lines = ["worker,question,answer", "ann,q0,CO2", f"ann,q1,{UNKNOWN}", "ben,q0,oxygen"]
    import_answers(made, make_bytes_source("answers.csv", "\n".join(lines).encode()))
    run = done(made, options(small, large))
    report = build_people_report(run)
    assert (report.people, report.questions, report.answers) == (2, 2, 3)
    # Ann's second answer of 3; the models gave an answer to both questions.
    counts = [
        (one.system, one.is_people, one.n_unanswerable, one.n) for one in report.no_answer_counts
    ]
    assert counts == [("people", True, 1, 3), ("small", False, 0, 2), ("large", False, 0, 2)]
    assert report.benchmark == []
    client.force_login(rita)
    address = reverse("admin:results-page", kwargs={"run": run.public_id, "slug": "people"})
    page = client.get(address).content
    assert (b'id="no-people"' in page, b'data-state="no_labels"' in page) == (False, True)


@pytest.mark.medium
def test_rows_that_hold_no_number_are_hidden_and_said_to_be(client, rita, small, large, chemist):
    run = done(science(rita), options(small, large, instruction=True))
    report = build_report(run)
    # Two measures in two forms, over no question: the CSV has them, the page does not.
    assert [row["n"] for row in table(run, "comparisons")] == [0] * 4
    assert (report.compared, report.known_parts) == ([], [])
    assert not report.has_right_numbers
    client.force_login(rita)
    page = client.get(reverse("admin:results-run", args=[run.public_id])).content.decode()
    assert ('id="compared"' in page, 'data-state="nothing_compared"' in page) == (False, True)
    assert 'id="parts"' not in page
    version = run.version
    version.questions.update(answerable=True)
    page = client.get(
        reverse("admin:results-run", args=[done(version.question_set, options(small)).public_id])
    ).content.decode()
    assert 'data-state="no_right_numbers"' in page
    assert 'data-state="no_pairs"' in page


def test_a_reply_to_a_text_question_is_shown_without_a_number(client, rita, small, chemist):
    run = done(science(rita), options(small))
    assert [one.is_math for one in build_replies_page(run).replies] == [False, False]
    client.force_login(rita)
    page = client.get(reverse("admin:results-noticing-replies", args=[run.public_id]))
    assert page.content.count(b'data-state="not_math"') == 2
