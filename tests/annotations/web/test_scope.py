"""Rana owns a set, Vera views it, Otto has nothing to do with it."""

from types import SimpleNamespace

import pytest
from django.contrib.auth.models import User
from django.http import Http404

from annotations.models import QuestionSet, Share
from annotations.web.scope import (
    RefusedError,
    get_editable,
    get_manageable,
    get_visible_or_404,
    require_requester,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def people():
    rana = User.objects.create_user("rana", is_staff=True)
    vera, otto = User.objects.create_user("vera"), User.objects.create_user("otto", is_staff=True)
    rivers = QuestionSet.objects.create(owner=rana, name="rivers")
    Share.objects.create(question_set=rivers, user=vera, role=Share.Role.VIEWER)
    return rivers, *(SimpleNamespace(user=user) for user in (rana, vera, otto))


@pytest.mark.parametrize("find", [get_visible_or_404, get_editable, get_manageable])
def test_who_may_finds_the_object_and_who_may_not_see_it_finds_nothing(people, find):
    rivers, rana, _, otto = people
    assert find(rana, QuestionSet.objects.all(), rivers.public_id) == rivers
    with pytest.raises(Http404):
        find(otto, QuestionSet.objects.all(), rivers.public_id)


@pytest.mark.parametrize(("find", "code"), [(get_editable, "change"), (get_manageable, "manage")])
def test_who_may_only_look_is_refused_and_told_what(people, find, code):
    rivers, _, vera, _ = people
    assert get_visible_or_404(vera, QuestionSet.objects.all(), rivers.public_id) == rivers
    with pytest.raises(RefusedError) as refused:
        find(vera, QuestionSet.objects.all(), rivers.public_id)
    assert refused.value.code == code


def test_rows_of_a_model_that_says_not_who_sees_them_are_never_handed_out(people):
    with pytest.raises(AssertionError):
        get_visible_or_404(people[1], User.objects.all(), people[0].public_id)


def test_only_requesters_make_things(people):
    _, rana, vera, _ = people
    assert require_requester(rana) == rana.user.pk
    with pytest.raises(RefusedError):
        require_requester(vera)
