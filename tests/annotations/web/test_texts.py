import pytest

from annotations.web.downloads import build_download_response
from annotations.web.texts import mark_code, shorten_text


def test_a_text_is_cut_after_so_many_characters_and_never_written_anew():
    assert shorten_text("x" * 240) == "x" * 240
    assert shorten_text("x" * 241) == "x" * 240 + "…"
    assert shorten_text("one two three", 4) == "one…"
    # An e and its accent stay two characters, as somebody typed them.
    assert shorten_text("e\u0301" * 3, 4) == "e\u0301e\u0301…"
    assert [shorten_text(None), shorten_text("")] == ["", ""]


def test_code_is_marked_and_everything_else_escaped():
    assert mark_code("<b> `manage.py up`") == "&lt;b&gt; <code>manage.py up</code>"


@pytest.mark.parametrize(
    ("ending", "kind"),
    [("csv", ["text/csv", "charset=utf-8"]), ("jsonl", ["application/x-ndjson"])],
)
def test_a_file_is_an_attachment_of_the_kind_that_its_ending_says(ending, kind):
    sent = build_download_response(iter([b"a,b"]), "crowdgrade-a", ending)
    assert (b"".join(sent), sent["Content-Type"].split("; ")) == (b"a,b", kind)
    assert sent["Content-Disposition"] == f'attachment; filename="crowdgrade-a.{ending}"'
