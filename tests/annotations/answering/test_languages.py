"""The pages of workers speak German and Arabic whole: no sentence is missing, no number is lost."""

import ast
import gettext
import re

import polib
import pytest
from django.conf import settings
from django.template import Context, engines
from django.template.base import TextNode
from django.templatetags.i18n import BlockTranslateNode, TranslateNode
from django.test import override_settings
from django.urls import reverse
from django.utils import translation

from annotations.answering.languages import (
    choose_interface_language,
    describe_interface_language,
    format_interface_languages,
    resolve_interface_language,
)
from annotations.answering.sentences import FRAME
from annotations.models import QuestionSet, QuestionSetVersion
from annotations.worker_pages.questions import AnswerField
from annotations.worker_pages.rendering import format_length_error
from tests.annotations.answering.conftest import published

LOCALES = settings.LOCALE_PATHS[0]
LANGUAGES = sorted(path.parts[-3] for path in LOCALES.glob("*/LC_MESSAGES/django.po"))
TEMPLATES = sorted(
    path
    for path in (settings.ROOT / "templates/worker").glob("*.html")
    if path.name != "preview.html"  # for requesters
)
CODE = [
    settings.ROOT / "annotations/languages.py",
    *(
        path
        for room in ("worker_pages", "answering")
        for path in (settings.ROOT / "annotations" / room).rglob("*.py")
    ),
]
PLACEHOLDER = re.compile(r"%\(\w+\)s")


def nodes(path):
    """All nodes of a template, those within tags too."""
    template = engines["django"].engine
    parsed = template.from_string(path.read_text(encoding="utf-8"))
    return list(parsed.nodelist.get_nodes_by_type(object))


def of_template(path):
    """The sentences that a template asks for, as (singular, plural), plural "" for none."""
    for node in nodes(path):
        if isinstance(node, TranslateNode):
            yield node.filter_expression.var.literal, ""
        elif isinstance(node, BlockTranslateNode):
            singular, _ = node.render_token_list(node.singular)
            plural, _ = node.render_token_list(node.plural) if node.plural else ("", [])
            yield singular, plural


