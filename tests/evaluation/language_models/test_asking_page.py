"""Asking from the page of a set: choose, see what will be sent, ask; then how it goes and went."""

from html import unescape

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from django.utils.html import escape

from evaluation.core.messages.reasons import get_fault_texts
from evaluation.language_models.views.asking import RequestTotals
from evaluation.models import LanguageModel, LLMResponse, Run
from evaluation.runs.background.work import work_one_turn
from evaluation.runs.flow.asking.plan import CLOSED, SYSTEM, TEMPLATES
from evaluation.runs.steps.asking.preview import AskingEstimate
from tests.annotations import world as crowd
from tests.evaluation.core.backends.chat.fake import error, fake_chat, question_of, said
from tests.evaluation.site.handles import element_text, error_codes, numbers, states

UNKNOWN_MODEL = "00000000-0000-0000-0000-000000000000"


@pytest.fixture(autouse=True)
def quiet(settings, monkeypatch):
    """This machine may be asked; nobody hears the bell."""
    settings.MODEL_NETWORKS = ["127.0.0.0/8"]
    monkeypatch.setattr("evaluation.runs.background.work.wake_process", lambda: True)
    monkeypatch.setattr("evaluation.runs.background.leases.wake_process", lambda: True)


@pytest.fixture
def chat():
    with fake_chat() as server:
        yield server


@pytest.fixture
def rivers(rana):
    return crowd.version(rana).question_set


@pytest.fixture
def small(chat, rana):
    return LanguageModel.objects.create(
        owner=rana, name="Small 1", spec=chat.spec, price_in=1.0, price_out=10.0
    )


def asked_as(question):
    """A question as the closed prompt puts it."""
    return TEMPLATES[CLOSED].format(question=question, choices="")


def text_of(response):
    return response.content.decode()


def page(site, rivers, query=""):
    return site.get(reverse("admin:ask-models", args=[rivers.public_id]) + query)


def filled(*models, **changed):
    given = {
        "models": [str(model.public_id) for model in models],
        "prompt": "",
        "samples": "1",
        "budget": "",
        "temperature": "",
        "max_tokens": "",
        "seed": "0",
        "concurrency": "2",
        "requests_per_minute": "",
        "timeout": "20",
        "attempts": "1",
        "do": "preview",
    }
    return {**given, **changed}


def post(site, rivers, *models, **changed):
    address = reverse("admin:ask-models", args=[rivers.public_id])
    return site.post(address, filled(*models, **changed))


def ask(site, rivers, *models, **changed):
    """Preview, then ask what was seen."""
    seen = post(site, rivers, *models, **changed).context["seen"]
    return post(site, rivers, *models, **changed, do="ask", seen=seen)


def work():
    while work_one_turn():
        pass


def test_it_is_reached_from_the_page_of_the_set_also_without_answers(site, rivers):
    of_set = text_of(site.get(reverse("admin:question-set", args=[rivers.public_id])))
    assert reverse("admin:ask-models", args=[rivers.public_id]) in of_set
    assert reverse("admin:grade", args=[rivers.public_id]) not in of_set


def test_three_clicks_ask_the_models_that_are_there(site, rivers, small, chat):
    # The first click opens the page, on which few models are chosen and previewed already.
    opened = page(site, rivers)
    form = opened.context["form"]
    assert form["models"].value() == [str(small.public_id)]
    values = {field.name: field.value() for field in form}
    as_opened = {n: v for n, v in values.items() if v is not None and v is not False}
    address = reverse("admin:ask-models", args=[rivers.public_id])
    # The second asks.
    asked = site.post(address, {**as_opened, "do": "ask", "seen": opened.context["seen"]})
    run = Run.objects.get()
    assert asked.url == reverse("admin:run", args=[run.public_id])
    assert (run.kind, run.parameters["models"]) == ("ask", [str(small.public_id)])
    assert chat.bodies == []
    work()
    assert sorted(question_of(body) for body in chat.bodies) == [
        asked_as(f"Where is river {n}?") for n in (1, 2)
    ]


