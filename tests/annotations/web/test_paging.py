"""Lists of submitted answers and of workers of a run, read page by page."""

import base64
import json

import pytest

from annotations.models import QuestionSet
from annotations.web.pages import NEWEST_FIRST
from annotations.web.paging import BadCursorError, Keyset, decode_cursor, encode_cursor
from evaluation.models import WorkerGrade
from tests.evaluation.grading.results import world

pytestmark = pytest.mark.django_db

GRADES = Keyset("grade", ("-grade", "worker__public_id"), empty_last=True)


def walked(keyset, rows, size):
    seen, after = [], ""
    while True:
        page = keyset.load_page(rows, after, size)
        assert len(page) <= size
        seen += page.rows
        if page.next is None:
            return seen
        after = page.next


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_pages_put_together_are_the_list_whatever_their_size(size):
    run = world.finished()
    rows = WorkerGrade.objects.filter(run=run)
    # Two who tie, and two without a grade, who come last.
    first, second, third, fourth = rows.order_by("pk")[:4]
    rows.filter(pk__in=(first.pk, second.pk)).update(grade=0.5)
    rows.filter(pk__in=(third.pk, fourth.pk)).update(grade=None)
    listed = list(rows.values("grade", "worker__public_id"))
    expected = sorted(
        listed,
        key=lambda row: (row["grade"] is None, -(row["grade"] or 0), row["worker__public_id"].hex),
    )
    assert walked(GRADES, rows.values("grade", "worker__public_id"), size) == expected
    objects = walked(GRADES, rows.select_related("worker"), size)
    assert [row.worker.public_id for row in objects] == [
        row["worker__public_id"] for row in expected
    ]


def test_a_cursor_counts_no_rows():
    version = world.finished().version
    for name in ("a", "b"):
        QuestionSet.objects.create(owner=version.question_set.owner, name=name)
    rows = QuestionSet.objects.all()
    page = NEWEST_FIRST.load_page(rows, size=1)
    text = page.next + "=" * (-len(page.next) % 4)
    assert json.loads(base64.urlsafe_b64decode(text)) == ["newest", str(page.rows[0].public_id)]
    assert [row.name for row in walked(NEWEST_FIRST, rows, 1)][:2] == ["b", "a"]


@pytest.mark.parametrize(
    "cursor",
    [
        *("x", "!!", "0.5_zz", encode_cursor("other", 1.0, "0" * 32), encode_cursor("grade", 1.0)),
        encode_cursor("grade", 1.0, None),
        encode_cursor("grade", 1.0, 7),
        encode_cursor("grade", "1.0", "0" * 32),
        encode_cursor("grade", float("nan"), "0" * 32),
        encode_cursor("grade", 10**400, "0" * 32),
        encode_cursor("grade", [1.0], "0" * 32),
        encode_cursor("grade", 1.0, "no id"),
    ],
)
def test_a_cursor_that_no_page_handed_out_is_refused(cursor):
    with pytest.raises(BadCursorError):
        GRADES.load_page(WorkerGrade.objects.all(), cursor)


def test_a_place_is_read_as_it_was_written():
    assert decode_cursor("pairs", encode_cursor("pairs", 50)) == [50]
    assert decode_cursor("grade", encode_cursor("grade", 0.1 + 0.2, None), 2) == [0.1 + 0.2, None]
