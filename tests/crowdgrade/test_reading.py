"""Who reads is asked once what the page may show; who changes something, each time."""

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotations.models import QuestionSet, ScopedQuerySet, Share
from annotations.models.ties import _cached_rows
from tests.annotations import world as crowd

pytestmark = pytest.mark.django_db


@pytest.fixture
def vera(client):
    rana, vera = crowd.user("rana", is_staff=True), crowd.user("vera")
    for name in ("rivers", "towns"):
        of = crowd.version(rana, name).question_set
        Share.objects.create(question_set=of, user=vera, role="viewer")
    client.force_login(vera)
    return vera


@pytest.mark.parametrize(("method", "keeps"), [("get", True), ("head", True), ("post", False)])
def test_only_who_reads_is_asked_once(client, vera, monkeypatch, method, keeps):
    during = []
    before = ScopedQuerySet.visible_to

    def visible_to(rows, user, **more):
        during.append(_cached_rows.get() is not None)
        return before(rows, user, **more)

    monkeypatch.setattr(ScopedQuerySet, "visible_to", visible_to)
    shown = QuestionSet.objects.first()
    assert getattr(client, method)(f"/admin/question-sets/{shown.public_id}/").status_code == 200
    assert during
    assert set(during) == {keeps}
    assert _cached_rows.get() is None


def test_a_share_that_is_taken_away_is_gone_with_the_next_click(client, vera):
    first, second = QuestionSet.objects.order_by("pk")
    assert client.get(f"/admin/question-sets/{first.public_id}/").status_code == 200
    Share.objects.filter(question_set=first).delete()
    assert client.get(f"/admin/question-sets/{first.public_id}/").status_code == 404
    assert client.get(f"/admin/question-sets/{second.public_id}/").status_code == 200


@pytest.mark.parametrize(("who", "most"), [("rana", 22), ("vera", 24)])
def test_the_overview_asks_for_teams_and_shares_once(client, vera, who, most):
    client.force_login(User.objects.get(username=who))
    with CaptureQueriesContext(connection) as asked:
        assert client.get("/admin/").status_code == 200
    told = [query["sql"] for query in asked]
    assert len(told) <= most, told
    for table in ("annotations_membership", "annotations_share"):
        scoping = [sql for sql in told if table in sql and "NOT" in sql]
        assert len(scoping) <= 2, scoping  # once, and once for the invitations