def test_the_preview_shows_what_will_be_sent_and_counts_it(site, rivers, small, chat):
    response = post(site, rivers, small, samples="3", max_tokens="100", temperature="0.7")
    said_of_it = text_of(response)
    assert SYSTEM in said_of_it
    assert asked_as("Where is river 1?") in said_of_it
    assert "<code>temperature: 0.7</code>" in said_of_it
    takes = response.context["takes"]
    # Two questions, three times each; each reply has at most 100 tokens.
    assert (takes.to_ask, takes.completion_tokens) == (6, 600)
    # 1 for a million tokens read, 10 for a million written.
    assert takes.cost == pytest.approx((takes.prompt_tokens + 10 * 600) / 1e6)
    assert chat.bodies == []
    assert not Run.objects.exists()


@pytest.mark.medium
def test_nothing_is_sent_that_was_not_shown(site, rivers, small):
    seen = post(site, rivers, small).context["seen"]
    changed = post(site, rivers, small, samples="50", do="ask", seen=seen)
    assert "changed_since_preview" in states(text_of(changed))
    assert changed.context["takes"].to_ask == 100
    assert not Run.objects.exists()
    assert post(site, rivers, small, do="ask").status_code == 200
    assert not Run.objects.exists()


@pytest.mark.parametrize(
    ("changed", "field", "code", "named"),
    [
        ({"models": []}, "models", "required", []),
        ({"models": [UNKNOWN_MODEL]}, "models", "invalid_choice", []),
        ({"samples": "0"}, "samples", "min_value", [0, 1]),
        ({"budget": "-1"}, "budget", "min_value", [-1, 0]),
        ({"prompt": "nobody's"}, "prompt", "invalid_choice", []),
        ({"prompt": "passage"}, "prompt", "no_passage", [2]),
    ],
)
def test_what_is_wrong_is_said_and_nothing_starts(site, rivers, small, changed, field, code, named):
    response = post(site, rivers, small, **changed)
    assert response.status_code == 400
    errors = response.context["form"].errors
    assert list(errors) == [field]
    assert error_codes(errors.as_data()[field]) == [code]
    assert numbers(errors[field][0].replace(UNKNOWN_MODEL, "")) == named
    assert escape(errors[field][0]) in text_of(response)
    assert not Run.objects.exists()


def test_a_budget_needs_prices(site, rivers, small):
    LanguageModel.objects.update(price_in=None, price_out=None)
    response = post(site, rivers, small, budget="1")
    assert response.status_code == 400
    (errors,) = response.context["form"].errors.as_data().values()
    assert error_codes(errors) == ["no_prices"]
    assert "price_unknown" in states(text_of(response))


def test_a_budget_that_may_not_do_is_said_before(site, rivers, small):
    response = post(site, rivers, small, budget="0.001")
    assert numbers(element_text(text_of(response), "over_budget")) == [0.001]


def test_without_models_or_questions_the_page_says_what_to_do(site, rivers, rana):
    assert states(text_of(page(site, rivers))) == ["no_models"]
    LanguageModel.objects.create(owner=rana, name="uploaded")
    assert states(text_of(page(site, rivers))) == ["no_models"]
    rivers.versions.get().questions.all().delete()
    assert states(text_of(page(site, rivers))) == ["no_questions"]


def test_nobody_is_offered_the_models_of_another_requester(client, small):
    otto = crowd.user("otto", is_staff=True)
    lakes = crowd.version(otto, "lakes").question_set
    client.force_login(otto)
    assert "Small 1" not in text_of(page(client, lakes))
    assert post(client, lakes, small).status_code == 400
    assert not Run.objects.exists()


