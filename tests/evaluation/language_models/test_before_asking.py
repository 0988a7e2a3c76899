"""Before a run asks models: what is refused, what each will see, and what it takes."""

import pytest

from annotations.models import Question, QuestionSet
from evaluation.core.options import OptionError
from evaluation.models import Run
from evaluation.runs.background import runs
from evaluation.runs.flow.asking.options import AskOptions
from evaluation.runs.flow.asking.plan import Prompt
from evaluation.runs.steps.asking.preview import estimate_askings, preview_askings
from evaluation.runs.steps.asking.registration import create_prompt
from tests.annotations import world as crowd
from tests.evaluation.core.backends.chat.fake import question_of
from tests.evaluation.language_models import asked, model, queued

pytestmark = pytest.mark.django_db
QUESTIONS, REQUESTS = 6, 5


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"models": ()}, "no_models"),
        ({"models": ("0192f3c4-0000-7000-8000-000000000000",)}, "unknown_models"),
        ({"prompt": "nonsense"}, "unknown_prompt"),
        ({"prompt": "passage"}, "no_passage"),
        ({"temperature": -1.0}, "min_value"),
        ({"samples": 0}, "min_value"),
        ({"requests_per_minute": 0.1}, "min_value"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_sent(version, small, options, code):
    given = {"models": (str(small.public_id),), **options}
    with pytest.raises(OptionError, match=code):
        runs.queue_run(version, version.question_set.owner_id, AskOptions(**given), "ask")
    assert not Run.objects.exists()


def test_nobody_has_a_model_of_somebody_else_asked(version, small):
    otto = crowd.user("otto", is_staff=True)
    with pytest.raises(OptionError, match="unknown_models, missing=1"):
        queued(version, small, owner=otto)


def test_imported_models_questions_without_text_and_other_strategies_are_refused(
    version, rana, small, chat
):
    with pytest.raises(OptionError, match="no_spec"):
        queued(version, model(rana, "imported", ""))
    beside = model(rana, "beside", chat.spec, strategy="passage")
    with pytest.raises(OptionError, match="other_strategy"):
        queued(version, beside, prompt="closed")
    Question.objects.filter(external_id="r2").update(text="")
    with pytest.raises(OptionError, match="no_text, count=1"):
        queued(version, small)
    empty = QuestionSet.objects.create(owner=rana, name="empty").draft()
    with pytest.raises(OptionError, match="no_questions"):
        queued(empty, small)


def test_a_model_ranked_beside_passages_is_shown_them(version, rana, chat):
    passage = version.passages.create(external_id="p1", text="The river rises in Wales.")
    version.questions.update(passage=passage)
    beside = model(rana, "beside", chat.spec, strategy="passage")
    (one,) = asked(version, beside).models
    assert one.strategy == "passage"
    assert "The river rises in Wales." in question_of(chat.bodies[0])


def test_choices_and_fields_of_a_question_are_shown_as_by_the_command(version, rana, chat):
    question = version.questions.get(external_id="r2")
    question.choices, question.category = ["Wales", "Peru"], "rivers"
    question.save()
    prompt = Prompt("closed", "[{category}] {question}{choices}", "")
    made = create_prompt(rana.pk, "choosing", prompt)
    asked(version, model(rana, "small", chat.spec), prompt=str(made.public_id))
    assert "[rivers] Where is river 2?\nChoices:\n- Wales\n- Peru" in map(question_of, chat.bodies)


def test_a_preview_shows_what_the_model_will_see_and_sends_nothing(version, rana, small, chat):
    options = AskOptions(models=(str(small.public_id),), temperature=0.5)
    (shown,) = preview_askings(version, rana, options, count=2)
    assert (shown.model, shown.prompt) == ("small", "Closed book")
    assert shown.parameters == {"temperature": 0.5, "max_tokens": 256, "seed": 0}
    assert [one.question for one in shown.conversations] == ["r1", "r2"]
    assert chat.bodies == []
    asked(version, small, temperature=0.5)
    sent = [body["messages"] for body in chat.bodies]
    for one in shown.conversations:
        assert [dict(message) for message in one.messages] in sent


def test_an_estimate_counts_requests_tokens_and_money_and_what_is_stored(
    version, rana, small, chat
):
    options = AskOptions(models=(str(small.public_id),), max_tokens=100)
    (before,) = estimate_askings(version, rana, options)
    assert (before.requests, before.stored, before.duration) == (QUESTIONS, 0, None)
    assert before.completion_tokens == REQUESTS * 100
    # 1 a million read, 2 a million written.
    assert before.cost == pytest.approx((before.prompt_tokens + 2 * 500) / 1_000_000)
    assert chat.bodies == []
    asked(version, small, max_tokens=100)
    (after,) = estimate_askings(version, rana, options)
    assert (after.stored, after.to_ask, after.cost) == (QUESTIONS, 0, 0.0)
    more = AskOptions(models=options.models, max_tokens=100, temperature=1.0, concurrency=1)
    (known,) = estimate_askings(version, rana, more)
    assert known.duration.total_seconds() > 0
