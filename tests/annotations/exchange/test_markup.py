"""HTML of rich-text fields in answers, and answers about HTML."""

import pytest

from annotations.exchange.markup import FormattingReader, remove_formatting, strip_markup


@pytest.mark.parametrize(
    ("typed", "plain"),
    [
        ("<p>Paris</p>", "Paris"),
        ("<P class='a'>It is <b>Par</b>is&nbsp;now</P>\n", "It is Paris now"),
        ("Paris<br>Rome<br />Bern", "Paris\nRome\nBern"),
        ("<div>one</div><div><br></div><div>two</div>", "one\ntwo"),
        ("<ul><li>a</li><li>b</li></ul>", "a\nb"),
        ('<a href="https://example.org">the site</a>', "the site"),
        ("R&amp;D &#39;26 &#x2014; &eacute;", "R&D '26 — é"),
        # An editor of rich text leaves these where nothing was written.
        ("<p></p>", ""),
        ("<p><br></p>", ""),
        # A tag that was typed is escaped by the editor, once.
        ("<p>use &lt;b&gt; or &amp;lt;</p>", "use <b> or &lt;"),
    ],
)
def test_formatting_is_read_as_plain_text(typed, plain):
    assert remove_formatting(typed) == plain


@pytest.mark.parametrize(
    "typed",
    [
        "a < b and c > d",
        "if x <p && p> y",
        "<script>alert(1)</script>",
        "<b>bold</b> needs <strong-text>",
        "<p>see the <table> tag</p>",
        "<p>see <code>x = 1</code></p>",
        "Use the <b> tag",
        "</p>",
        "<br>",
        "ask <ann@example.org> or <https://example.org>",
        "?a=1&copy=2&lt",
        "fish & chips; &nosuchname; &notit;",
        "<3",
    ],
)
def test_an_answer_about_html_is_unchanged(typed):
    assert remove_formatting(typed) == typed


def test_a_wording_loses_formatting_also_where_a_tag_is_not_closed():
    assert strip_markup("<p>Why does <i>bread</i> rise?<script>") == "Why does bread rise?<script>"
    assert strip_markup("R&amp;D") == "R&D"


def test_answers_with_formatting_are_counted_and_can_stay():
    typed = ["<p>Paris</p>", "a < b", "R&amp;D", "Rome"]
    reader, keeper = FormattingReader(), FormattingReader(keeps=True)
    assert [reader.read_answer(text) for text in typed] == ["Paris", "a < b", "R&D", "Rome"]
    assert [keeper.read_answer(text) for text in typed] == typed
    # The first and the third.
    assert (reader.n_formatted, keeper.n_formatted) == (2, 2)
    assert reader.example == ("<p>Paris</p>", "Paris")
    assert len(reader.notes) == len(keeper.notes) == 1
    assert FormattingReader().notes == []
