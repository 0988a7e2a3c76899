"""Every address of the site, for every role; one without a rule in `routes` fails here."""

import contextlib
import copy
import itertools
import re
from collections import Counter, namedtuple
from dataclasses import dataclass
from functools import cached_property
from html.parser import HTMLParser
from types import SimpleNamespace
from urllib.parse import urljoin, urlsplit

import pytest
from django.db import transaction
from django.test import Client
from django.urls import Resolver404, URLResolver, get_resolver, resolve, reverse

from annotations.models import Membership, QuestionSet, Share, Team
from crowdgrade.admin import ROLES as ROLES_IN_WORDS
from crowdgrade.monitoring import health
from evaluation.models import Run
from tests.desk.conftest import MARK, User, graded_set
from tests.desk.page_checks import flags_in, scripted_faults
from tests.desk.routes import OF_NO_ONE, ROUTES, VALUES, begun_writing, headers
from tests.desk.rules import (
    ABSENT,
    ANSWERS,
    EDITS_ANSWERS,
    GONE,
    IN,
    JUDGES,
    LOGIN,
    NAMESPACES_OF_LINKS,
    NAMESPACES_OF_PROGRAMS,
    NO,
    ROLES,
)

OFFERED = {"vera", "ed", "tara", "rana"}
"""Roles whose pages may offer only what the role is not refused."""

OTTOS = "plugh"
"""Stands in every text and name of Otto's."""


@pytest.fixture(autouse=True)
def _no_second_connection(monkeypatch):
    """Health checks of their own threads would wait for the transaction of the test."""
    monkeypatch.setattr(health, "CHECKS", {})


def walk(resolver, within=(), before=""):
    """Every address of the site: its full name (or pattern), its parameters, its whole pattern."""
    for entry in resolver.url_patterns:
        pattern = before + str(entry.pattern)
        if isinstance(entry, URLResolver):
            inner = (*within, entry.namespace) if entry.namespace else within
            yield from walk(entry, inner, pattern)
        else:
            parameters = tuple(entry.pattern.converters or entry.pattern.regex.groupindex)
            name = ":".join((*within, entry.name)) if entry.name else pattern
            yield name, Address(parameters, pattern, entry.callback)


Address = namedtuple("Address", "parameters pattern callback")
ADDRESSES = dict(walk(get_resolver()))


def test_every_address_has_a_rule():
    for name, (parameters, *_) in ADDRESSES.items():
        assert name in ROUTES, (
            f"Nobody says who may ask for {name!r}. Add a line to ROUTES in tests/desk/routes.py, "
            f'such as "{name}": get(ANSWERS), whose docstring tells the rest.'
        )
        for parameter in parameters:
            assert parameter in VALUES or parameter in ROUTES[name].names, (
                f"{name!r} has a parameter {parameter!r}: say in VALUES of tests/desk/routes.py "
                "what it is for one owner's things, or give its names in the line of the address."
            )
    assert set(ROUTES) == set(ADDRESSES), "a rule of an address that is gone"


def test_every_method_of_a_viewset_has_a_rule():
    for name, address in ADDRESSES.items():
        methods = set(getattr(address.callback, "actions", None) or ()) - {"head", "options"}
        assert methods <= set(ROUTES[name].rules), f"{name!r}: {methods} need rules in ROUTES"


