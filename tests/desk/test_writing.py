"""Who writes and who checks see their own pages, and nothing of the set or of each other."""

import json

import pytest
from django.test import Client
from django.urls import reverse

from annotations import writing
from annotations.models import Share, WrittenProblem
from tests.annotations.writing.conftest import APPLES, MADE, handed_in, world  # noqa: F401
from tests.desk.flashes import flashed
from tests.desk.test_access import ADDRESSES, ROUTES, VALUES, path_of

# Pages that everybody who is signed in may ask for; what lists hold is looked at below.
OPEN = {
    *("admin:index", "admin:logout", "admin:password_change", "admin:password_change_done"),
    *("admin:jsi18n", "admin:search", "admin:question-sets", "admin:models", "admin:prompts"),
    *(
        "admin:runs",
        "admin:workers",
        "admin:archived",
        "admin:account",
        "admin:tokens",
        *("admin:help", "admin:help-document", "admin:help-picture"),
        "admin:writing-mine",
        "admin/auth/user/<path:object_id>/",
    ),
    *("health-live", "health-ready", "metrics"),
    *("home", "admin:login", "api:root", "api:schema", "api:docs", "api:problem"),
    *("api:question-set-list", "api:language-model-list", "api:prompt-list", "api:run-list"),
    *("api:writing-list",),
    *("mfa_index", "sign-in-again"),  # one's own second factor
}
SECRET = "xyzzy"


@pytest.fixture
def checked(world, handed_in):  # noqa: F811
    """The problem of `handed_in`, which Vic voted about; the set's name and notes are marked."""
    writing.vote_on_problem(
        world.project, world.vic.pk, handed_in.public_id, True, None, f"note {SECRET}"
    )
    return handed_in


def signed_in(person):
    client = Client(raise_request_exception=False)
    client.force_login(person)
    return client


def addresses(world, problem):  # noqa: F811
    """Every address of the site whose parameters are things of this set."""
    own = {
        "set_id": world.version.question_set.public_id,
        "question_id": world.version.questions.first().public_id,
        "question": world.version.questions.first().public_id,
        "project_id": world.project.public_id,
        **dict.fromkeys(("problem_id", "own_id", "check_id"), problem.public_id),
        "member_id": world.project.members.first().public_id,
    }
    for name, (parameters, *_) in ADDRESSES.items():
        names = ROUTES[name].names
        if all(one in own or one in names for one in parameters):
            yield name, path_of(name, {p: own.get(p) or names[p][0] for p in parameters})
        else:
            assert set(parameters) - own.keys() <= VALUES.keys() | names.keys()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("who", "finds"),
    [
        ("wanda", {"admin:writing-desk", "admin:writing-write", "admin:writing-withdraw"}),
        ("will", {"admin:writing-desk"}),
        ("val", {"admin:writing-desk", "admin:writing-check"}),
        ("vic", {"admin:writing-desk", "admin:writing-check"}),
    ],
)
def test_they_find_their_own_pages_and_no_other(world, checked, who, finds):  # noqa: F811
    client = signed_in(world.people[who])
    found = set()
    for name, address in addresses(world, checked):
        if "get" not in ROUTES[name].rules or name in ("admin:logout",):
            continue
        response = client.get(address)
        said = response.getvalue().decode(errors="replace")
        if response.status_code == 200 and name not in OPEN:
            found.add(name)
        if who != "vic":
            assert SECRET not in said, f"{who} reads a vote at {name}"
        if who in ("will", "val", "vic"):
            assert "wanda" not in said, f"{who} learns the author at {name}"
            assert APPLES not in said, f"{who} reads the original at {name}"
        if who in ("will",):
            assert MADE not in said
    assert {name for name in found if not name.startswith("api:")} == finds


@pytest.mark.parametrize("who", ["wanda", "will", "val", "vic"])
def test_nothing_that_they_post_elsewhere_changes_anything(world, checked, who):  # noqa: F811
    client = signed_in(world.people[who])
    for name, address in addresses(world, checked):
        if (
            "post" in ROUTES[name].rules
            and name.startswith("admin:writing")
            and name
            not in {
                "wanda": {"admin:writing-desk", "admin:writing-write", "admin:writing-withdraw"},
                "will": {"admin:writing-desk"},
                "val": {"admin:writing-check"},
                "vic": {"admin:writing-check"},
            }[who]
        ):
            assert client.post(address, {"note": "x", "do": "drop"}).status_code in (403, 404), name
    checked.refresh_from_db()
    assert (checked.state, checked.text) == ("checking", MADE)


