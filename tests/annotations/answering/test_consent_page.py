"""The consent page says what data is used for once: in the consent text or in a list of its own."""

import pytest

from annotations.editing import has_data_use_notice, select_consent_template
from tests.annotations.answering.browser import Browser
from tests.annotations.answering.conftest import published

pytestmark = pytest.mark.django_db
LISTED = 'aria-labelledby="data"'


def consent_page(tides, text, **settings):
    draft = tides.draft()
    draft.consent_text = text
    draft.save()
    browser = Browser(published(tides, protocol="open", **settings))
    browser.get(browser.link)
    return browser.response.content.decode()


@pytest.mark.parametrize("language", ["en", "de", "ar"])
def test_a_text_made_of_the_template_takes_the_place_of_the_list(tides, language):
    page = consent_page(tides, select_consent_template(language))
    assert LISTED not in page


@pytest.mark.parametrize("text", ["", "I agree that my answers are used."])
def test_a_text_that_does_not_say_it_stands_beside_the_list(tides, text):
    assert LISTED in consent_page(tides, text)


def test_a_template_without_the_counts_is_enough_only_where_nothing_is_counted(tides):
    whole = select_consent_template("en")
    text = "\n".join(line for line in whole.splitlines() if "How each answer" not in line)
    assert [has_data_use_notice(text, counting) for counting in (True, False)] == [False, True]
    assert LISTED in consent_page(tides, text)


@pytest.mark.parametrize("part", ["**Times**", "## Your choice"])
def test_a_template_that_lost_a_part_needs_the_list(part):
    text = select_consent_template("en")
    assert has_data_use_notice(text, True)
    assert not has_data_use_notice(text.replace(part, ""), True)