@pytest.fixture
def circle(world, tmp_path):
    """Everybody of `routes.ROLES`, and what is Rana's and Otto's."""
    people = {"rana": world.rana, "otto": world.otto, "ida": world.ida, "nobody": None}
    for name in ("walter", "vera", "ed"):
        people[name] = User.objects.create_user(name)
    people["tara"] = User.objects.create_user("tara", is_staff=True)
    nils = User.objects.create_user("nils", is_staff=True)
    ottos = graded_set(world.otto, tmp_path, OTTOS)
    of = {
        "rana": SimpleNamespace(owner=world.rana, set=world.set, run=world.run),
        "otto": SimpleNamespace(owner=world.otto, set=ottos.set, run=ottos.run),
    }
    for owner, member in (("rana", people["tara"]), ("otto", nils)):
        things = of[owner]
        things.version = things.set.latest_version()
        mark = MARK if owner == "rana" else OTTOS
        things.team = Team.objects.create(owner=things.owner, name=f"Team {mark}")
        Membership.objects.create(team=things.team, user=member)
        QuestionSet.objects.filter(pk=things.set.pk).update(team=things.team)
    Share.objects.create(question_set=world.set, user=people["ed"], role="expert")
    Share.objects.create(question_set=world.set, user=people["vera"], role="viewer")
    Share.objects.create(question_set=ottos.set, user=nils, role="viewer")
    for things in of.values():
        begun_writing(things)
    return SimpleNamespace(people=people, of=of, clients={n: signed_in(people[n]) for n in ROLES})


def signed_in(person):
    client = Client(raise_request_exception=False)
    if person is not None:
        client.force_login(person)
    return client


def addresses_of(name, *things):
    """The address with each of `things` for its parameters in turn, the last for all others."""
    parameters = ADDRESSES[name].parameters
    route, rest = ROUTES[name], iter(things)
    values, owner = {}, things[0]
    for parameter in parameters:
        if parameter not in route.names:
            owner = owner if parameter in OF_NO_ONE else next(rest, owner)
            values[parameter] = [VALUES[parameter](owner)]
        else:
            values[parameter] = route.names[parameter]
    for filled in itertools.product(*values.values()):
        yield path_of(name, dict(zip(values, filled, strict=True)))


def path_of(name, values):
    if name != ADDRESSES[name].pattern:
        return reverse(name, kwargs=values)
    # It has no name to be reversed by.
    parameter = re.compile(r"<(?:\w+:)?(\w+)>|\(\?P<(\w+)>.*?\)")
    return "/" + parameter.sub(lambda found: str(values[found[1] or found[2]]), name).rstrip("$")


def ask(circle, role, method, name, address):
    """What became of a request, whose changes are undone, and what it said."""
    client = circle.clients[role]
    signed_in_by = copy.deepcopy(client.cookies)
    data = ROUTES[name].data.get(method, {})
    with transaction.atomic():
        response = getattr(client, method)(
            address, data, headers=headers(name, circle.people[role])
        )
        said = b"".join(response.streaming_content) if response.streaming else response.content
        transaction.set_rollback(True)
    client.cookies = signed_in_by
    return became(name, response), said.decode(errors="replace")  # a ZIP is no text


def became(name, response):
    """The outcome of a request in the terms of `rules`."""
    status = response.status_code
    if name.split(":")[0] in NAMESPACES_OF_PROGRAMS and status == 401:
        return LOGIN
    if status in (301, 302) and urlsplit(response.url).path == reverse("admin:login"):
        return LOGIN
    if status < 400 or status in (400, 409, 415, 422):
        return IN
    return {403: NO, 404: GONE}.get(status, str(status))


def fits(name, wanted, got):
    # A program that is signed in as Walter may be told so, or shown nothing.
    return got == wanted or (
        wanted == LOGIN and name.split(":")[0] in NAMESPACES_OF_PROGRAMS and got in (NO, GONE)
    )


def requests():
    return ((name, method) for name, route in ROUTES.items() for method in route.rules)


@dataclass
class Visit:
    """One request: for whose things, as which role, and what the site answered."""

    whose: str
    role: str
    method: str
    name: str
    address: str
    got: str
    body: str

    @property
    def is_read_page(self):
        """Whether it is a page of Rana's that the role may read."""
        read = self.whose == "rana" and self.method == "get" and self.got == IN
        return read and "<html" in self.body[:2000]

    @cached_property
    def offered(self):
        """The method and the view's name of every link and form that lead to the site."""
        ways, found = Ways(self.address), []
        ways.feed(self.body)
        for method, way in ways.found:
            with contextlib.suppress(Resolver404):  # a file
                found.append((method, resolve(urlsplit(way).path).view_name))
        return found