def test_who_comes_to_see_votes_by_a_share_cannot_check_any_more(world, checked):  # noqa: F811
    Share.objects.create(
        question_set=world.version.question_set, user=world.val, role=Share.Role.VIEWER
    )
    client = signed_in(world.val)
    for name, *more in (("desk",), ("check", checked.public_id)):
        address = reverse(f"admin:writing-{name}", args=[world.project.public_id, *more])
        response = client.get(address)
        assert response.status_code == 403
        assert response.context["code"] == "blind"
        assert client.post(address, {"verdict": "yes"}).status_code in (403, 404)
    assert checked.votes.count() == 1


def test_who_is_no_longer_invited_finds_nothing(world, checked):  # noqa: F811
    world.project.members.get(user=world.val).delete()
    desk = reverse("admin:writing-desk", args=[world.project.public_id])
    assert signed_in(world.val).get(desk).status_code == 302  # to the login: there is no page


def test_a_login_leads_in_who_only_writes_or_checks(world):  # noqa: F811
    world.wanda.set_password("rivers-and-lakes")
    world.wanda.save()
    client = Client()
    typed = {"username": "wanda", "password": "rivers-and-lakes"}
    response = client.post(reverse("admin:login"), typed)
    assert response.status_code == 302
    said = client.get(reverse("admin:index")).content.decode()
    assert reverse("admin:writing-mine") in said
    assert "problems" not in client.get(reverse("admin:question-sets")).content.decode().split(
        "<main"
    )[-1].replace("question sets", "")


def test_typed_text_stands_in_the_page_again_when_it_is_refused(world):  # noqa: F811
    problem = writing.take_question(world.project, world.wanda.pk)
    address = reverse("admin:writing-write", args=[world.project.public_id, problem.public_id])
    typed = {"text": 'How many "<b>" has Tom?', "do": "submit"}
    response = signed_in(world.wanda).post(address, typed)
    assert response.status_code == 400
    said = response.content.decode()
    assert list(response.context["form"].errors) == ["category"]
    assert "How many &quot;&lt;b&gt;&quot; has Tom?" in said
    problem.refresh_from_db()
    assert problem.state == WrittenProblem.State.DRAFT


def test_a_vote_that_comes_too_late_says_so(world, checked):  # noqa: F811
    address = reverse("admin:writing-check", args=[world.project.public_id, checked.public_id])
    client = signed_in(world.val)
    writing.withdraw_problem(checked)
    response = client.post(address, {"verdict": "no", "category": 1}, follow=True)
    assert response.status_code == 200
    assert flashed(response) == ["decided"]


def test_the_set_leads_to_the_writing_and_the_writing_says_what_it_needs(world, rana_only):  # noqa: F811
    client, draft = rana_only
    address = reverse("admin:writing", args=[draft.question_set.public_id])
    page = reverse("admin:question-set", args=[draft.question_set.public_id])
    assert address in client.get(page).content.decode()
    assert "marked as answerable" in client.get(address).content.decode()
    draft.questions.update(answerable=True)
    assert "Publish version 1 first" in client.get(address).content.decode()
    start = reverse("admin:writing-start", args=[draft.question_set.public_id])
    assert flashed(client.post(start, follow=True)) == ["not_published"]
    draft.publish()
    assert "2 questions" in client.get(address).content.decode()
    begun = client.post(start, follow=True)
    assert begun.status_code == 200
    assert "Invite a user" in begun.content.decode()
    assert "No writers yet." in client.get(address).content.decode()


@pytest.fixture
def rana_only(world):  # noqa: F811
    from tests.annotations import world as crowd

    return signed_in(world.rana), crowd.version(world.rana, "rivers")


def test_the_requester_decides_and_exports(world, checked):  # noqa: F811
    client = signed_in(world.rana)
    set_id = world.version.question_set.public_id
    address = reverse("admin:writing-problem", args=[set_id, checked.public_id])
    said = client.get(address).content.decode()
    assert SECRET in said
    assert "vic" in said
    assert client.post(address, {"do": "send-back"}).status_code == 400
    assert client.post(address, {"do": "send-back", "note": "Shorter."}).status_code == 302
    checked.refresh_from_db()
    assert checked.state == "returned"
    lines = client.get(reverse("admin:writing-export", args=[set_id])).getvalue()
    assert lines == b""
    writing.submit_problem(checked, f"{MADE} Or not?", 2)
    for name in ("vic", "val", "vin"):
        writing.vote_on_problem(world.project, world.people[name].pk, checked.public_id, False, 2)
    lines = client.get(reverse("admin:writing-export", args=[set_id])).getvalue().splitlines()
    assert [json.loads(line)["id"] for line in lines] == [1, "1-1"]