def of_code(path):
    """The sentences in `_("...")` of a module."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("_", "gettext"):
            yield ast.literal_eval(node.args[0]), ""


def asked():
    """Every sentence of the pages of workers."""
    found = {one for path in TEMPLATES for one in of_template(path)}
    return found | {one for path in CODE for one in of_code(path)}


def source(language):
    return polib.pofile(str(LOCALES / language / "LC_MESSAGES/django.po"))


def compiled(language):
    with (LOCALES / language / "LC_MESSAGES/django.mo").open("rb") as stream:
        return gettext.GNUTranslations(stream)


def plural_rule(language):
    """The function from a number to its form, and how many forms there are."""
    said = source(language).metadata["Plural-Forms"]
    count, rule = re.fullmatch(r"nplurals=(\d+); plural=(.+);", said).groups()
    return gettext.c2py(rule), int(count)


def test_german_and_arabic_are_there_and_each_folder_is_a_language_of_the_pages():
    assert {"de", "ar"} <= set(LANGUAGES)
    tags = [name.lower().replace("_", "-") for name in LANGUAGES]  # pt_BR is pt-br
    assert ["en", *tags] == settings.WORKER_LANGUAGES


@pytest.mark.parametrize("language", ["de", "ar"])
def test_no_sentence_of_the_pages_is_missing_and_none_is_left_over(language):
    found = {(one.msgid, one.msgid_plural or "") for one in source(language)}
    assert found == asked()
    assert len(found) > 130


@pytest.mark.parametrize("language", ["de", "ar"])
def test_every_sentence_is_translated_and_nobody_still_has_to_look_at_it(language):
    _, n_forms = plural_rule(language)
    assert n_forms == {"de": 2, "ar": 6}[language]
    for one in source(language):
        forms = one.msgstr_plural.values() if one.msgid_plural else [one.msgstr]
        assert len(forms) == (n_forms if one.msgid_plural else 1), one.msgid
        assert all(form.strip() for form in forms), one.msgid
        assert not one.fuzzy, one.msgid
        assert not one.obsolete, one.msgid
        assert all(form not in (one.msgid, one.msgid_plural) for form in forms), one.msgid


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_filled_in_is_the_same_in_every_language(language):
    """A form that holds for one number only may say that number in words: "two minutes"."""
    rule, n_forms = plural_rule(language)
    numbers = [[n for n in range(1001) if rule(n) == form] for form in range(n_forms)]
    for one in source(language).translated_entries():
        wanted = set(PLACEHOLDER.findall(one.msgid))
        if not one.msgid_plural:
            assert set(PLACEHOLDER.findall(one.msgstr)) == wanted, one.msgid
            continue
        for form, text in one.msgstr_plural.items():
            found = set(PLACEHOLDER.findall(text))
            if len(numbers[form]) == 1:
                assert found <= wanted, one.msgid
                assert len(wanted - found) <= 1, one.msgid
            else:
                assert found == wanted, one.msgid


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_compiled_says_what_is_written(language):
    """The .mo files are kept with the code, so that a site needs no tools of gettext."""
    made, (rule, _) = compiled(language), plural_rule(language)
    kept = polib.mofile(str(LOCALES / language / "LC_MESSAGES/django.mo"))
    written = source(language).translated_entries()
    assert {one.msgid for one in kept} == {one.msgid for one in written}
    for one in written:
        if one.msgid_plural:
            for n in range(121):
                said = made.ngettext(one.msgid, one.msgid_plural, n)
                assert said == one.msgstr_plural[rule(n)], (one.msgid, n)
        else:
            assert made.gettext(one.msgid) == one.msgstr


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_a_page_has_no_words_but_those_that_can_be_translated(path):
    text = "".join(node.s if type(node) is TextNode else "" for node in nodes(path))
    for name in ("alt", "aria-label", "title", "placeholder"):
        assert re.search(rf'\b{name}="[^"]*[A-Za-z]', text) is None
    seen = re.sub(r"<[^>]*>|&\w+;", " ", text)
    assert re.findall(r"[A-Za-z]{2,}", seen) == []


def test_the_script_says_only_what_the_page_gives_it():
    """Each sentence comes by a data attribute, which the page has translated."""
    script = (settings.ROOT / "platform/crowdgrade/static/worker/drafts.js").read_text()
    page = (settings.ROOT / "templates/worker/questions.html").read_text()
    wanted = set(re.findall(r"\bwords\.(\w+)", script)) - {"draft"}
    given = {
        re.sub("-(.)", lambda found: found[1].upper(), name)
        for name in re.findall(r"data-([a-z-]+)=\"\{% translate '", page)
    }
    assert wanted == given
    assert len(given) == 12


@pytest.fixture
def three():
    """The three languages that come with the site, whatever others were added."""
    with override_settings(WORKER_LANGUAGES=["en", "de", "ar"]):
        yield


@pytest.mark.usefixtures("three")
@pytest.mark.parametrize(
    ("tag", "language"),
    [
        *(("de", "de"), ("de-AT", "de"), ("ar", "ar"), ("ar-EG", "ar"), ("AR", "ar")),
        *(("", "en"), ("fr", "en"), ("en-GB", "en"), ("no language", "en"), ("../de", "en")),
    ],
)
def test_pages_speak_the_language_of_the_texts_where_they_can(tag, language):
    assert resolve_interface_language(tag) == language


def version(language):
    return QuestionSetVersion(question_set=QuestionSet(language=language), number=1)


@pytest.mark.usefixtures("three")
def test_a_requester_is_told_which_language_the_pages_will_have():
    assert format_interface_languages() == "Arabic (ar), English (en), German (de)"
    assert describe_interface_language(version("de-CH")) == FRAME.text(
        "same_language", frame="German"
    )
    assert describe_interface_language(version("")) == FRAME.text(
        "language_missing", frame="English"
    )
    assert describe_interface_language(version("sw")) == FRAME.text(
        "not_translated", frame="English", language="sw", offered=format_interface_languages()
    )
    assert choose_interface_language(version("ar")) == "ar"


def test_the_editor_and_the_publishing_page_say_it(client, tides, rana):
    tides.language = "ar"
    tides.save()
    client.force_login(rana)
    arabic = FRAME.text("same_language", frame="Arabic")
    for name in ("editor", "collecting-settings"):
        page = client.get(reverse(f"admin:{name}", args=[tides.public_id])).content.decode()
        assert arabic in page, name
    published(tides)
    page = client.get(reverse("admin:collecting", args=[tides.public_id])).content.decode()
    assert arabic in page
    page = client.get(reverse("admin:editor-texts", args=[tides.public_id])).content.decode()
    assert format_interface_languages() in page


def test_numbers_are_written_as_the_language_writes_them():
    said = {}
    for language in ("en", "de", "ar"):
        with translation.override(language):
            said[language] = (
                AnswerField(None, 1, 1500).formatted_most,
                format_length_error("x" * 2345, 1500),
            )
    assert said["en"][0] == "1,500"
    assert said["de"] == (
        "1.500",
        "Der Text hat 2.345 Zeichen, höchstens 1.500 sind möglich. Bitte kürzen Sie ihn.",
    )
    assert all(number in said["ar"][1] for number in ("2345", "1500"))  # Django groups none there


@pytest.mark.parametrize(
    ("n", "said"),
    [
        (1, "ستجيب عن سؤال واحد بأسلوبك الخاص."),
        (2, "ستجيب عن سؤالين بأسلوبك الخاص."),
        (5, "ستجيب عن 5 أسئلة بأسلوبك الخاص."),
        (11, "ستجيب عن 11 سؤالًا بأسلوبك الخاص."),
        (100, "ستجيب عن 100 سؤال بأسلوبك الخاص."),
        (103, "ستجيب عن 103 أسئلة بأسلوبك الخاص."),
    ],
)
def test_arabic_counts_in_six_forms(n, said):
    template = engines["django"].engine.get_template("worker/consent.html")
    node = next(
        one
        for one in template.nodelist.get_nodes_by_type(BlockTranslateNode)
        if one.countervar == "n"
    )
    with translation.override("ar"):
        context = Context({"n_questions": n})
        with context.bind_template(template):
            assert node.render(context) == said


@pytest.mark.parametrize(("language", "pay"), [("en", "2.50 EUR"), ("de", "2,50 EUR")])
def test_pay_is_written_as_the_language_writes_it(client, tides, language, pay):
    tides.language = language
    tides.save()
    made = published(tides)
    made.collection.pay, made.collection.currency = "2.50", "EUR"
    made.collection.save()
    page = client.get(f"/answer/{made.collection.public_id}/?PROLIFIC_PID=ada").content.decode()
    assert f'<html lang="{language}" dir="ltr">' in page
    assert pay in page


@pytest.mark.usefixtures("three")
@pytest.mark.parametrize(
    ("wanted", "language", "direction"),
    [("ar-EG,en;q=0.5", "ar", "rtl"), ("de", "de", "ltr"), ("fr", "en", "ltr"), ("", "en", "ltr")],
)
def test_an_address_of_nobody_is_told_in_the_language_of_the_browser(
    client, db, wanted, language, direction
):
    answer = client.get(
        "/answer/00000000-0000-0000-0000-000000000000/", HTTP_ACCEPT_LANGUAGE=wanted
    )
    assert answer.status_code == 404
    assert f'<html lang="{language}" dir="{direction}">' in answer.content.decode()
