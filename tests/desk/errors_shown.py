"""Posting what is wrong as a browser would, and the page that comes back."""

import copy
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import urljoin, urlsplit

from django.db import transaction
from django.test import Client
from django.urls import resolve

from tests.desk.bad_posts import ASKED, BAD, Bad
from tests.desk.forms_on_pages import Form, Page
from tests.desk.visits import addresses, looker

MISTAKES = [
    (route, bad)
    for route, all_of in {**BAD, **ASKED}.items()
    if not isinstance(all_of, str)
    for bad in all_of
]


@dataclass(frozen=True)
class Shown:
    """What came back for a mistake; `address` is where the browser then stands."""

    route: str
    bad: Bad
    role: str
    address: str
    sent: dict[str, list[str]]
    status: int
    headers: dict[str, str]
    text: str

    @cached_property
    def page(self) -> Page:
        """The page, taken apart."""
        return Page(self.text)

    @property
    def name(self) -> str:
        """What it is called where something is wrong with it."""
        return f"{self.route} sent {str(self.bad.sent)[:80]}"

    @property
    def form(self) -> Form:
        """The form as it came back."""
        typed = self.sent.keys() - {"do"}
        return next(one for one in self.page.forms if typed <= one.names)


def leads_to(form, address):
    """The route that a form on the page of an address is sent to."""
    return resolve(urlsplit(urljoin(address, form.action)).path).view_name


def sent_of(bad, form):
    """What is sent: the form as it stands, with the mistakes in it."""
    sent = {name: list(values) for name, values in form.held.items()}
    for name, value in bad.sent.items():
        # A name that ends in a dash stands for all that begin with it.
        for one in [n for n in form.names if n.startswith(name)] if name[-1] == "-" else [name]:
            sent[one] = value if isinstance(value, list) else [value]
    return {name: values for name, values in sent.items() if values != [None]}


@contextmanager
def undone():
    """Undo what is changed inside."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def post(circle, route, bad):
    """Post a mistake, and undo what that did: it is not meant to do anything."""
    role = bad.role or looker(route, "post")
    client = Client()
    client.cookies = copy.deepcopy(circle.clients[role].cookies)
    of = circle.of["rana"]
    with undone():
        if bad.given is not None:
            bad.given(of)
        page = next(addresses(bad.page or route, of)) + bad.query
        forms = Page(text_of(client.get(page))).forms
        fitting = [
            one
            for one in forms
            if leads_to(one, page) == route
            and (one.asked | one.buttons or bad.sent)
            and all(n in one.names or n[-1] == "-" for n in bad.sent)
        ]
        assert fitting, f"{page} has no form with {sorted(bad.sent)} that leads to {route}"
        sent = sent_of(bad, fitting[0])
        way = client.get if fitting[0].method == "get" else client.post
        for upload in (one for values in sent.values() for one in values if hasattr(one, "seek")):
            upload.seek(0)
        response = way(urljoin(page, fitting[0].action), sent, follow=True)
        return Shown(
            route,
            bad,
            role,
            stands_at(response),
            {name: values for name, values in sent.items() if name in bad.sent},
            response.status_code,
            dict(response.headers),
            text_of(response),
        )


def stands_at(response):
    """The address in the browser's window."""
    path, query = response.request["PATH_INFO"], response.request["QUERY_STRING"]
    return f"{path}?{query}" if query else path


def text_of(response):
    """What a response says, to its end."""
    return b"".join(response).decode()
