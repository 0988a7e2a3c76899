"""Who may ask which address for what: every address of the site has one line in `ROUTES`.

To add an address, add a line with its full name (namespace and all), its methods and their rules:

    "admin:planner": get(ANSWERS),
    "admin:alarm-dismiss": post(EDITS_ANSWERS),
    "api:run-list": get(SIGNED_IN) | post(EDITS_ANSWERS, data={"version": "..."}),

`test_access` then asks it as every role: for what is Rana's, for what is Otto's, and for mixtures.
A method that stands in no line must be refused. A parameter that is new in an address gets its
value in `VALUES`; one that takes names gets them in the line: get(ANSWERS, name=["grades"]).

Rana owns the set and the team; Tara is in the team; Vera is a viewer and Ed an expert of the set;
Otto is a requester with a set and a team of his own; Walter has an account and no role; Ida is an
operator. What a rule calls IN is any answer after the door: also a complaint about the data sent.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from django.core.files.base import ContentFile
from django.utils.timezone import now

from annotations.exchange.presets import Mapping
from annotations.models import Upload, WritingProject
from crowdgrade.models.tokens import make_token
from evaluation.flow.asking.prompts import TEMPLATES, Prompt
from evaluation.models import Alarm, JudgementRequest, LanguageModel, LLMComparison, LLMScore, Run
from evaluation.models import Prompt as StoredPrompt
from evaluation.steps.asking.prompts import create_prompt

IN, NO, GONE, LOGIN = "in", "403", "404", "login"
ROLES = ("nobody", "walter", "vera", "ed", "tara", "otto", "rana", "ida")
NAMESPACES_OF_PROGRAMS = ("api",)
"""Here who is not signed in gets 401 or 403 instead of a way to the login."""


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
    # Django's own
    "admin:index": get(SIGNED_IN),
    "admin:login": get(PUBLIC),
    "admin:logout": post(replace(SIGNED_IN, nobody=IN, walter=IN)),
    "admin:password_change": form(SIGNED_IN),
    "admin:password_change_done": get(SIGNED_IN),
    "admin:jsi18n": get(SIGNED_IN),
    "admin:search": get(SIGNED_IN),
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
    "admin:question-set-publish": post(EDITS_QUESTIONS),
    "admin:passages": get(QUESTIONS),
    "admin:question": get(QUESTIONS),
    "admin:import": form(EDITS_QUESTIONS),
    "admin:import-columns": form(STAGED),
    "admin:upload": form(EDITS_QUESTIONS),
    "admin:uploaded": get(STAGED),
    "admin:upload-confirm": post(STAGED),
    "admin:upload-discard": post(STAGED),
    "admin:model-answers": get(ANSWERS),
    "admin:models": get(SIGNED_IN),
    "admin:model": get(ANSWERS),
    "admin:model-new": form(REQUESTERS),
    "admin:model-packaged": post(REQUESTERS),
    "admin:model-edit": form(EDITS_MODELS),
    "admin:model-try": post(EDITS_MODELS),
    "admin:model-delete": post(EDITS_MODELS),
    "admin:prompts": get(SIGNED_IN),
    "admin:prompt-new": form(REQUESTERS),
    "admin:prompt": get(EDITS_PROMPTS),
    "admin:prompt-edit": form(EDITS_PROMPTS),
    "admin:judging": get(QUESTIONS),
    "admin:judge": form(JUDGES),
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
    "admin:run-again": post(EDITS_ANSWERS),
    "admin:results-run": get(ANSWERS),
    "admin:results-decision": get(ANSWERS),
    "admin:results-people": get(ANSWERS),
    "admin:results-models": get(ANSWERS),
    "admin:results-trust": get(ANSWERS),
    "admin:results-anchors": get(ANSWERS) | post(EDITS_ANSWERS),
    "admin:results-alarms": get(ANSWERS),
    "admin:results-alarm": get(ANSWERS) | post(EDITS_ANSWERS),
    "admin:compare-models": get(ANSWERS),
    "admin:results-comparison": get(ANSWERS),
    "admin:results-two": get(ANSWERS),
    "admin:results-pair": get(ANSWERS),
    "admin:results-heat-map": get(ANSWERS),
    "admin:results-planner": get(ANSWERS),
    "admin:results-summary": get(ANSWERS),
    "admin:results-against": get(ANSWERS),
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
            *("leaderboard", "groups"),
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
    # API tokens: everybody's own
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
    "api:question-set-publish": post(EDITS_QUESTIONS),
    "api:question-set-versions": get(QUESTIONS),
    "api:passage-list": get(QUESTIONS) | post(EDITS_QUESTIONS),
    "api:passage-detail": get(QUESTIONS) | patch(EDITS_QUESTIONS),
    "api:question-list": get(QUESTIONS) | post(EDITS_QUESTIONS),
    "api:question-detail": get(QUESTIONS) | patch(EDITS_QUESTIONS),
    "api:answer-list": get(ANSWERS) | post(EDITS_QUESTIONS),
    "api:answer-detail": get(ANSWERS),
    "api:model-answer-list": get(ANSWERS) | post(EDITS_QUESTIONS),
    "api:model-answer-detail": get(ANSWERS),
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
    "api:prompt-list": get(SIGNED_IN) | post(REQUESTERS),
    "api:prompt-detail": get(EDITS_PROMPTS),
    "api:prompt-versions": post(EDITS_PROMPTS),
    "api:run-list": get(SIGNED_IN) | post(REQUESTERS),
    "api:run-detail": get(ANSWERS),
    "api:run-cancel": post(EDITS_ANSWERS),
    "api:run-pause": post(EDITS_ANSWERS),
    "api:run-resume": post(EDITS_ANSWERS),
    "api:run-again": post(EDITS_ANSWERS),
    "api:results-run": get(ANSWERS),
    "api:results-workers": get(ANSWERS),
    "api:results-worker": get(ANSWERS),
    "api:results-questions": get(ANSWERS),
    "api:results-question": get(ANSWERS),
    "api:results-models": get(ANSWERS),
    "api:results-consensus": get(ANSWERS),
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
    # tests/api/test_judging.py has a run whose kind has something judged
    "api:results-judging": get(ABSENT, name=["words"]) | post(ABSENT),
    "api:judging": get(QUESTIONS),
    "api:judge": get(JUDGES) | patch(JUDGES),
    "api:results-decision": get(ANSWERS),
    "api:results-trust": get(ANSWERS),
    "api:results-planner": get(ANSWERS),
    "api:results-data": get(ANSWERS),
    "api:results-tables": get(ANSWERS),
    "api:results-table": get(ANSWERS, name=["workers", "alarms"]),
    "api:export-answers": get(ANSWERS),
    "api:export-model-answers": get(ANSWERS),
    "api:export-questions": get(QUESTIONS),
    "api:export-passages": get(QUESTIONS),
}


def _alarm_place(of: Any) -> int:
    if not Alarm.objects.filter(run=of.run, place=0).exists():
        Alarm.objects.create(run=of.run, place=0, kind="leverage", severity="alarm", message="!")
    return 0


def compared_models(of: Any) -> tuple[Any, Any]:
    """Return the ids of an owner's model and of another that the run compared it with."""
    first = LanguageModel.objects.filter(owner=of.owner).order_by("pk").first()
    second, _ = LanguageModel.objects.get_or_create(owner=of.owner, name="compared with")
    if not LLMComparison.objects.filter(run=of.run).exists():
        LLMComparison.objects.create(run=of.run, model_a=first, model_b=second, n=0)
        LLMScore.objects.create(run=of.run, model=second, n=0, n_answered=0, reason="no_exemplar")
    return first.public_id, second.public_id


