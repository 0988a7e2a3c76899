"""Simple formatting: marks become HTML, and nothing that could do harm does."""

import re

import pytest

from annotations.models import Passage
from annotations.web.formatting import (
    LONGEST_FORMATTED,
    format_passage,
    format_plain_text,
    format_text,
)


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("", ""),
        ("A *b* **c**", '<p dir="auto">A <em>b</em> <strong>c</strong></p>'),
        ("one\ntwo", '<p dir="auto">one<br>\ntwo</p>'),
        ("- a\n- b", '<ul>\n<li dir="auto">a</li>\n<li dir="auto">b</li>\n</ul>'),
        ("3. a", '<ol start="3">\n<li dir="auto">a</li>\n</ol>'),
        ("> a", '<blockquote>\n<p dir="auto">a</p>\n</blockquote>'),
        ("x \\* two_words 2 * 3", '<p dir="auto">x * two_words 2 * 3</p>'),
        ("    four spaces", '<p dir="auto">four spaces</p>'),
    ],
)
def test_marks_become_html(text, html):
    assert format_text(text).strip() == html


def test_a_link_opens_elsewhere_and_tells_nothing():
    assert (
        format_text("[a](https://example.org/?q=1&r=2)").strip()
        == '<p dir="auto"><a href="https://example.org/?q=1&amp;r=2" target="_blank" '
        'rel="noopener noreferrer nofollow">a</a></p>'
    )


HARM = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[a](javascript:alert(1))",
    "[a](JaVaScRiPt:alert(1))",
    "[a](&#106;avascript:alert(1))",
    "[a](\x01javascript:alert(1))",
    "[a](java\nscript:alert(1))",
    "[a](vbscript:x)",
    "[a](data:text/html;base64,PHNjcmlwdD4=)",
    "![a](data:image/svg+xml;base64,PHN2Zz4=)",
    "![a](data:image/png;base64,iVBORw0KGgo=)",
    "![a](https://example.org/track.png)",
    "[a](//example.org)",
    "[a](/admin/logout/)",
    "<javascript:alert(1)>",
    "[a]: javascript:alert(1)\n\n[a]",
    '[a](https://example.org "x" onmouseover=alert(1)")',
    '[a](https://example.org/"onmouseover="alert(1))',
    "<style>*{display:none}</style>",
    "<svg/onload=alert(1)>",
    "<a href='javascript:alert(1)'>x</a>",
    "**<iframe src=//example.org>**",
    "# <base href=//example.org>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
]


@pytest.mark.parametrize("text", HARM)
def test_what_could_do_harm_is_shown_as_it_is_written(text):
    html = format_text(text)
    tags = re.findall(r"<[^>]*>", html)
    known = r"</?(p|h2|a|strong|em|br|li|ul|ol|blockquote)( (dir|href|target|rel)=\"[^\"]*\")*>"
    assert all(re.fullmatch(known, tag) for tag in tags), html
    for address in re.findall(r'href="([^"]*)"', html):
        assert address.startswith("https://example.org")
    assert "<img" not in html


@pytest.mark.parametrize("text", ["[" * 30_000, "*a " * 15_000, "> " * 20_000, "[a](" * 12_000])
def test_a_text_made_to_keep_the_server_busy_is_read_in_a_moment(text):
    assert len(format_text(text)) < 2_000_000


def test_a_text_that_is_too_long_to_format_is_shown_whole():
    text = "*a* <b>" * (LONGEST_FORMATTED // 7 + 1)
    html = format_text(text)
    assert html == format_plain_text(text)
    assert re.match(r"<div [^>]*>\*a\* &lt;b&gt;", html)
    assert html.count("*a*") == text.count("*a*")


def test_headings_begin_below_that_of_the_page_and_leave_no_level_out():
    html = format_text("# a\n\n### b\n\n# c\n\n###### d", 3)
    assert re.findall(r"<(h\d)", html) == ["h3", "h4", "h3", "h4"]
    assert re.findall(r"<(h\d)", format_text("### a\n\n# b\n\n## c", 6)) == ["h6"] * 3


def test_a_passage_from_a_file_keeps_its_stars_and_its_spaces():
    passage = Passage(text="# 5*3*2\n  indented <b>")
    assert format_passage(passage) == format_plain_text(passage.text)
    assert "># 5*3*2\n  indented &lt;b&gt;</div>" in format_passage(passage)
    passage.format = "simple"
    assert format_passage(passage).startswith('<h3 dir="auto">5<em>3</em>2</h3>')
