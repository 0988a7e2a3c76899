"""Which addresses somebody looks at: every route of `tests.desk.routes`, by who may see it."""

import itertools

from django.urls import reverse

from tests.desk.routes import ROUTES, VALUES
from tests.desk.rules import IN, NAMESPACES_OF_PROGRAMS
from tests.desk.test_access import ADDRESSES

# Who looks, in this order: whoever may enter first; else Rana sees why nobody may.
LOOKERS = ("rana", "ed", "tara", "ida")
# Of Django's own admin: a page that only leads on to another one, or a pattern without a name.
WITHOUT_ADDRESS = {"admin/(?P<url>.*)$", "admin/auth/user/<path:object_id>/"}
# Django's pages about accounts, and parts of pages that the admin's own scripts ask for.
OF_DJANGO = (
    "admin:auth_user_",
    "admin:evaluation_runtask_",
    "admin:search",
    "admin:jsi18n",
    "admin:app_list",
)


def is_of_people(name):
    """Whether a route is one that people ask, and not programs or Django's own pages."""
    of_programs = name.split(":")[0] in NAMESPACES_OF_PROGRAMS
    return not of_programs and name not in WITHOUT_ADDRESS and not name.startswith(OF_DJANGO)


def looker(name, method="get"):
    """Who looks at a route."""
    rule = ROUTES[name].rules.get(method) or ROUTES[name].rules["get"]
    return next((one for one in LOOKERS if getattr(rule, one) == IN), LOOKERS[0])


def addresses(name, of):
    """The addresses of a route for what is of somebody, one for each value of its names."""
    route, parameters = ROUTES[name], ADDRESSES[name].parameters
    values = [route.names.get(one) or [VALUES[one](of)] for one in parameters]
    for chosen in itertools.product(*values):
        yield reverse(name, kwargs=dict(zip(parameters, chosen, strict=True)))


def visits(circle):
    """Who looks at what: (role, name, address), a route once for each value of its names."""
    for name, route in ROUTES.items():
        if "get" in route.rules and is_of_people(name):
            for address in addresses(name, circle.of["rana"]):
                yield looker(name), name, address