def visits_as(circle, whose, roles):
    """Ask every address once as each of the roles; every check below reads the same answers."""
    for (name, method), role in itertools.product(requests(), roles):
        for address in addresses_of(name, circle.of[whose]):
            yield Visit(
                whose, role, method, name, address, *ask(circle, role, method, name, address)
            )


def differs_from_its_rule(visit, circle):
    rule = ROUTES[visit.name].rules[visit.method]
    whose, role = visit.whose, visit.role
    wanted = getattr(rule, role) if whose == "rana" else rule.of_another(role)
    if not fits(visit.name, wanted, visit.got):
        yield f"{visit.got} instead of {wanted}"
    if wanted != IN and {"rana": MARK, "otto": OTTOS}[whose] in visit.body:
        yield "the refusal shows a text of what it refuses"


def shows_a_text_of_others_in_a_list(visit, circle):
    if visit.method == "get" and visit.got == IN and not ADDRESSES[visit.name].parameters:
        if OTTOS in visit.body and visit.role not in ("otto", "ida"):
            yield "the list shows a text of Otto's"
        if MARK in visit.body and visit.role not in ("rana", "tara", "vera", "ed", "ida"):
            yield "the list shows a text of Rana's"


def shows_experts_who_answered(visit, circle):
    """An expert judges blindly: an answer that is theirs to judge is all that they see of one."""
    if visit.role != "ed" or visit.whose != "rana":
        return
    rule = ROUTES[visit.name].rules[visit.method]
    hidden = [f"{MARK}-{who}" for who in ("ada", "ben", "cy", "model")]
    if rule is not JUDGES:
        hidden += ["in the hills", "no idea", "somewhere"]
    if rule not in (ANSWERS, EDITS_ANSWERS, ABSENT):  # there the address itself holds it
        hidden.append(str(circle.of["rana"].run.public_id))
    yield from (f"the expert reads {text!r}" for text in hidden if text in visit.body)


def offers_what_would_be_refused(visit, circle):
    if not visit.is_read_page or visit.role not in OFFERED:
        return
    for method, view_name in visit.offered:
        rule = ROUTES[view_name].rules.get(method)
        if rule is None:
            yield f"it leads to {view_name} by {method}, which has no rule"
        elif getattr(rule, visit.role) != IN:
            yield f"it offers {view_name}"


def names_a_switch_of_the_command_line(visit, circle):
    if visit.is_read_page and visit.role == "rana":
        yield from flags_in(visit.body)


def has_a_foreign_text_where_scripts_read(visit, circle):
    if visit.is_read_page and visit.role == "rana":
        yield from scripted_faults(visit.body)


CHECKS_OF_EVERY_VISIT = (
    differs_from_its_rule,
    shows_a_text_of_others_in_a_list,
    shows_experts_who_answered,
    offers_what_would_be_refused,
    names_a_switch_of_the_command_line,
    has_a_foreign_text_where_scripts_read,
)


@pytest.mark.medium
@pytest.mark.parametrize(
    ("whose", "roles"),
    [
        ("rana", ROLES[:1]),
        pytest.param("rana", ROLES[1:4], marks=pytest.mark.slow),
        pytest.param("rana", ("tara", "otto", "rana"), marks=pytest.mark.slow),
        # Who may not even enter learns nothing from being asked a second time.
        pytest.param("otto", ("vera", "tara", "rana"), marks=pytest.mark.slow),
        # Operators see everything, and owners what is theirs: nothing could leak to them.
        pytest.param("rana", ("ida",), marks=pytest.mark.long),
        pytest.param("otto", ("otto", "ida"), marks=pytest.mark.long),
    ],
)
def test_every_address_passes_every_check_for_every_role(circle, whose, roles):
    wrong, read, offered = [], Counter(), Counter()
    for visit in visits_as(circle, whose, roles):
        for check in CHECKS_OF_EVERY_VISIT:
            place = f"{visit.role} {visit.method} {visit.name}"
            wrong += [f"{place}: {fault}" for fault in check(visit, circle)]
        read[visit.role] += visit.whose == "rana" and MARK in visit.body
        if visit.is_read_page and visit.role in OFFERED:
            offered[visit.role] += len(visit.offered)
    assert not wrong, "\n".join(wrong)
    # The checks had something to read: the expert the list, the set, its passages and a question.
    if whose == "rana":
        assert all(read[role] >= 4 for role in {"ed", "rana"} & set(roles)), read
        assert all(offered[role] > 20 for role in OFFERED & set(roles)), offered


