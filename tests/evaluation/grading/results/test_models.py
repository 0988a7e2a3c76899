"""Pages of language models: registering, editing, trying one question, deleting."""

import json
import threading
import time

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client
from django.urls import reverse
from django.utils.html import escape

from evaluation.core.backends.chat import smollm2
from evaluation.core.messages.reasons import get_fault_texts
from evaluation.core.options import SITE
from evaluation.language_models.views import model_form
from evaluation.models import LanguageModel
from evaluation.runs.flow.asking.options import ModelOptions
from evaluation.runs.flow.asking.plan import SYSTEM
from evaluation.runs.steps.asking.registration import find_registration_problems, read_model_options
from tests.annotations import world as crowd
from tests.evaluation.core.backends.chat.fake import error, fake_chat, said
from tests.evaluation.site.handles import element_text, error_codes, numbers, states

KEY = "SOME_TEST_KEY"
SECRET = "sk-0123456789abcdef"


@pytest.fixture
def chat():
    with fake_chat() as server:
        yield server


@pytest.fixture(autouse=True)
def allowed(settings, monkeypatch):
    """This machine may be asked, and one variable holds a key for it."""
    settings.MODEL_NETWORKS = ["127.0.0.0/8"]
    settings.KEY_VARIABLES = [KEY]
    monkeypatch.setenv(KEY, SECRET)


def form(chat, **changed):
    given = {"name": "Small 1", "place": "address", "url": chat.url, "called": "small"}
    return {**given, "parameters": "", **changed}


@pytest.fixture
def registered(chat, rana):
    return LanguageModel.objects.create(
        owner=rana, name="Small 1", spec=chat.spec, parameters={"top_p": 0.5}
    )


def text_of(response):
    return response.content.decode()


def shown(site, model, name="model"):
    return text_of(site.get(reverse(f"admin:{name}", args=[model.public_id])))


def ask(site, model, **given):
    address = reverse("admin:model-try", args=[model.public_id])
    asked = {"question": "Where does it rain?", "prompt": "closed", "passage": "", **given}
    said_of_it = site.post(address, asked)
    if said_of_it.status_code != 302:
        return said_of_it
    return reply_at(site, said_of_it.url)


def reply_at(site, address, seconds=30):
    """The page of a trial once the model has answered; a browser asks for it again and again."""
    until = time.monotonic() + seconds
    while "Refresh" in (found := site.get(address)):
        assert time.monotonic() < until, "the trial did not end"
        time.sleep(0.02)
    return found


@pytest.fixture(autouse=True)
def nobody_is_asking():
    cache.clear()


def test_a_model_is_registered_with_all_that_is_said_of_it(site, rana, chat):
    more = {
        "key_variable": KEY,
        "price_in": "0.15",
        "price_out": "0.6",
        "family": "Small",
        "version": "2026-10",
        "parameters": '{"top_p": 0.9}',
    }
    response = site.post(reverse("admin:model-new"), form(chat, **more))
    model = LanguageModel.objects.get()
    assert response.url == reverse("admin:model", args=[model.public_id])
    assert (model.owner, model.name, model.spec) == (rana, "Small 1", chat.spec)
    assert (model.key_variable, model.parameters) == (KEY, {"top_p": 0.9})
    assert (model.price_in, model.price_out, model.family) == (0.15, 0.6, "Small")
    said_of_it = shown(site, model)
    assert "at 127.0.0.1:" in said_of_it
    assert numbers(element_text(said_of_it, "prices")) == [0.15, 0.6]
    assert SECRET not in said_of_it


@pytest.mark.parametrize(
    ("changed", "field", "code", "named"),
    [
        ({"name": ""}, "name", "required", ""),
        ({"url": ""}, "url", "required", ""),
        ({"called": ""}, "called", "required", ""),
        ({"url": "ftp://example.org"}, "url", "spec", "http"),
        ({"url": "http://10.0.0.1/v1"}, "url", "address", "10.0.0.1"),
        ({"key_variable": "HOME"}, "key_variable", "variable_refused", "HOME"),
        ({"key_variable": "SECRET_KEY"}, "key_variable", "variable_refused", "SECRET_KEY"),
        ({"key_variable": SECRET}, "key_variable", "variable", ""),
        ({"price_in": "1"}, "price_out", "prices", ""),
        ({"price_in": "-1", "price_out": "1"}, "price_in", "min_value", "-1"),
        ({"parameters": "{"}, "parameters", "invalid", "{"),
        ({"parameters": '{"n": 2}'}, "parameters", "fixed", "n"),
        ({"place": "here"}, "place", "invalid_choice", "here"),
    ],
)
def test_what_is_wrong_stands_at_its_field_and_nothing_is_stored(
    site, chat, monkeypatch, changed, field, code, named
):
    monkeypatch.setattr(smollm2, "is_installed", lambda: False)
    response = site.post(reverse("admin:model-new"), form(chat, **changed))
    assert response.status_code == 400
    errors = response.context["form"].errors
    assert list(errors) == [field]
    assert error_codes(errors.as_data()[field]) == [code]
    assert named in errors[field][0]
    assert "--" not in errors[field][0]
    assert SECRET not in errors[field][0]
    assert escape(errors[field][0]) in text_of(response)
    assert not LanguageModel.objects.exists()