def other_run(of: Any) -> Any:
    """Return the id of another run of an owner's set that is done."""
    other, _ = Run.objects.exclude(pk=of.run.pk).get_or_create(
        owner=of.owner, version=of.run.version, state="done", defaults={"finished_at": now()}
    )
    return other.public_id


def _judgement_task(of: Any) -> Any:
    share = of.set.shares.order_by("role").first()  # of Otto's set, which has no expert: a viewer
    expert = of.owner if share is None else share.user
    response = of.version.questions.first().responses.first()
    asked, _ = JudgementRequest.objects.get_or_create(
        response=response, expert=expert, defaults={"place": 0, "run": of.run}
    )
    return asked.public_id


def begun_writing(of: Any) -> WritingProject:
    """Return the writing for an owner's set: a requester of its team writes, an expert checks."""
    made, is_new = WritingProject.objects.get_or_create(version=of.version)
    if is_new:
        share = of.set.shares.order_by("role").first()
        writer = of.team.memberships.first().user if of.team else of.owner
        made.members.create(user=writer, role="writer")
        if share and share.user != writer:  # not so of Otto's
            made.members.create(user=share.user, role="validator")
        question = of.version.questions.first()
        text, when = f"{question.text} And when?", now()
        common = {"project": made, "original": question, "text": text, "category": 1}
        made.problems.create(**common, author=writer, number=1)
        # Another's: nobody checks their own.
        common |= {"state": "checking", "submitted_at": when}
        made.problems.create(**common, author=of.owner, number=2)
    return made