@pytest.mark.medium
def test_the_page_of_the_run_shows_each_model_and_in_the_end_what_came(
    site, rivers, small, rana, chat
):
    def reply(body):
        if "river 2" in question_of(body):
            return error(400, "strange") if body["model"] == "bad" else said("")
        return said("north")

    chat.reply = reply
    bad = LanguageModel.objects.create(owner=rana, name="Bad 1", spec=f"openai:bad@{chat.url}")
    run_page = ask(site, rivers, small, bad).url
    run = Run.objects.get()
    said_of_it = text_of(site.get(run_page))
    assert "run_queued" in states(said_of_it)
    assert element_text(said_of_it, "run-line")
    assert "<dt>Models</dt><dd>Small 1, Bad 1</dd>" in said_of_it
    assert str(bad.public_id) not in said_of_it
    work()
    run.refresh_from_db()
    assert (run.state, run.error) == ("done", "")
    for address in (run_page, reverse("admin:results-run", args=[run.public_id])):
        said_of_it = " ".join(text_of(site.get(address)).split())
        assert "replies_missing" in states(said_of_it)
        fault = get_fault_texts("bad_request")
        assert f"1 × {fault.what}. {fault.remedy}" in unescape(said_of_it)
        assert reverse("admin:grade", args=[rivers.public_id]) in said_of_it
    asked = site.get(run_page).context["asked"]
    assert [
        (one.came.name, one.came.answered, one.came.empty, one.came.failures) for one in asked
    ] == [("Small 1", 1, 1, 0), ("Bad 1", 1, 0, 1)]
    # 10 tokens read and 5 written a reply, two replies: (2 * 10 * 1 + 2 * 5 * 10) / 1e6.
    assert asked[0].came.cost == pytest.approx(120e-6)
    assert "0.00012" in text_of(site.get(run_page))
    assert not asked[1].has_prices


@pytest.mark.medium
def test_a_run_that_is_paused_shows_how_far_each_model_is_and_goes_on(site, rivers, small, chat):
    run_page = ask(site, rivers, small).url
    run = Run.objects.get()
    site.post(reverse("admin:run-pause", args=[run.public_id]))
    assert not work_one_turn()
    assert "Resume" in text_of(site.get(run_page))
    site.post(reverse("admin:run-resume", args=[run.public_id]))
    work()
    run.refresh_from_db()
    assert run.state == "done"
    assert "replies_complete" in states(text_of(site.get(run_page)))


def test_the_part_of_the_page_that_its_script_asks_for_is_of_the_models_alone(site, rivers, small):
    ask(site, rivers, small)
    work()
    run = Run.objects.get()
    part = text_of(site.get(reverse("admin:run-standing", args=[run.public_id])))
    assert "Small 1" in part
    assert "<html" not in part


@pytest.mark.medium
def test_asking_again_in_the_same_way_sends_nothing(site, rivers, small, chat):
    ask(site, rivers, small)
    work()
    assert len(chat.bodies) == 2
    response = post(site, rivers, small)
    assert "asked_before" in states(text_of(response))
    ask(site, rivers, small)
    work()
    assert len(chat.bodies) == 2
    assert LLMResponse.objects.count() == 2


def test_what_a_model_writes_is_never_run_as_a_page(site, rivers, small, chat):
    chat.reply = lambda body: error(400, "<script>alert(1)</script>")
    run_page = ask(site, rivers, small).url
    work()
    assert "<script>alert" not in text_of(site.get(run_page))


def test_viewers_see_how_it_went_and_cannot_ask(client, site, rivers, small):
    run_page = ask(site, rivers, small).url
    work()
    rivers.shares.create(user=crowd.user("vera"), role="viewer")
    client.force_login(User.objects.get(username="vera"))
    assert "Small 1" in text_of(client.get(run_page))
    assert page(client, rivers).status_code == 403


def test_models_are_asked_beside_each_other_so_the_slowest_says_how_long():
    from datetime import timedelta

    def one(name, to_ask, cost, seconds, reason=""):
        took = None if seconds is None else timedelta(seconds=seconds)
        return AskingEstimate("", name, to_ask, 0, 10, 20, cost, took, reason)

    both = RequestTotals.from_estimates([one("a", 2, 0.5, 30), one("b", 3, 0.25, 50)])
    assert (both.to_ask, both.cost, both.duration) == (5, 0.75, timedelta(seconds=50))
    unknown = RequestTotals.from_estimates([one("a", 2, None, 30), one("b", 3, 0.25, None)])
    assert (unknown.cost, unknown.duration) == (None, None)
    # One that cannot be asked takes nothing, and hides nothing.
    refused = RequestTotals.from_estimates(
        [one("a", 2, 0.5, 30), one("b", 3, None, None, "no address")]
    )
    assert (refused.to_ask, refused.cost, refused.duration) == (2, 0.5, timedelta(seconds=30))
