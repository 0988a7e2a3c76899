"""The order of passages and questions, moved and stored."""

import pytest

from annotations.editing import ItemOrder, PublishedError, lock_draft
from annotations.models import Passage
from tests.annotations import world

pytestmark = pytest.mark.django_db


@pytest.fixture
def draft():
    """Passages a (r1, r2) and b (r3), and r4 alone."""
    version = world.version(world.user("rana"), n_questions=4)
    a, b = (
        Passage.objects.create(version=version, external_id=name, text=name, position=place)
        for place, name in enumerate("ab", 1)
    )
    version.questions.filter(external_id__in=["r1", "r2"]).update(passage=a)
    version.questions.filter(external_id="r3").update(passage=b)
    return version


def shown(version):
    """Such as "a: r1 r2, b: r3, r4"."""
    groups = [
        (f"{passage.external_id}: ", passage.questions)
        for passage in version.passages.order_by("position", "pk")
    ]
    groups.append(("", version.questions.filter(passage=None)))
    return ", ".join(
        name + " ".join(q.external_id for q in questions.order_by("position", "pk"))
        for name, questions in groups
    )


def find_item(version, name):
    rows = version.passages if name in "ab" else version.questions
    return rows.get(external_id=name)


@pytest.mark.parametrize(
    ("name", "step", "after"),
    [
        ("r2", -1, "a: r2 r1, b: r3, r4"),
        ("r1", 1, "a: r2 r1, b: r3, r4"),
        ("r2", 1, "a: r1, b: r2 r3, r4"),
        ("r3", -1, "a: r1 r2 r3, b: , r4"),
        ("r3", 1, "a: r1 r2, b: , r3 r4"),
        ("r4", -1, "a: r1 r2, b: r3 r4, "),
        ("b", -1, "b: r3, a: r1 r2, r4"),
        ("r1", -1, "a: r1 r2, b: r3, r4"),
        ("r4", 1, "a: r1 r2, b: r3, r4"),
        ("a", -1, "a: r1 r2, b: r3, r4"),
    ],
)
def test_a_step_goes_to_the_next_place_also_into_another_passage(draft, name, step, after):
    order = ItemOrder.from_version(draft)
    moved = order.move_by(find_item(draft, name), step)
    order.save(draft)
    assert shown(draft) == after
    assert moved == (after != "a: r1 r2, b: r3, r4")


def test_what_is_dropped_stands_before_its_neighbour_or_last(draft):
    order = ItemOrder.from_version(draft)
    order.move_before(find_item(draft, "r4"), find_item(draft, "r2").pk, find_item(draft, "a").pk)
    order.move_before(find_item(draft, "r1"), None, find_item(draft, "b").pk)
    order.move_before(find_item(draft, "b"), find_item(draft, "a").pk)
    order.save(draft)
    assert shown(draft) == "b: r3 r1, a: r4 r2, "
    with pytest.raises(ValueError, match="list"):
        order.move_before(
            find_item(draft, "r1"), find_item(draft, "r2").pk, find_item(draft, "b").pk
        )
    with pytest.raises(ValueError, match="no such passage"):
        order.move_before(find_item(draft, "r3"), None, -1)


def test_an_order_is_known_by_its_mark(draft):
    before = ItemOrder.from_version(draft).seen
    order = ItemOrder.from_version(draft)
    order.move_by(find_item(draft, "r2"), -1)
    assert order.seen != before
    order.save(draft)
    assert ItemOrder.from_version(draft).seen == order.seen


def test_only_what_moved_is_written(draft, django_assert_num_queries):
    order = ItemOrder.from_version(draft)
    order.save(draft)
    with django_assert_num_queries(2):
        order.save(draft)


def test_a_published_version_gets_no_draft_unless_it_is_asked_for(draft):
    draft.publish()
    with pytest.raises(PublishedError), lock_draft(draft.question_set):
        pass
    with lock_draft(draft.question_set, anew=True) as second:
        assert (second.number, shown(second)) == (2, "a: r1 r2, b: r3, r4")