def test_a_name_is_taken_once(site, chat, registered):
    response = site.post(reverse("admin:model-new"), form(chat))
    assert response.status_code == 400
    assert error_codes(response.context["form"].errors.as_data()["name"]) == ["name_taken"]
    assert LanguageModel.objects.count() == 1


def test_a_model_is_edited_and_begins_with_what_is_stored(site, chat, registered):
    address = reverse("admin:model-edit", args=[registered.public_id])
    begun = site.get(address).context["form"]
    assert (begun["url"].value(), begun["called"].value()) == (chat.url, "small")
    assert json.loads(begun["parameters"].value()) == {"top_p": 0.5}
    site.post(address, form(chat, name="Small 2", called="small-2"))
    registered.refresh_from_db()
    assert (registered.name, registered.spec) == ("Small 2", f"openai:small-2@{chat.url}")
    site.post(address, form(chat, place="nowhere", key_variable=KEY))
    registered.refresh_from_db()
    assert (registered.spec, registered.key_variable) == ("", "")
    assert "no_address" in states(shown(site, registered))


def test_what_an_operator_set_up_stays_when_the_rest_is_edited(site, chat, registered):
    LanguageModel.objects.update(spec="replies:/srv/replies.csv")
    User.objects.filter(username="rana").update(is_superuser=True)
    address = reverse("admin:model-edit", args=[registered.public_id])
    assert site.get(address).context["form"]["place"].value() == "kept"
    assert "/srv/replies.csv" not in text_of(site.get(address))
    site.post(address, form(chat, place="kept", family="Scripted"))
    registered.refresh_from_db()
    assert (registered.spec, registered.family) == ("replies:/srv/replies.csv", "Scripted")


def test_trying_shows_the_reply_what_it_took_and_what_was_sent(site, chat, registered):
    said_of_it = text_of(ask(site, registered))
    [body] = chat.bodies
    # Its own parameter, and the seed and length that a trial has.
    assert (body["top_p"], body["max_tokens"], body["seed"]) == (0.5, 256, 0)
    assert body["messages"][-1]["content"].startswith("Question: Where does it rain?\n")
    assert "to Question: Where does it rain?" in said_of_it
    # Seconds, tokens read and tokens written.
    assert numbers(element_text(said_of_it, "reply-took"))[1:] == [10, 5]
    assert "What was sent" in said_of_it
    assert SYSTEM in said_of_it
    assert not registered.responses.exists()


@pytest.mark.parametrize(
    ("answer", "shown_as", "expected"),
    [
        (error(401), "no_reply", get_fault_texts("unauthorized").remedy),
        (error(404), "no_reply", get_fault_texts("not_found").remedy),
        (error(429), "no_reply", get_fault_texts("rate_limited").remedy),
        (error(500), "no_reply", get_fault_texts("server_error").remedy),
        (
            error(400, "context_length_exceeded"),
            "no_reply",
            get_fault_texts("prompt_too_long").remedy,
        ),
        (said(""), "reply_empty", ""),
        (said("I cannot.", "content_filter"), "reply_refused", "I cannot."),
        (said("It rains in", "length"), "reply_cut", ""),
        (said("<script>alert(1)</script>"), "reply_text", "<script>alert(1)</script>"),
    ],
)
def test_whatever_comes_back_is_said_clearly(site, chat, registered, answer, shown_as, expected):
    chat.reply = lambda body: answer
    response = ask(site, registered)
    assert response.status_code == 200
    assert element_text(text_of(response), shown_as).endswith(expected)
    assert "<script>alert" not in text_of(response)
    assert len(chat.bodies) == 1


def test_a_server_that_does_not_answer_holds_no_web_thread_and_one_trial_a_user(
    site, chat, registered, monkeypatch
):
    answers = threading.Event()
    chat.reply = lambda body: (answers.wait(30), said("It rains here."))[1]
    address = reverse("admin:model-try", args=[registered.public_id])
    asked = {"question": "Where does it rain?", "prompt": "closed", "passage": ""}
    try:
        began = site.post(address, asked)  # returns though the model has said nothing
        assert began.status_code == 302
        waiting = site.get(began.url)
        assert waiting["Refresh"] == f"2; url={began.url.replace('#', '&look=1#')}"
        # The same address again would only scroll to the reply that is not there.
        second = site.get(began.url.replace("#", "&look=1#"))
        assert second["Refresh"] == f"2; url={began.url.replace('#', '&look=2#')}"
        assert "asking" in states(text_of(waiting))
        again = site.post(address, asked)
        assert again.status_code == 429
        assert error_codes(again.context["form"].non_field_errors().as_data()) == ["one_at_a_time"]
        other = Client()
        other.force_login(User.objects.create_user("olga", is_staff=True, is_superuser=True))
        monkeypatch.setattr(model_form, "_places", threading.BoundedSemaphore(1))
        model_form._places.acquire()
        busy = other.post(address, asked)
        assert busy.status_code == 429
        assert error_codes(busy.context["form"].non_field_errors().as_data()) == ["trials_busy"]
        # Another one's trial is nobody's to look at.
        assert "asking" not in states(text_of(other.get(began.url)))
        model_form._places.release()
    finally:
        answers.set()
    assert element_text(text_of(reply_at(site, began.url)), "reply_text") == "It rains here."
    assert element_text(text_of(ask(site, registered)), "reply_text") == "It rains here."