@pytest.mark.slow
def test_an_address_does_not_mix_what_is_of_two_owners(circle):
    rana, otto = circle.of["rana"], circle.of["otto"]
    mixed = 0
    for name, method in requests():
        if len(set(ADDRESSES[name].parameters) - OF_NO_ONE - set(ROUTES[name].names)) < 2:
            continue
        for outer, inner in ((rana, otto), (otto, rana)):
            for address, role in itertools.product(
                addresses_of(name, outer, inner), ("rana", "otto")
            ):
                mixed += 1
                got, _ = ask(circle, role, method, name, address)
                assert got == GONE, (role, method, name, got)
    assert mixed > 30


@pytest.mark.slow
def test_methods_without_a_rule_are_refused(circle):
    """Or change nothing: a page that is only read answers a posted form as if it were asked."""
    # First of all: some addresses are of things that are made for them.
    addresses = {name: next(addresses_of(name, circle.of["rana"])) for name in ROUTES}
    before = Run.objects.count()
    for name, route in ROUTES.items():
        for method in {"get", "post", "delete"} - set(route.rules):
            address = addresses[name]
            for role in ("vera", "ed", "otto"):
                got, said = ask(circle, role, method, name, address)
                read = route.rules.get("get")
                allowed = {"405", LOGIN, NO, GONE, getattr(read, role) if read else "405"}
                assert got in allowed, (role, method, name, got)
                assert OTTOS not in said or role == "otto", (role, method, name)
    assert Run.objects.count() == before


class Ways(HTMLParser):
    """Collects where a page leads: links, and forms with their methods."""

    def __init__(self, page):
        super().__init__()
        self.page, self.found = page, set()

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag == "a" and attrs.get("href"):
            self.found.add(("get", urljoin(self.page, attrs["href"])))
        if tag == "form":
            way = urljoin(self.page, attrs.get("action") or "")
            self.found.add((attrs.get("method", "get").lower(), way))


# What the older tests of the admin's pages ask for, filled in with what is Rana's.


@pytest.fixture
def addresses(world):
    things = SimpleNamespace(
        owner=world.rana, set=world.set, version=world.version, run=world.run, team=None
    )
    found = {}
    for name, (parameters, *_) in ADDRESSES.items():
        ours = name.startswith("admin:") and ROUTES[name].rules.get("get") == ANSWERS
        if ours or ({"set_id", "run_id"} & set(parameters) and "share_id" not in parameters):
            for address in addresses_of(name, things):
                found.setdefault(name.removeprefix("admin:"), address)
    return found


@pytest.mark.medium
def test_changes_are_posted_with_a_token(circle):
    client = Client(enforce_csrf_checks=True)
    client.force_login(circle.people["rana"])
    for name, route in ROUTES.items():
        without = (*NAMESPACES_OF_PROGRAMS, *NAMESPACES_OF_LINKS)
        if "post" not in route.rules or name.split(":")[0] in without:
            continue
        if name == "admin:editor-preview":
            continue  # its forms are the workers' own, and store nothing
        address = next(addresses_of(name, circle.of["rana"]))
        if "get" not in route.rules:
            assert client.get(address).status_code == 405, name
        assert client.post(address).status_code == 403, name


