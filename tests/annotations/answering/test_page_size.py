"""Every page of a worker is below 60 kB with all it needs, whatever is switched on."""

import re
from pathlib import Path

import pytest
from django.contrib.staticfiles import finders
from django.templatetags.static import static

from annotations.editing import select_consent_template
from annotations.models import Question
from tests.annotations.answering.browser import Browser
from tests.annotations.answering.conftest import made_set, published

pytestmark = pytest.mark.django_db
MOST = 60_000
"""Bytes of a page with its styles and scripts, as they stand on the disk: nothing compressed."""
NEEDED = re.compile(r'<(?:link rel="(?:stylesheet|icon)" href|script src)="([^"]+)"')


@pytest.fixture
def everything(rana):
    """In Arabic, whose letters are two bytes: practice, choices, guidelines, consent, recall."""
    question_set = made_set(rana)
    draft = question_set.latest_version()
    draft.language, draft.guidelines = "ar", "**اقرأ** بعناية. " * 100
    draft.consent_text = select_consent_template("ar")
    draft.save()
    draft.passages.update(text="يتبع المد القمر، ويتبع الميناء المد. " * 60, format="simple")
    draft.questions.filter(external_id="tides2").update(
        kind="choice", choices=["نعم", "لا", "ربما"]
    )
    for number in range(3):
        Question.objects.create(
            version=draft,
            external_id=f"practice{number}",
            role="practice",
            text="ما لون البحر؟",
            accepted_answers=["أزرق"],
            feedback="**أزرق**، في الغالب. " * 20,
            position=90 + number,
        )
    return published(
        question_set, protocol="recall", practice_needed=0, contact="rana@example.org", signals=True
    )


def weight(response):
    """The bytes of a page and of what its head asks for, and the names of these files."""
    html = response.content.decode()
    names = [one.removeprefix(static("")) for one in NEEDED.findall(html)]
    files = [Path(finders.find(name)) for name in names]
    return len(response.content) + sum(file.stat().st_size for file in files), names


@pytest.mark.medium
def test_no_page_of_the_whole_walk_with_everything_on_reaches_60_kb(everything):
    text = "لا أعرف على وجه اليقين، لكن البحر أزرق. " * 25  # 1,000 characters
    ada, on_another_device = Browser(everything), Browser(everything)
    weights = {}

    def weigh(name, response):
        assert response.status_code in (200, 400), name
        total, names = weight(response)
        assert "worker/worker.css" in names, name
        weights[name] = total
        # Nothing is waited for before the page is seen.
        scripts = re.findall(r"<script[^>]*>", response.content.decode())
        assert all(" defer" in one and " src=" in one for one in scripts), name
        assert len(scripts) == sum(one.endswith(".js") for one in names)

    weigh("consent", ada.get(ada.link))
    weigh("not ticked", ada.post(ada.link, {"do": "agree"}))
    ada.begin()
    seat = ada.address.split("/")[3]
    for _ in range(40):
        name = ada.address.split("?")[0].removeprefix(f"/answer/at/{seat}/")
        weigh(f"{name} {ada.page.title}", ada.response)
        if name.startswith("page"):
            # Two texts for each answer, in a form that is not yet whole.
            on_another_device.get(ada.address)
            on_another_device.press(text[::-1], do="save")
            weigh(f"{name} both", ada.press(text))
            assert "keep-" in ada.response.content.decode() or not ada.page.form["texts"]
            weigh(f"{name} saved", ada.press(text, do="save"))
        if name == "review/":
            break
        ada.press(text)
    else:
        pytest.fail(ada.address)
    for name in ("data", "withdraw"):
        weigh(name, ada.get(f"/answer/at/{seat}/{name}/"))
    ada.get(f"/answer/at/{seat}/review/")
    weigh("thanks", ada.press())
    assert ada.page.code == everything.collection.code_done
    assert len(weights) >= 20
    assert max(weights.values()) < MOST, sorted(weights.items(), key=lambda one: -one[1])[:5]
    # It weighs what it says: a page of questions brings both scripts.
    assert max(weights.values()) > 20_000