def test_a_server_that_is_away_is_said_so(site, registered):
    LanguageModel.objects.update(spec="openai:small@http://127.0.0.1:9/v1")
    said_of_it = text_of(ask(site, registered))
    assert element_text(said_of_it, "no_reply").endswith(get_fault_texts("connection").remedy)


def test_an_address_that_is_not_allowed_any_more_is_not_asked(site, chat, registered, settings):
    settings.MODEL_NETWORKS = []
    (wrong,) = find_registration_problems(read_model_options(registered), registered.owner)
    assert (wrong.code, wrong.values["address"]) == ("address", "127.0.0.1")
    assert SITE.format_field_problem(ModelOptions, wrong) in text_of(ask(site, registered))
    assert chat.bodies == []


def test_a_key_that_a_server_sends_back_is_not_shown(site, chat, registered):
    LanguageModel.objects.update(key_variable=KEY)
    chat.reply = lambda body: error(401, f"bad key {SECRET}")
    assert SECRET not in text_of(ask(site, registered))
    assert chat.headers[0]["Authorization"] == f"Bearer {SECRET}"


def test_a_prompt_beside_a_passage_needs_one(site, chat, registered):
    refused = ask(site, registered, prompt="passage")
    assert refused.status_code == 400
    errors = refused.context["form"].errors.as_data()
    assert error_codes(errors["passage"]) == ["passage_missing"]
    ask(site, registered, prompt="passage", passage="In Bergen.")
    assert "In Bergen." in chat.bodies[0]["messages"][-1]["content"]
    assert ask(site, registered, question=" ").status_code == 400
    assert len(chat.bodies) == 1


def test_the_packaged_model_is_added_by_one_click_and_once(site, rana, monkeypatch):
    monkeypatch.setattr(smollm2, "is_installed", lambda: True)
    listed = reverse("admin:models")
    assert "packaged_model" in states(text_of(site.get(listed)))
    assert reverse("admin:model-packaged") in text_of(site.get(listed))
    added = site.post(reverse("admin:model-packaged"))
    model = LanguageModel.objects.get()
    assert added.url == reverse("admin:model", args=[model.public_id])
    assert (model.spec, model.size, model.owner) == ("local:smollm2", "135M", rana)
    assert "no_cost" in states(shown(site, model))
    assert "packaged_model" not in states(text_of(site.get(listed)))
    assert site.post(reverse("admin:model-packaged")).url == added.url
    assert LanguageModel.objects.count() == 1


def test_where_the_packaged_model_is_not_installed_it_is_not_offered(site, monkeypatch):
    monkeypatch.setattr(smollm2, "is_installed", lambda: False)
    assert "packaged_model" not in states(text_of(site.get(reverse("admin:models"))))
    site.post(reverse("admin:model-packaged"))
    assert not LanguageModel.objects.exists()


def test_who_may_only_look_learns_no_address_and_asks_nothing(client, chat, registered):
    version = crowd.version(registered.owner)
    version.question_set.shares.create(user=crowd.user("vera"), role="viewer")
    question = version.questions.first()
    registered.responses.create(question=question, text="north", status="text")
    client.force_login(User.objects.get(username="vera"))
    for said_of_it in (text_of(client.get(reverse("admin:models"))), shown(client, registered)):
        assert "Small 1" in said_of_it
        assert "by its owner" in said_of_it
        assert "127.0.0.1" not in said_of_it
    assert ask(client, registered).status_code == 403
    assert chat.bodies == []


def test_who_sees_one_of_its_sets_is_told_of_no_answers_in_the_others(client, registered):
    rivers, lakes, seas = (crowd.version(registered.owner, name) for name in ("r", "l", "s"))
    for version, n in ((rivers, 1), (lakes, 2), (seas, 2)):
        for question in version.questions.all()[:n]:
            registered.responses.create(question=question, text="north", status="text")
    vera = crowd.user("vera")
    rivers.question_set.shares.create(user=vera, role="viewer")
    seas.question_set.shares.create(user=vera, role="expert")  # who judges blindly
    listed, page = reverse("admin:models"), reverse("admin:model", args=[registered.public_id])
    for user, n_sets, n_answers in ((registered.owner, 3, 5), (vera, 1, 1)):
        client.force_login(user)
        (row,) = client.get(listed).context_data["page"]
        assert (row.n_sets, row.n_answers) == (n_sets, n_answers)
        sets = list(client.get(page).context_data["sets"])
        assert (len(sets), sum(one.n_answers for one in sets)) == (n_sets, n_answers)
