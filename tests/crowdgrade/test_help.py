"""The help shows the documents of `platform/docs/`, leads from one to the other, and searches."""

import re
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from crowdgrade.help import documents
from tests.annotations.world import user

DOCS = Path(__file__).resolve().parents[2] / "platform" / "docs"
CONTENTS = DOCS / "index.md"


@pytest.fixture
def reader(db):
    client = Client()
    client.force_login(user("rana", is_staff=True))
    return client


@pytest.fixture
def own_documents(tmp_path, monkeypatch):
    """Serve two small documents in place of the project's; forget them afterwards."""
    (tmp_path / "index.md").write_text(
        "# Documents\n\n- [Tides](tides.md)\n- [Cables](cables.md)\n"
    )
    (tmp_path / "tides.md").write_text(
        "# Tides\n\n<!-- made by a program -->\n\nThe Moon <b>pulls</b>.\n\n"
        "## Spring tide\n\nSee [cables](cables.md#at-sea), "
        "[code](../../evaluation/x.py), [NOAA](https://noaa.gov).\n\n"
        "| a | b |\n|---|---|\n| 1 | 2 |\n\n## Spring tide\n\nAgain.\n"
    )
    (tmp_path / "cables.md").write_text("# Cables\n\n## At sea\n\nThe spring of 1858; tides.\n")
    (tmp_path / "secret.md").write_text("# Not in the contents\n")
    caches = (documents.load_document, documents.list_document_slugs)
    monkeypatch.setattr(documents, "FOLDER", tmp_path)
    for cached in caches:
        cached.cache_clear()
    yield tmp_path
    for cached in caches:
        cached.cache_clear()


def test_the_contents_page_names_every_document_once():
    named = re.findall(r"\]\(([\w-]+\.md)\)", CONTENTS.read_text(encoding="utf-8"))
    there = sorted(one.name for one in DOCS.glob("*.md"))
    assert sorted([*named, "index.md"]) == there


@pytest.mark.medium
def test_every_document_is_a_page_whose_links_lead_to_pages_and_their_headings(reader):
    pages = {slug: reader.get(reverse("admin:help-document", args=[slug]))
             for slug in documents.list_document_slugs()}  # fmt: skip
    assert {page.status_code for page in pages.values()} == {200}
    texts = {slug: page.content.decode() for slug, page in pages.items()}
    wrong = []
    for slug, text in texts.items():
        for target, anchor in re.findall(r'href="/admin/help/([\w-]+)/#([^"]+)"', text):
            if f'id="{anchor}"' not in texts[target]:
                wrong.append((slug, target, anchor))
    assert not wrong


def test_html_in_a_document_is_text_and_links_to_code_lead_nowhere(own_documents):
    html = documents.load_document("tides").html
    assert "&lt;b&gt;pulls&lt;/b&gt;" in html
    assert "program" not in html
    assert 'href="/admin/help/cables/#at-sea"' in html
    assert "<a>code</a>" in html
    assert 'href="https://noaa.gov"' in html
    assert re.findall(r'aria-label="(.*?)"', html) == ["Table 1"]
    assert "<h1" not in html  # the title is the page's
    assert re.findall(r'id="([^"]+)"', html) == ["spring-tide", "spring-tide-1"]


def test_a_search_finds_sections_with_every_word_titles_first(own_documents):
    found = [
        (one.document.slug, one.section.title) for one in documents.search_sections("SPRING tid")
    ]
    assert found == [("tides", "Spring tide"), ("tides", "Spring tide"), ("cables", "At sea")]
    assert documents.search_sections("spring 1858")[0].section.anchor == "at-sea"
    assert documents.search_sections("pring") == []  # words match at their beginning
    assert documents.search_sections("  ") == []
    assert documents.search_sections("secret contents") == []


def test_an_excerpt_is_cut_around_the_first_word_that_is_found(own_documents):
    text = f"{'before ' * 40}needle{' after' * 60}"
    (own_documents / "cables.md").write_text(f"# Cables\n\n{text}\n")
    (found,) = documents.search_sections("needle")
    # 60 characters before are 8 words of 7 and 4 characters of another, which is left out.
    assert found.excerpt.partition("needle")[0] == f"… {'before ' * 8}"
    assert found.excerpt.endswith("after …")
    assert len(found.excerpt) <= documents.EXCERPT_LENGTH


@pytest.mark.parametrize("name", ["secret", "nonsense", "..", "index.md"])
def test_a_document_that_the_contents_do_not_name_is_missing(reader, own_documents, name):
    assert reader.get(f"/admin/help/{name}/").status_code == 404


def test_pictures_of_the_documents_are_served_and_nothing_else(reader):
    served = reader.get("/admin/help/pictures/decide.png")
    assert (served.status_code, served["Content-Type"]) == (200, "image/png")
    assert served.content[:4] == b"\x89PNG"
    assert reader.get("/admin/help/pictures/index.md").status_code == 404


def test_the_search_page_says_how_many_sections_it_found_or_that_there_are_none(
    reader, own_documents
):
    found = reader.get("/admin/help/", {"q": "spring"})
    assert len(found.context_data["results"]) == 3
    assert 'href="/admin/help/cables/#at-sea"' in found.content.decode()
    none = reader.get("/admin/help/", {"q": "<script>"})
    assert none.context_data["results"] == []
    assert "&lt;script&gt;" in none.content.decode()


def test_an_installation_without_documents_says_so(reader, tmp_path, own_documents, monkeypatch):
    monkeypatch.setattr(documents, "FOLDER", tmp_path / "absent")
    for cached in (documents.load_document, documents.list_document_slugs):
        cached.cache_clear()
    shown = reader.get("/admin/help/")
    assert (shown.status_code, shown.context_data["document"]) == (200, None)
    assert documents.search_sections("tides") == []


def test_who_is_not_signed_in_is_led_to_the_sign_in_page(db):
    assert Client().get("/admin/help/").status_code == 302