def _written(of: Any, number: int) -> Any:
    return begun_writing(of).problems.get(number=number).public_id


def _prompt(of: Any) -> Any:
    stored = StoredPrompt.objects.filter(owner=of.owner).first()
    if stored is None:
        stored = create_prompt(of.owner.pk, "ours", Prompt("closed", TEMPLATES["closed"])).prompt
    return stored.public_id


def _staged(of: Any) -> str:
    upload = Upload(
        owner=of.owner,
        question_set=of.set,
        kind="import",
        name="answers.csv",
        options={
            "preset": "own",
            "mapping": Mapping("worker", "question", ("answer",)).as_dict(),
            "panel": "",
            "duplicates": "refuse",
            "question_template": "",
            "create_questions": True,
            "update_flags": False,
        },
        state=Upload.State.CHECKED,
        report={"version": 1, "what": "answers", "n_rows": 1, "n_new": 1, "changed": True},
    )
    upload.file.save("", ContentFile(b"worker,question,answer\nada,q1,hills"))
    return str(upload.public_id)


# The value of a parameter, out of what is one owner's: `owner`, `set`, `version`, `run`, `team`.
VALUES: dict[str, Callable[[Any], Any]] = {
    "set_id": lambda of: of.set.public_id,
    "question_id": lambda of: of.version.questions.first().public_id,
    "model_id": lambda of: LanguageModel.objects.filter(owner=of.owner).earliest("pk").public_id,
    "prompt_id": _prompt,
    "run_id": lambda of: of.run.public_id,
    "token": _staged,
    "token_id": lambda of: make_token(of.owner, str(uuid.uuid4()), 1)[0].public_id,
    "passage_id": lambda of: of.version.passages.first().public_id,
    "answer_id": lambda of: of.version.questions.first().responses.first().public_id,
    "model_answer_id": lambda of: of.version.questions.first().llm_responses.first().public_id,
    "run": lambda of: of.run.public_id,
    "worker": lambda of: of.version.submissions.first().worker.public_id,
    "question": lambda of: of.version.questions.first().public_id,
    "team_id": lambda of: of.team.public_id,
    "membership_id": lambda of: of.team.memberships.first().public_id,
    "project_id": lambda of: begun_writing(of).public_id,
    "problem_id": lambda of: _written(of, 2),
    "own_id": lambda of: _written(of, 1),
    "check_id": lambda of: _written(of, 2),
    "member_id": lambda of: begun_writing(of).members.first().public_id,
    "share_id": lambda of: of.set.shares.first().public_id,
    # Django's own pages about users, by their keys
    "id": lambda of: of.owner.pk,
    "object_id": lambda of: of.owner.pk,
    # Of no one
    "task_id": _judgement_task,
    "kind": lambda of: "answers",
    "place": _alarm_place,
    "first": lambda of: compared_models(of)[0],
    "second": lambda of: compared_models(of)[1],
    "other_id": other_run,
}
OF_NO_ONE = {"kind", "place", "name", "id", "object_id", "content_type_id", "app_label", "url"}


def headers(name: str, user: Any) -> dict[str, str]:
    """Return what signs a request in beside the session; programs may bring a token, say."""
    return {}
