"""Who may ask which address for what: every address of the site has one line in `ROUTES`.

To add an address, add a line with its full name (namespace and all), its methods and their rules:

    "admin:planner": get(ANSWERS),
    "admin:alarm-dismiss": post(EDITS_ANSWERS),
    "api:run-list": get(SIGNED_IN) | post(EDITS_ANSWERS, data={"version": "..."}),

`test_access` then asks it as every role: for what is Rana's, for what is Otto's, and for mixtures.
A method that stands in no line must be refused. A parameter that is new in an address gets its
value in `route_values`; one that takes names gets them in the line: get(ANSWERS, name=["grades"]).

Rana owns the set and the team; Tara is in the team; Vera is a viewer and Ed an expert of the set;
Otto is a requester with a set and a team of his own; Walter has an account and no role; Ida is an
operator. What a rule calls IN is any answer after the door: also a complaint about the data sent.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from tests.desk.route_values import VALUES as VALUES
from tests.desk.route_values import begun_writing as begun_writing
from tests.desk.route_values import compared_models as compared_models
from tests.desk.route_values import other_run as other_run

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


ROUTES: dict[str, Route] = {
    "home": get(PUBLIC),
    # Pages of workers: who has the link is who is meant, whoever is signed in beside
    "worker:enter": form(PUBLIC),
    "worker:go-on": form(PUBLIC),
    "worker:language": form(PUBLIC),
    "worker:text": form(NOWHERE, page_number=[1]),  # tests/annotations/answering
    "worker:image": get(NOWHERE, page_number=[1]),
    "worker:page": form(PUBLIC, page_number=[1]),
    "worker:feedback": form(NOWHERE, page_number=[1]),
    "worker:draft": form(PUBLIC),
    "worker:review": form(PUBLIC),
    "worker:thanks": get(PUBLIC),
    "worker:data": form(PUBLIC),
    "worker:decision": form(PUBLIC),
    "worker:withdraw": form(PUBLIC),
    # Django's own
    "admin:index": get(SIGNED_IN),
    "admin:login": get(PUBLIC),
    "admin:logout": post(replace(SIGNED_IN, nobody=IN, walter=IN)),
    "admin:password_change": form(SIGNED_IN),
    "admin:password_change_done": get(SIGNED_IN),
    "admin:jsi18n": get(SIGNED_IN),
    "admin:search": get(ABSENT),
    "admin:autocomplete": get(Rule(NO, NO, NO, NO, NO, NO)),
    "admin:view_on_site": get(ABSENT, content_type_id=[1], object_id=[1]),
    "admin:app_list": get(Rule(GONE, GONE, GONE, GONE, GONE, IN), app_label=["auth"]),
    "admin/(?P<url>.*)$": get(ABSENT, url=["no/such/page"]),
    "admin:auth_user_changelist": get(OPERATORS),
    "admin:auth_user_add": form(OPERATORS),
    "admin:auth_user_change": form(OPERATORS),
    "admin:auth_user_history": get(OPERATORS),
    "admin:auth_user_delete": form(OPERATORS),
    "admin:auth_user_password_change": form(OPERATORS),
    "admin/auth/user/<path:object_id>/": get(SIGNED_IN),  # leads on to the page of that name
    # Question sets
    "admin:question-sets": get(SIGNED_IN),
    "admin:question-set-new": form(REQUESTERS),
    "admin:question-set": get(QUESTIONS),
    "admin:question-set-edit": form(EDITS_QUESTIONS),
    "admin:archived": get(SIGNED_IN),
    "admin:imports": get(ANSWERS),
    "admin:import-undo": form(EDITS_ANSWERS),
    "admin:question-set-archive": post(EDITS_QUESTIONS),
    "admin:question-set-restore": post(EDITS_QUESTIONS),
    "admin:question-set-delete": form(MANAGES),
    "admin:run-archive": post(EDITS_ANSWERS),
    "admin:run-restore": post(EDITS_ANSWERS),
    "admin:run-delete": form(EDITS_ANSWERS),
    "admin:question-set-publish": post(EDITS_QUESTIONS),
    "admin:passages": get(QUESTIONS),
    "admin:question": get(QUESTIONS),
    "admin:editor": form(EDITS_QUESTIONS),
    "admin:editor-order": post(EDITS_QUESTIONS),
    "admin:editor-texts": form(EDITS_QUESTIONS),
    "admin:editor-changes": get(QUESTIONS),
    "admin:editor-preview": form(QUESTIONS),
    "admin:editor-languages": form(EDITS_QUESTIONS),
    "admin:editor-language": form(EDITS_QUESTIONS),
    "admin:editor-language-remove": form(EDITS_QUESTIONS),
    "admin:editor-passage-new": form(EDITS_QUESTIONS),
    "admin:editor-passage": form(EDITS_QUESTIONS),
    "admin:editor-passage-delete": form(EDITS_QUESTIONS),
    "admin:editor-question-new": form(EDITS_QUESTIONS),
    "admin:editor-question": form(EDITS_QUESTIONS),
    "admin:editor-question-delete": form(EDITS_QUESTIONS),
    "admin:image": get(QUESTIONS),
    "admin:import": form(EDITS_QUESTIONS),
    "admin:import-columns": form(STAGED),
    "admin:upload": form(EDITS_QUESTIONS),
    "admin:uploaded": get(STAGED),
    "admin:upload-confirm": post(STAGED),
    "admin:upload-discard": post(STAGED),
    "admin:model-answers": get(ANSWERS),
    "admin:workers": get(SIGNED_IN),
    "admin:worker": get(ANSWERS),
    "admin:worker-history": get(ABSENT),  # two sets make a picture: tests/evaluation/site
    "admin:worker-note": post(EDITS_ANSWERS),
    "admin:worker-note-remove": post(AUTHORS),
    "admin:worker-erase": form(MANAGES_ANSWERS),
    "admin:models": get(SIGNED_IN),
    "admin:model": get(ANSWERS),
    "admin:model-history": get(ABSENT),  # two sets make a picture: tests/evaluation/site
    "admin:model-new": form(REQUESTERS),
    "admin:model-packaged": post(REQUESTERS),
    "admin:model-edit": form(EDITS_MODELS),
    "admin:model-try": post(EDITS_MODELS),
    "admin:model-archive": post(EDITS_MODELS),
    "admin:model-restore": post(EDITS_MODELS),
    "admin:model-delete": form(EDITS_MODELS),
    "admin:model-note": post(EDITS_ANSWERS),
    "admin:model-note-remove": post(AUTHORS),
    "admin:prompts": get(SIGNED_IN),
    "admin:prompt-new": form(REQUESTERS),
    "admin:prompt": get(EDITS_PROMPTS),
    "admin:prompt-edit": form(EDITS_PROMPTS),
    "admin:judging": get(QUESTIONS),
    "admin:judge": form(JUDGES),
    "admin:judge-undo": post(JUDGES),
    # Everybody's own: tests/desk/test_invitations.py
    "admin:invitation": post(ABSENT),
    # Teams and sharing
    "admin:sharing": form(MANAGES),
    "admin:sharing-team": post(MANAGES),
    "admin:share-remove": form(MANAGES),
    "admin:teams": get(REQUESTERS),
    "admin:team-new": form(REQUESTERS),
    "admin:team": get(TEAM) | post(MANAGES_TEAM),
    "admin:team-leave": form(LEAVES_TEAM),
    "admin:team-end": form(MANAGES_TEAM),
    "admin:member-remove": form(MANAGES_TEAM),
    # Writing problems without an answer
    "admin:collecting": get(ANSWERS),
    "admin:collecting-live": get(ANSWERS),
    "admin:collecting-grade": post(EDITS_ANSWERS),
    "admin:collecting-close": form(EDITS_ANSWERS),
    "admin:collecting-places": post(EDITS_ANSWERS, data={"more": "1"}),
    "admin:collecting-settings": form(EDITS_ANSWERS),
    "admin:collecting-state": post(EDITS_ANSWERS, data={"state": "paused"}),
    "admin:collecting-admission": form(EDITS_ANSWERS),
    "admin:new-wave": form(EDITS_ANSWERS),
    "admin:collecting-listed": get(EDITS_ANSWERS),
    "admin:collecting-ids": post(EDITS_ANSWERS, data={"ids": "ada"}),
    "admin:paying": get(EDITS_ANSWERS),
    "admin:paying-approve": form(EDITS_ANSWERS),
    "admin:paying-person": form(EDITS_ANSWERS),
    "admin:paying-list": get(EDITS_ANSWERS, name=["log", "prolific-approve"]),
    "admin:paying-bonuses": form(EDITS_ANSWERS),
    "admin:paying-take": post(EDITS_ANSWERS),
    "admin:paying-invite": get(EDITS_ANSWERS),
    "admin:writing": get(ANSWERS),
    "admin:writing-start": post(EDITS_ANSWERS),
    "admin:writing-settings": form(EDITS_ANSWERS),
    "admin:writing-export": get(ANSWERS),
    "admin:writing-people": form(MANAGES_ANSWERS),
    "admin:writing-team": post(MANAGES_ANSWERS),
    "admin:writing-remove": form(MANAGES_ANSWERS),
    "admin:writing-problem": get(ANSWERS) | post(EDITS_ANSWERS),
    "admin:writing-mine": get(SIGNED_IN),
    "admin:writing-desk": get(TAKES_PART) | post(WRITES),
    "admin:writing-write": form(WRITES),
    "admin:writing-withdraw": form(WRITES),
    "admin:writing-check": form(CHECKS),
    # Runs and results
    "admin:grade": form(EDITS_QUESTIONS),
    "admin:ask-models": form(EDITS_QUESTIONS),
    "admin:start": form(EDITS_QUESTIONS, name=["aqer"]),
    "admin:export": get(QUESTIONS),
    "admin:export-answers": get(ANSWERS, what=["answers", "model-answers", "consensus"]),
    "admin:export-items": get(QUESTIONS, what=["questions", "passages"]),
    "admin:runs": get(SIGNED_IN),
    "admin:run": get(ANSWERS),
    "admin:run-status": get(ANSWERS),
    "admin:run-standing": get(ABSENT),
    "admin:run-cancel": post(EDITS_ANSWERS),
    "admin:run-pause": post(EDITS_ANSWERS),
    "admin:run-resume": post(EDITS_ANSWERS),
    "admin:run-again": get(EDITS_ANSWERS),
    "admin:run-label": post(EDITS_ANSWERS),
    "admin:run-use": post(EDITS_ANSWERS),
    "admin:results-run": get(ANSWERS),
    "admin:results-decision": get(ANSWERS),
    "admin:results-people": get(ANSWERS),
    "admin:results-models": get(ANSWERS),
    "admin:results-model": get(ANSWERS),
    "admin:results-trust": get(ANSWERS),
    "admin:results-experts": get(ANSWERS),
    "admin:results-audit": get(ANSWERS) | post(EDITS_ANSWERS),
    "admin:results-anchors": get(ANSWERS) | post(EDITS_ANSWERS),
    "admin:results-triage": get(ANSWERS),
    "admin:results-triage-worker": get(ANSWERS) | post(EDITS_ANSWERS),
    "admin:results-triage-apply": get(ANSWERS) | post(EDITS_ANSWERS),
    "admin:results-triage-accept": get(ANSWERS) | post(EDITS_ANSWERS),
    "admin:results-triage-accept-undo": post(EDITS_ANSWERS),
    "admin:results-triage-file": get(
        ANSWERS, name=["mturk", "prolific-approve", "prolific-reject", "decisions"]
    ),
    "admin:results-alarms": get(ANSWERS),
    "admin:results-alarm": get(ANSWERS) | post(EDITS_ANSWERS),
    "admin:compare-models": get(ANSWERS),
    "admin:results-comparison": get(ANSWERS),
    "admin:results-two": get(ANSWERS),
    "admin:results-pair": get(ANSWERS),
    "admin:results-heat-map": get(ANSWERS),
    "admin:results-planner": get(ANSWERS),
    "admin:results-plan-file": get(ANSWERS, name=["questions", "workers"], form=["csv", "xlsx"]),
    "admin:results-summary": get(ANSWERS),
    "admin:results-against": get(ANSWERS),
    "admin:results-waves": get(ANSWERS),
    "admin:results-worker": get(ANSWERS),
    "admin:results-question": get(ANSWERS),
    "admin:results-chart": get(ANSWERS, name=["grades", "convergence"]),
    "admin:results-reply-texts": get(ABSENT),  # tests/evaluation/kinds/eloquent
    "admin:results-reply-models": get(ABSENT),
    "admin:results-data": get(ANSWERS, form=["zip", "xlsx"]),
    "admin:results-table": get(
        ANSWERS,
        name=[
            *("workers", "questions", "models", "comparison", "heat-map", "planner", "alarms"),
            *("leaderboard", "groups", "audit"),
        ],
    ),
    # Pages of other kinds of run; an AQER run has none of them.
    "admin:results-page": get(ABSENT, slug=["words"]),
    "admin:results-noticing-replies": get(ABSENT),
    "admin:results-judging": form(ABSENT, name=["words"]),  # tests/evaluation/kinds/test_judging.py
    "admin:results-views": get(ABSENT),
    "admin:results-views-answers": get(ABSENT),
    "admin:results-views-model": get(ABSENT),
    "admin:results-worker-chart": get(ANSWERS),
    "admin:results-worker-table": get(ANSWERS),
    "admin:results-question-chart": get(ANSWERS),
    "admin:results-question-table": get(ANSWERS),
    "admin:results-question-map": get(ANSWERS),
    "admin:results-question-map-table": get(ANSWERS),
    # The account and its API tokens: everybody's own
    "admin:account": form(SIGNED_IN),
    "admin:tokens": form(SIGNED_IN),
    "admin:token-revoke": post(OWN),
    # The API
    "api:root": get(PUBLIC),
    "api:schema": get(PUBLIC),
    "api:docs": get(PUBLIC),
    "api:problem": get(PUBLIC, code=["invalid"]),
    "api:nowhere": get(replace(ABSENT, nobody=GONE, walter=GONE)),
    "api:question-set-list": get(SIGNED_IN) | post(REQUESTERS),
    "api:question-set-detail": get(QUESTIONS) | patch(EDITS_QUESTIONS),
    "api:question-set-deletion": get(MANAGES) | post(MANAGES),
    "api:question-set-archive": post(EDITS_QUESTIONS),
    "api:question-set-restore": post(EDITS_QUESTIONS),
    "api:question-set-publish": post(EDITS_QUESTIONS),
    "api:question-set-waves": post(EDITS_ANSWERS),
    "api:question-set-versions": get(QUESTIONS),
    "api:question-set-texts": get(QUESTIONS) | patch(EDITS_QUESTIONS),
    "api:question-set-checks": get(QUESTIONS),
    "api:passage-list": get(QUESTIONS) | post(EDITS_QUESTIONS),
    "api:passage-detail": get(QUESTIONS) | patch(EDITS_QUESTIONS),
    "api:question-list": get(QUESTIONS) | post(EDITS_QUESTIONS),
    "api:question-detail": get(QUESTIONS) | patch(EDITS_QUESTIONS),
    "api:answer-list": get(ANSWERS) | post(EDITS_QUESTIONS),
    "api:answer-detail": get(ANSWERS),
    "api:model-answer-list": get(ANSWERS) | post(EDITS_QUESTIONS),
    "api:model-answer-detail": get(ANSWERS),
    "api:monitor": get(ANSWERS),
    "api:collection": get(ANSWERS) | post(EDITS_ANSWERS) | patch(EDITS_ANSWERS),
    "api:collection-state": post(EDITS_ANSWERS),
    "api:collection-places": post(EDITS_ANSWERS),
    "api:collection-links": post(EDITS_ANSWERS),
    "api:collection-admissions": get(ANSWERS) | post(EDITS_ANSWERS),
    "api:collection-strike": post(EDITS_ANSWERS),
    "api:collection-score-rule": (get(EDITS_ANSWERS) | put(EDITS_ANSWERS) | delete(EDITS_ANSWERS)),
    "api:translations": get(EDITS_QUESTIONS) | post(EDITS_QUESTIONS),
    "api:translation": (get(EDITS_QUESTIONS) | patch(EDITS_QUESTIONS) | delete(EDITS_QUESTIONS)),
    "api:paying": get(EDITS_ANSWERS),
    "api:paying-log": get(EDITS_ANSWERS),
    "api:paying-invited": get(EDITS_ANSWERS),
    "api:paying-invited-ids": get(EDITS_ANSWERS),
    "api:paying-person": get(EDITS_ANSWERS) | post(EDITS_ANSWERS),
    "api:collection-score-count": post(EDITS_ANSWERS),
    "api:collection-interims": get(ANSWERS) | post(EDITS_ANSWERS),
    "api:collection-so-far": get(ANSWERS),
    "api:passage-image": put(EDITS_QUESTIONS) | delete(EDITS_QUESTIONS),
    "api:image": get(QUESTIONS),
    "api:writing": get(ANSWERS) | post(EDITS_ANSWERS) | patch(EDITS_ANSWERS),
    "api:writing-accepted": get(ANSWERS),
    "api:writing-people": get(MANAGES_ANSWERS) | post(MANAGES_ANSWERS),
    "api:writing-person": delete(MANAGES_ANSWERS),
    "api:writing-problems": get(ANSWERS),
    "api:writing-problem": get(ANSWERS) | patch(EDITS_ANSWERS),
    "api:writing-list": get(SIGNED_IN),
    "api:own-problems": get(WRITES) | post(WRITES),
    "api:own-problem": get(WRITES) | patch(WRITES) | delete(WRITES),
    "api:check-tasks": get(CHECKS),
    "api:check-task": get(CHECKS) | patch(CHECKS),
    "api:language-model-list": get(SIGNED_IN) | post(REQUESTERS),
    "api:language-model-detail": get(ANSWERS) | patch(EDITS_MODELS) | delete(EDITS_MODELS),
    "api:language-model-archive": post(EDITS_MODELS),
    "api:language-model-restore": post(EDITS_MODELS),
    "api:language-model-deletion": get(EDITS_MODELS) | post(EDITS_MODELS),
    "api:language-model-history": get(ANSWERS),
    "api:language-model-notes": get(ANSWERS) | post(EDITS_ANSWERS),
    "api:language-model-note": delete(AUTHORS),
    "api:worker-list": get(SIGNED_IN),
    "api:worker-detail": get(ANSWERS),
    "api:worker-notes": post(EDITS_ANSWERS),
    "api:worker-note": delete(AUTHORS),
    "api:worker-erasure": get(MANAGES_ANSWERS) | post(MANAGES_ANSWERS),
    "api:imports": get(ANSWERS),
    "api:import-undoing": get(EDITS_ANSWERS) | post(EDITS_ANSWERS),
    "api:prompt-list": get(SIGNED_IN) | post(REQUESTERS),
    "api:prompt-detail": get(EDITS_PROMPTS),
    "api:prompt-versions": post(EDITS_PROMPTS),
    "api:run-list": get(SIGNED_IN) | post(REQUESTERS),
    "api:run-deletion": get(EDITS_ANSWERS) | post(EDITS_ANSWERS),
    "api:run-archive": post(EDITS_ANSWERS),
    "api:run-restore": post(EDITS_ANSWERS),
    "api:run-detail": get(ANSWERS) | patch(EDITS_ANSWERS),
    "api:run-use": post(EDITS_ANSWERS),
    "api:run-cancel": post(EDITS_ANSWERS),
    "api:run-pause": post(EDITS_ANSWERS),
    "api:run-resume": post(EDITS_ANSWERS),
    "api:run-again": post(EDITS_ANSWERS),
    "api:results-run": get(ANSWERS),
    "api:results-workers": get(ANSWERS),
    "api:results-worker": get(ANSWERS),
    "api:results-worker-without": get(ANSWERS),
    "api:results-questions": get(ANSWERS),
    "api:results-question": get(ANSWERS),
    "api:results-models": get(ANSWERS),
    "api:results-consensus": get(ANSWERS),
    "api:results-facts": get(ANSWERS),
    "api:results-question-facts": get(ANSWERS),
    "api:results-worker-facts": get(ANSWERS),
    "api:results-model-facts": get(ANSWERS),
    "api:results-triage": get(ANSWERS),
    "api:results-triage-apply": get(ANSWERS) | post(EDITS_ANSWERS),
    "api:results-triage-accept": get(ANSWERS) | post(EDITS_ANSWERS),
    "api:results-triage-accept-undo": post(EDITS_ANSWERS),
    "api:results-triage-worker": get(ANSWERS) | post(EDITS_ANSWERS),
    "api:results-triage-undo": post(EDITS_ANSWERS),
    "api:results-alarms": get(ANSWERS),
    "api:results-alarm": get(ANSWERS),
    "api:results-comparisons": get(ANSWERS),
    "api:results-comparison": get(ANSWERS),
    "api:results-pair": get(ANSWERS),
    "api:results-pair-questions": get(ANSWERS),
    "api:results-leaderboard": get(ANSWERS),
    "api:results-groups": get(ANSWERS),
    "api:question-set-leaderboard": get(ANSWERS),
    "api:results-against": get(ANSWERS),
    "api:results-waves": get(ANSWERS),
    "api:results-wave-workers": get(ANSWERS),
    "api:results-wave-questions": get(ANSWERS),
    # tests/api/test_judging.py has a run whose kind has something judged
    "api:results-judging": get(ABSENT, name=["words"]) | post(ABSENT),
    "api:judging": get(QUESTIONS),
    "api:judge": get(JUDGES) | patch(JUDGES) | delete(JUDGES),
    "api:inbox": get(SIGNED_IN),
    "api:results-audit": get(ANSWERS) | post(EDITS_ANSWERS) | patch(EDITS_ANSWERS),
    "api:results-experts": get(ANSWERS),
    "api:results-audit-settle": post(EDITS_ANSWERS),
    "api:results-decision": get(ANSWERS),
    "api:results-trust": get(ANSWERS),
    "api:results-planner": get(ANSWERS),
    "api:results-plan": get(ANSWERS),
    "api:results-plan-file": get(ANSWERS, name=["questions", "workers"]),
    "api:results-data": get(ANSWERS),
    "api:results-tables": get(ANSWERS),
    "api:results-table": get(ANSWERS, name=["workers", "alarms"]),
    "api:export-answers": get(ANSWERS),
    "api:export-model-answers": get(ANSWERS),
    "api:export-questions": get(QUESTIONS),
    "api:export-passages": get(QUESTIONS),
}


OF_NO_ONE = {
    *(
        "kind",
        "place",
        "name",
        "language",
        "id",
        "object_id",
        "content_type_id",
        "app_label",
        "url",
    ),
}


def headers(name: str, user: Any) -> dict[str, str]:
    """Return what signs a request in beside the session; programs may bring a token, say."""
    return {}
