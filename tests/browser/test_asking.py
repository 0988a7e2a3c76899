"""Chromium walks from registering a model through asking it to its place among people."""

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from crowdgrade import demo
from evaluation.models import LLMResponse, Run
from evaluation.runs.background.work import work_one_turn
from tests.browser.pages import LOOKS, signed_in
from tests.browser.working import show_all
from tests.evaluation.core.backends.chat.fake import error, fake_chat, question_of, said

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # Playwright's event loop makes Django and asyncio warn
]


@pytest.fixture
def question_set(transactional_db, settings, tmp_path, monkeypatch):
    """The demo's set, with people's answers; nobody hears the bell."""
    settings.HOME = tmp_path
    settings.MODEL_NETWORKS = ["127.0.0.0/8"]
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    monkeypatch.setattr("evaluation.runs.background.work.wake_process", lambda: True)
    monkeypatch.setattr("evaluation.runs.background.leases.wake_process", lambda: True)
    User.objects.create_superuser(demo.USERNAME)
    return demo.load_demo()


def reply(body):
    """Refuse one question, fail at another, and answer the others."""
    if "trans" in question_of(body):
        return said("I cannot say.", "content_filter")
    if "neap" in question_of(body).rpartition("Question:")[2]:
        return error(400, "strange")
    return said("The gravity of the Moon pulls the water.")


def work(inspector):
    """Work while the page hears nothing: the site of a test shares one connection with the worker.

    Afterwards the page asks again and notices by itself; what it told the console is expected.
    """
    page, unheard = inspector.page, "**/status.json"
    page.route(unheard, lambda route: route.abort())
    page.get_by_text("The site does not answer; trying again.").wait_for()
    while work_one_turn():
        pass
    page.unroute(unheard)
    page.wait_for_event("load", timeout=60_000)  # it asks ever more rarely, in the end every 30 s
    inspector.said.clear()


@pytest.mark.parametrize("look", LOOKS)
def test_from_registering_a_model_to_its_place_among_people(
    question_set,
    client,
    browser,
    live_server,
    look,
):
    site = live_server.url
    with (
        fake_chat(reply) as chat,
        signed_in(browser, client, site, demo.USERNAME, look) as inspector,
    ):
        page = inspector.page

        def press(name):
            page.get_by_role("button", name=name, exact=True).click()

        page.goto(site + reverse("admin:models"))
        page.get_by_role("link", name="Register a model").first.click()
        page.get_by_label("Name", exact=True).fill("Small 1")
        press("Register the model")
        page.get_by_text("Write the address of the server.", exact=True).wait_for()
        # Chromium itself tells the console of a form that was refused.
        assert all("status of 400" in line for line in inspector.said)
        inspector.said.clear()
        inspector.check("what is wrong with a model")
        page.get_by_label("Web address").fill(chat.url)
        page.get_by_label("What the server calls it").fill("small-1")
        page.get_by_text("Prices and parameters").click()
        page.get_by_label("Price of a million tokens read").fill("0.15")
        page.get_by_label("Price of a million tokens written").fill("0.60")
        press("Register the model")
        page.get_by_role("heading", name="Try it").wait_for()
        press("Ask it now")
        page.get_by_text("The gravity of the Moon pulls the water.").wait_for()
        inspector.check("a model that replied")

        page.goto(site + reverse("admin:prompt-new"))
        page.get_by_label("Name", exact=True).fill("One sentence")
        page.get_by_label("Template").fill("{question} Answer in one sentence.")
        press("Make the prompt")
        page.get_by_text("Answer in one sentence.").last.wait_for()
        inspector.check("a prompt")

        # Four clicks: Models, Ask models, Preview, Ask.
        page.goto(site + reverse("admin:question-set", args=[question_set.public_id]))
        page.click(".set-tabs a[href='#models']")
        page.get_by_role("link", name="Ask models").click()
        inspector.check("asking")
        page.get_by_label("Prompt").select_option("One sentence, version 1")
        page.get_by_label("Budget").fill("1")
        press("Preview again")
        page.get_by_text("Answer in one sentence.").first.wait_for()
        inspector.check("the preview")
        asked = len(chat.bodies)
        press("Ask 1 model")
        page.get_by_text("Queued. It starts when a background process is free.").wait_for()
        assert len(chat.bodies) == asked
        inspector.check("a run that waits")
        press("Pause")
        page.get_by_text("It is paused").wait_for()
        inspector.check("a run that is paused")
        press("Resume")
        page.get_by_text("Queued. It starts when a background process is free.").wait_for()
        work(inspector)
        page.get_by_text("Some replies are missing.").wait_for()
        run = Run.objects.get(kind="ask")
        statuses = list(run.replies.order_by("status").values_list("status", flat=True))
        n = question_set.latest_version().questions.count()
        assert len(statuses) == n == len(chat.bodies) - asked
        assert statuses.count("error") >= 1
        assert statuses.count("text") >= n // 2
        assert LLMResponse.objects.filter(run=run, prompt__contains="one sentence").count() == n
        page.get_by_text("the request was refused. Read the server's message").wait_for()
        inspector.check("what came of it")

        page.get_by_role("link", name="Results", exact=True).click()
        page.get_by_role("heading", name="Take away").wait_for()
        inspector.check("the results of asking")
        page.get_by_role("link", name="Grade", exact=True).click()
        page.get_by_label("How texts become vectors").select_option("tfidf-word")
        press("Start the run")
        page.get_by_text("Queued. It starts when a background process is free.").wait_for()
        work(inspector)
        page.get_by_role("link", name="Results", exact=True).click()
        page.get_by_role("link", name="Models", exact=True).click()
        page.wait_for_url("**/models/*")
        page.wait_for_load_state()
        show_all(page)
        page.get_by_role("rowheader", name="Small 1").first.wait_for()
        inspector.check("the models among people")
        assert "\n".join(inspector.found) == ""