def test_who_may_look_but_not_change_is_told_so(circle):
    address = next(addresses_of("admin:question-set-edit", circle.of["rana"]))
    response = circle.clients["vera"].get(address)
    assert response.status_code == 403
    assert response.context["code"] == "change"
    assert 'id="nav-sidebar"' in response.content.decode()


def test_the_overview_shows_what_is_ones_own(client, world):
    client.force_login(world.rana)
    assert client.get(reverse("admin:index")).context["counts"][0].number == 1
    client.force_login(world.otto)
    assert {c.number for c in client.get(reverse("admin:index")).context["counts"]} == {0}


@pytest.mark.medium
def test_no_address_holds_a_primary_key(addresses):
    for name, address in addresses.items():
        assert not any(part.isdecimal() for part in address.split("/")), (name, address)


@pytest.mark.medium
def test_the_notice_shows_wherever_the_answers_show(client, world, addresses):
    client.force_login(world.rana)
    shows = ["question-set", "question", "passages", "model-answers", "run", "results-run"]
    shows += ["results-worker", "results-question", "results-models"]
    for name in shows:
        assert f"Notice {MARK}" in client.get(addresses[name]).content.decode(), name


@pytest.mark.medium
def test_lists_ask_the_database_the_same_number_of_times_however_long_they_are(client, circle):
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    from evaluation.runs.background import runs

    rana, version = circle.people["rana"], circle.of["rana"].version
    lists = ("index", "question-sets", "runs", "models", "teams", "question-set", "sharing", "team")
    pages = [next(addresses_of(f"admin:{name}", circle.of["rana"])) for name in lists]

    def count():
        numbers = {}
        for page in pages:
            with CaptureQueriesContext(connection) as asked:
                assert client.get(page).status_code == 200
            numbers[page] = len(asked)
        return numbers

    def more(number):
        QuestionSet.objects.create(owner=rana, name=f"m{number}", team=circle.of["rana"].team)
        runs.repeat_run(circle.of["rana"].run, rana.pk)
        friend = User.objects.create_user(f"friend{number}", is_staff=True)
        Membership.objects.create(team=circle.of["rana"].team, user=friend)
        Share.objects.create(question_set=version.question_set, user=friend, role="viewer")
        Team.objects.create(owner=friend, name="of a friend")
        theirs = QuestionSet.objects.create(owner=friend, name="theirs")
        Share.objects.create(question_set=theirs, user=rana, role="viewer")

    client.force_login(rana)
    few = count()
    for number in range(5):
        more(number)
    many = count()
    # A waiting run makes pages ask once whether anybody listens.
    assert all(many[page] <= few[page] + 1 for page in pages), (few, many)
    # Two of them ask for the teams and shares of the reader, once for all lists of a page.
    assert max(many.values()) <= 29


def test_a_viewer_signs_in_and_out_and_walter_does_not(circle):
    address = reverse("admin:login")
    for name, status in (("vera", 302), ("ed", 302), ("walter", 200)):
        circle.people[name].set_password("rivers-and-lakes")
        circle.people[name].save()
        client = Client()
        response = client.post(address, {"username": name, "password": "rivers-and-lakes"})
        assert response.status_code == status, name
        if status == 200:  # in the words of a wrong password
            wrong = client.post(address, {"username": name, "password": "lakes"})
            errors = [r.context["form"].non_field_errors() for r in (response, wrong)]
            assert errors[0] == errors[1]
    Share.objects.filter(user=circle.people["vera"]).delete()
    assert circle.clients["vera"].get(reverse("admin:index")).status_code == 302


def test_operators_read_roles_in_words(circle):
    page = circle.clients["ida"].get(reverse("admin:auth_user_changelist")).content.decode()
    for role in ("operator", "requester", "sees what is shared"):
        assert role in page
    change = reverse("admin:auth_user_change", args=[circle.people["vera"].pk])
    form = circle.clients["ida"].get(change).content.decode()
    assert "May sign in" in form
    assert ROLES_IN_WORDS["is_staff"][1] in form
