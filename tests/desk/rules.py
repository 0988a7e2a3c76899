"""What each role gets of an address, and how a line of `routes.ROUTES` says so.

Rana owns the set and the team; Tara is in the team; Vera is a viewer and Ed an expert of the set;
Otto is a requester with a set and a team of his own; Walter has an account and no role; Ida is an
operator. What a rule calls IN is any answer after the door: also a complaint about the data sent.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

IN, NO, GONE, LOGIN = "in", "403", "404", "login"
ROLES = ("nobody", "walter", "vera", "ed", "tara", "otto", "rana", "ida")
NAMESPACES_OF_PROGRAMS = ("api",)
"""Here who is not signed in gets 401 or 403 instead of a way to the login."""
NAMESPACES_OF_LINKS = ("worker",)
"""Here the address alone says who may write: it is signed, and no session is there to be abused."""


@dataclass(frozen=True)
class Rule:
    """What each role gets when it asks for something of Rana's."""

    vera: str
    ed: str
    tara: str
    otto: str
    rana: str
    ida: str
    nobody: str = LOGIN
    walter: str = LOGIN

    @property
    def is_about_an_object(self) -> bool:
        """Whether it hangs on whose the object is."""
        return self.otto != self.rana or self.rana == GONE

    def of_another(self, role: str) -> str:
        """What a role gets for something of Otto's: he stands where Rana stands, all others out."""
        if not self.is_about_an_object or role in ("nobody", "walter"):
            return str(getattr(self, role))
        return {"otto": self.rana, "ida": self.ida}.get(role, GONE)


PUBLIC = Rule(IN, IN, IN, IN, IN, IN, nobody=IN, walter=IN)
SIGNED_IN = Rule(IN, IN, IN, IN, IN, IN)
"""Everybody who may enter; what a list holds is tested by its texts."""
REQUESTERS = Rule(NO, NO, IN, IN, IN, IN)
OPERATORS = Rule(NO, NO, NO, NO, NO, IN)
ABSENT = Rule(GONE, GONE, GONE, GONE, GONE, GONE)
NOWHERE = replace(ABSENT, nobody=GONE, walter=GONE)
"""The same where nobody has to sign in."""
QUESTIONS = Rule(IN, IN, IN, GONE, IN, IN)
"""Reading what was asked."""
ANSWERS = Rule(IN, GONE, IN, GONE, IN, IN)
"""Reading what came back: experts are to judge blindly, for them it does not exist."""
EDITS_QUESTIONS = Rule(NO, NO, IN, GONE, IN, IN)
"""Changing something that experts see."""
EDITS_ANSWERS = Rule(NO, GONE, IN, GONE, IN, IN)
"""Changing something that experts do not see."""
JUDGES = Rule(GONE, IN, GONE, GONE, GONE, GONE)
"""Reading and grading an answer that the expert of the set was asked to judge."""
WRITES = Rule(GONE, GONE, IN, GONE, GONE, GONE)
"""Writing a problem: Tara is a writer, by her own name alone and not because she is in the team."""
CHECKS = Rule(GONE, IN, GONE, GONE, GONE, GONE)
"""Checking a problem: Ed is a validator; whoever sees votes by another role is refused."""
TAKES_PART = Rule(GONE, IN, IN, GONE, GONE, GONE)
MANAGES = Rule(NO, NO, NO, GONE, IN, IN)
"""Deleting and sharing a set."""
MANAGES_ANSWERS = Rule(NO, GONE, NO, GONE, IN, IN)
"""Saying who writes and who checks: experts of the set do not learn that anybody does."""
STAGED = Rule(NO, NO, GONE, GONE, IN, GONE)
"""A file that Rana uploaded and did not confirm yet: her own, for everybody else."""
EDITS_MODELS = Rule(NO, GONE, NO, GONE, IN, IN)
"""Changing what is said about a model, which is its owner's alone."""
EDITS_PROMPTS = Rule(GONE, GONE, GONE, GONE, IN, IN)
"""Reading and changing a prompt, which is its owner's alone."""
AUTHORS = Rule(GONE, GONE, NO, GONE, IN, NO)
"""Taking back what Rana wrote, which others who change the set may read."""
OWN = Rule(GONE, GONE, GONE, GONE, IN, GONE)
"""Rana's own, for nobody else."""
TEAM = Rule(GONE, GONE, IN, GONE, IN, IN)
MANAGES_TEAM = Rule(GONE, GONE, NO, GONE, IN, IN)
LEAVES_TEAM = Rule(GONE, GONE, IN, GONE, GONE, GONE)
"""The owner and operators are no members."""


@dataclass(frozen=True)
class Route:
    """The methods of an address with their rules; `names` are values of its parameters."""

    rules: dict[str, Rule]
    data: dict[str, Any] = field(default_factory=dict)
    names: dict[str, list[Any]] = field(default_factory=dict)

    def __or__(self, other: Route) -> Route:
        return Route(self.rules | other.rules, self.data | other.data, self.names | other.names)


def _method(method: str) -> Callable[..., Route]:
    def route(rule: Rule, data: dict[str, Any] | None = None, **names: list[Any]) -> Route:
        return Route({method: rule}, {method: data} if data else {}, names)

    return route


get, post, put, patch, delete = map(_method, ("get", "post", "put", "patch", "delete"))


def form(rule: Rule, **names: list[Any]) -> Route:
    """Return a page with a form that is posted to the same address."""
    return get(rule, **names) | post(rule)
