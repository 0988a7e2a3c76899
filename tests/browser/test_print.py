"""The summary of a run on paper: few pages, none of them empty, the decision on the first."""

import re

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from evaluation.models import WorkerGrade
from tests.browser.pages import signed_in
from tests.evaluation.grading.results import world as graded
from tests.evaluation.grading.results.alarm_world import alarm, looked

pytestmark = [
    pytest.mark.browser,
    pytest.mark.long,
    pytest.mark.filterwarnings("ignore"),  # Playwright's event loop makes Django and asyncio warn
]
A_PAGE = re.compile(rb"/Type\s*/Page\b")


def printed(client, page, site, run):
    """Open the summary of a run and return it as Chromium prints it."""
    page.goto(site + reverse("admin:results-summary", kwargs={"run": run.public_id}))
    return page.pdf(prefer_css_page_size=True, print_background=True)


@pytest.mark.parametrize(("workers", "questions", "pages"), [(42, 20, 4), (1000, 100, 5)])
def test_a_run_is_few_pages_however_many_people(
    transactional_db, settings, client, browser, live_server, workers, questions, pages
):
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    owner = User.objects.create_superuser("rana")
    run = looked(graded.finished(n_workers=workers, n_questions=questions, owner=owner))
    for at in range(1, 11):  # six are listed on paper
        alarm(run, workers=[f"w{at:03}", f"w{at + 20:03}"])
    with signed_in(browser, client, live_server.url, "rana", "wide-light") as inspector:
        sheets = printed(client, inspector.page, live_server.url, run)
        assert 3 <= len(A_PAGE.findall(sheets)) <= pages
        # What stands before the tables fits on the first sheet: 297 mm less margins of 16 and 18.
        inspector.page.emulate_media(media="print")
        inspector.page.set_viewport_size({"width": 680, "height": 900})  # 180 mm at 96 dots an inch
        end = "document.getElementById('workers').parentElement.previousElementSibling"
        low = inspector.page.evaluate(f"{end}.getBoundingClientRect().bottom + scrollY")
        assert low <= (297 - 16 - 18) / 25.4 * 96
        names = inspector.page.locator(
            "section[aria-labelledby=workers] tbody bdi"
        ).all_inner_texts()
    last = WorkerGrade.objects.filter(run=run, rank__isnull=False).latest("rank")
    assert names[0] == "w001"
    assert last.worker.external_id in names
    assert len(names) <= 61
