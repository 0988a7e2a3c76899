"""Every form of the site, filled in wrongly: what is wrong, and where, is told to everybody."""

from datetime import date

import pytest

from tests.desk.bad_posts import ASKED, BAD
from tests.desk.errors_shown import MISTAKES, leads_to, post, text_of
from tests.desk.forms_on_pages import Page
from tests.desk.routes import ROUTES
from tests.desk.test_access import circle
from tests.desk.visits import is_of_people, visits

__all__ = ["circle"]

CONTROLS = ("input", "select", "textarea")
# A password and a file no browser shows again; of a choice nothing else can be chosen.
NOT_KEPT = ("password", "file", "select", "radio", "checkbox")
NUMBERS = ("number", "date")
SAID_FIRST = ("Error: ", "Not quite done: ")


def test_every_address_that_takes_a_post_says_what_can_be_wrong_with_it():
    posted = {name for name, route in ROUTES.items() if "post" in route.rules}
    assert {name for name in posted if is_of_people(name)} | {"admin:login"} == BAD.keys()


@pytest.mark.slow
def test_every_form_with_something_to_fill_in_has_a_mistake_declared(circle):
    """Also one that only asks, where it asks for a number: a search takes any words."""
    without = set()
    seen = 0
    for role, name, address in visits(circle):
        response = circle.clients[role].get(address)
        if not response.headers.get("Content-Type", "").startswith("text/html"):
            continue
        for form in Page(text_of(response)).forms:
            to = leads_to(form, address)
            seen += bool(form.asked)
            if form.method == "get":
                numbers = {n for n in form.asked if form.kinds[n] in NUMBERS}
                if numbers and to not in ASKED:
                    without.add((name, to, *sorted(numbers)))
            elif is_filled_in(form) and not isinstance(BAD.get(to), list):
                without.add((name, to, *sorted(form.asked)))
    assert seen > 60
    assert without == set()


@pytest.mark.slow
def test_what_is_wrong_is_said_with_the_way_to_it_and_nothing_typed_is_lost(circle):
    found = []
    for route, bad in MISTAKES:
        shown = post(circle, route, bad)
        found += [f"{shown.name}: {one}" for one in wrong_with(shown)]
    print("\n".join(found))
    assert found == []


def is_filled_in(form):
    """Whether there is more in it than boxes that may be ticked or not."""
    return any(kind != "checkbox" for kind in form.kinds.values())


def wrong_with(shown):
    """What somebody who reads by ear, or by touch, would miss on the page."""
    page, bad = shown.page, shown.bad
    told = told_on(page)
    if not told:
        yield f"no alert, and status {shown.status}"
    if bad.says not in told:
        yield f"the alert does not say {bad.says!r}: {told[:200]}"
    if not page.focused or page.focused[0].get("tabindex") != "-1":
        yield "the alert does not take the focus"
    if bad.marks:
        if not page.title.strip().startswith(SAID_FIRST):
            yield f"the window is called {page.title.strip()!r}"
        yield from lost(shown)
    yield from unmarked(page, bad.marks)
    yield from ways(page, len(bad.marks))


def is_date(text):
    """Return whether `text` is a date as a date field holds it."""
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def told_on(page):
    """What the page alerts to, in one line."""
    return " ".join(page.alerts.split())


def unmarked(page, marks):
    """Fields that should be marked and are not, or the other way round, or without their error."""
    marked = {control["name"] for control, _ in page.wrong}
    whole = {name for name in marks if name[-1] != "-"}
    begun = tuple(name for name in marks if name[-1] == "-")
    if {name for name in marked if not name.startswith(begun)} != whole:
        yield f"marked are {sorted(marked)}"
    for control, around in page.wrong:
        ids = [*control.get("aria-describedby", "").split()]
        ids += around.get("aria-describedby", "").split()
        said = [" ".join(page.said.get(one, "").split()) for one in ids]
        if not any(one and one in told_on(page) for one in said):
            yield f"{control['name']} is not described by its error, but by {ids}"
        if missing := [one for one in ids if one not in page.ids]:
            yield f"{control['name']} is described by {missing}, which are not there"


def ways(page, needed):
    """Links of the alert that lead to no field, or too few of them."""
    links = [one[1:] for one in page.links if one.startswith("#")]
    for link in links:
        if page.ids.get(link, {}).get("tag") not in CONTROLS:
            yield f"the way to {link} leads nowhere"
    if len(links) < needed:
        yield f"{len(links)} ways to {needed} mistakes"


def lost(shown):
    """What was typed and does not stand in the form that comes back; no password, no file."""
    form = shown.form
    for name, values in shown.sent.items():
        typed = [one for one in values if isinstance(one, str)]
        if form.kinds.get(name) == "date":
            # A browser's date field holds a date or nothing: no other text can be typed there.
            typed = [one if is_date(one) else "" for one in typed]
        kept = name in form.asked and form.kinds[name] not in NOT_KEPT
        if typed and kept and form.held.get(name) != typed:
            yield f"{name} was {str(typed)[:60]} and is {str(form.held.get(name))[:60]}"
