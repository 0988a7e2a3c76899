"""What is wrong in each form of the site: every address that takes a post has a line in `BAD`.

To add a form, add a line beside the one of its address in `routes`: what somebody sends who got
it wrong, over the form as it stands, the fields that the page then marks, and what it says:

    "admin:team-new": [Bad({"name": ""}, marks=("name",))],

or, where there is nothing to fill in, why nothing can be wrong. `test_bad_posts` posts them all,
and `tests.browser.test_every_error` looks at what comes back.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils.timezone import now

from annotations.answering.links import Visitor
from annotations.answering.places import reserve_place
from annotations.ledger import decisions
from annotations.ledger.appeals import create_appeal
from annotations.models import QuestionSet, Submission
from evaluation.models import LanguageModel, Run
from evaluation.models.runs import GRADING
from evaluation.triage.storage import decide_on_worker
from tests.desk.route_values import begun_writing, collecting_of

LONG = "x" * 30_000
NOBODY = "nobody of this name"


@dataclass(frozen=True)
class Bad:
    """What is sent that cannot be taken.

    Attributes
    ----------
    sent : by field, over what the form holds; a list for several values, None for nothing.
    marks : the fields that are marked; none where the mistake is of no field.
    says : words that the page then alerts to. page : the route of the page that has the form,
        where that is another one; query : what stands behind its address. role : who sends it,
        where that is not whoever may look. given : makes what the form needs to be offered.
    """

    sent: dict[str, Any]
    marks: tuple[str, ...] = ()
    says: str = ""
    page: str = ""
    query: str = ""
    role: str = ""
    given: Callable[[Any], Any] | None = None


def file(text: str | bytes = "", name: str = "answers.csv") -> SimpleUploadedFile:
    """Return a file that is sent along."""
    return SimpleUploadedFile(name, text.encode() if isinstance(text, str) else text)


def askable(of: Any) -> None:
    """Say where Rana's model runs, so that it can be asked."""
    model = LanguageModel.objects.filter(owner=of.owner).earliest("pk")
    model.spec = "openai:any@http://127.0.0.1:9/v1"
    model.save()


def earlier(of: Any) -> None:
    """Give Rana another set that is graded, whose people can be asked back."""
    collecting_of(of)
    other = QuestionSet.objects.create(owner=of.owner, name="Earlier")
    version = other.versions.create(number=1)
    Run.objects.create(
        owner=of.owner, version=version, kind=GRADING, state="done", finished_at=now()
    )


def excluded(of: Any) -> None:
    """Exclude one of Rana's people."""
    decide_on_worker(
        of.run, of.run.worker_grades.earliest("pk").worker, of.owner, "exclude", "low_effort"
    )


def walker_rejected(of: Any) -> None:
    """Reject the work of who answers on the pages of workers."""
    walker = reserve_place(collecting_of(of), Visitor("walker"))
    decisions.decide_on_submission(walker, of.owner, "reject", "OTHER", "x" * 100)


def refused(of: Any) -> None:
    """Reject the work of one of Rana's people, who came in a file."""
    about = of.version.submissions.earliest("pk")
    Submission.objects.filter(pk=about.pk).update(source="imported")
    decisions.decide_on_submission(about, of.owner, "reject", "OTHER", "x" * 100)


def wrote_back(of: Any) -> None:
    """Let one of Rana's people write against a rejection."""
    refused(of)
    create_appeal(of.version.submissions.earliest("pk"), "I read every question.")


BUTTON = "a button alone"
CONFIRMS = "a button alone, on a page that says what it does"
ONE_OF = "buttons alone; which of them, the page has written into them"
SCRIPT = "only a script sends it, and tells what it is answered on the page it belongs to"

BAD: dict[str, list[Bad] | str] = {
    "worker:enter": [Bad({}, ("agree",), "tick the box", query="?PROLIFIC_PID=newcomer")],
    "worker:go-on": BUTTON,
    "worker:language": "what is none of the languages there are changes nothing",
    "worker:text": BUTTON,
    "worker:page": [Bad({"answer-": LONG}, ("answer-",), "Question 1")],
    "worker:feedback": BUTTON,
    "worker:draft": SCRIPT,
    "worker:review": BUTTON,
    "worker:data": "a box that may be ticked or not",
    "worker:decision": [
        Bad({"appeal": ""}, ("appeal",), "Please write something", given=walker_rejected),
        Bad({"appeal": LONG}, ("appeal",), "at most 2,000", given=walker_rejected),
    ],
    "worker:withdraw": [Bad({}, ("sure",), "Nothing was deleted")],
    "admin:login": [
        Bad(
            {"username": "", "password": ""},
            ("username", "password"),
            "You are not signed in",
            role="nobody",
        ),
        Bad({"username": "rana", "password": "wrong"}, (), "You are not signed in", role="nobody"),
    ],
    "admin:join": [],  # tests/crowdgrade/test_invitation_links.py
    "admin:first-account": [],  # tests/crowdgrade/test_first_account.py
    # Codes and passwords that confirm: tests/crowdgrade/sign_in/test_second_factor.py
    **{f"mfa_{one}": [] for one in ("authenticate", "reauthenticate", "activate_totp")},
    "account_reauthenticate": [],
    **{f"mfa_{one}": BUTTON for one in ("deactivate_totp", "generate_recovery_codes")},
    **{f"openid-{one}": BUTTON for one in ("begin", "unlink")},
    "admin:logout": BUTTON,
    "admin:password_change": [
        Bad(
            {"old_password": "", "new_password1": "", "new_password2": ""},
            ("old_password", "new_password1", "new_password2"),
        ),
        Bad(
            {"old_password": "no", "new_password1": "12", "new_password2": "123"},
            ("old_password", "new_password2"),
        ),
    ],
    "admin:question-set-new": [Bad({"name": "", "language": LONG}, ("name", "language"))],
    "admin:question-set-edit": [Bad({"name": ""}, ("name",))],
    "admin:import-undo": CONFIRMS,
    "admin:question-set-archive": BUTTON,
    "admin:question-set-restore": BUTTON,
    "admin:question-set-publish": BUTTON,
    "admin:question-set-delete": [Bad({"name": NOBODY}, ("name",), "Nothing was deleted")],
    "admin:draft-discard": CONFIRMS,
    "admin:run-archive": BUTTON,
    "admin:run-restore": BUTTON,
    "admin:run-delete": CONFIRMS,
    "admin:editor": BUTTON,
    "admin:editor-order": BUTTON,
    "admin:editor-texts": [Bad({"language": LONG, "do": "next"}, ("language",))],
    "admin:editor-languages": [
        Bad({"language": "no tongue", "do": "next"}, ("language",), "No language was added")
    ],
    "admin:editor-language": [Bad({"t-": LONG * 4}, ("t-",), "Nothing is saved yet")],
    "admin:editor-language-remove": CONFIRMS,
    "admin:editor-preview": "nothing is kept of it",
    "admin:editor-passage-new": [
        Bad(
            {
                "text": "",
                "external_id": "p1",
                "picture": file("no picture", "one.png"),
                "do": "next",
            },
            ("external_id", "picture"),
        )
    ],
    "admin:editor-passage": [Bad({"language": LONG, "do": "next"}, ("language",))],
    "admin:editor-passage-delete": CONFIRMS,
    "admin:editor-question-new": [
        Bad(
            {"kind": "choice", "choices_text": "", "text": "Why?", "do": "next"}, ("choices_text",)
        ),
        Bad(
            {"text": "", "max_characters": "-1", "external_id": "q1", "do": "next"},
            ("text", "max_characters", "external_id"),
        ),
    ],
    "admin:editor-question": [Bad({"max_characters": "0", "do": "next"}, ("max_characters",))],
    "admin:editor-question-delete": CONFIRMS,
    "admin:import": [Bad({}, ("file",), "Choose a file")],
    "admin:import-columns": [Bad({"duplicates": "both", "check": "yes"}, ("duplicates",))],
    "admin:import-demographics": [
        Bad({"role-1": "ignore", "show": "yes"}, (), "Choose the role Worker")
    ],
    "admin:demographics-move": BUTTON,
    "admin:upload": [
        Bad({}, ("file",), "Choose a file"),
        Bad({"file": file("worker,answer\nada,hills")}, (), "nothing was stored"),
    ],
    "admin:upload-confirm": BUTTON,
    "admin:upload-discard": BUTTON,
    "admin:worker-note": [
        Bad({"text": ""}, ("text",), "Write what is to be remembered", page="admin:worker")
    ],
    "admin:worker-note-remove": BUTTON,
    "admin:worker-erase": [Bad({"name": NOBODY}, ("name",), "Nothing was deleted")],
    "admin:model-new": [
        Bad({"name": "", "price_in": "dear"}, ("name", "url", "called", "price_in"))
    ],
    "admin:model-packaged": BUTTON,
    "admin:model-edit": [Bad({"name": ""}, ("name",))],
    "admin:model-try": [
        Bad({"question": ""}, ("question",), "Nothing was asked", given=askable, page="admin:model")
    ],
    "admin:model-archive": BUTTON,
    "admin:model-restore": BUTTON,
    "admin:model-delete": [Bad({"name": NOBODY}, ("name",), "Nothing was deleted")],
    "admin:model-note": [
        Bad({"text": ""}, ("text",), "Write what is to be remembered", page="admin:model")
    ],
    "admin:model-note-remove": BUTTON,
    "admin:prompt-new": [Bad({"name": "", "template": ""}, ("name", "template"))],
    "admin:prompt-edit": [Bad({"template": ""}, ("template",))],
    "admin:judge": [Bad({"grade": "good"}, (), "Choose a grade from 0 to 5")],
    "admin:judge-undo": BUTTON,
    "admin:invitation": ONE_OF,
    "admin:sharing": [Bad({"username": NOBODY, "role": "king"}, ("username", "role"))],
    "admin:sharing-team": [
        Bad({"team": NOBODY}, (), "Choose a team that you are in", page="admin:sharing")
    ],
    "admin:share-remove": CONFIRMS,
    "admin:invitation-links": [Bad({"role": "king"}, ("role",))],
    "admin:invitation-link-withdraw": BUTTON,
    "admin:invitation-link-mail": BUTTON,
    "admin:requester-link-mail": BUTTON,
    "admin:requester-links": [Bad({"role": "king"}, ("role",))],
    "admin:requester-link-withdraw": BUTTON,
    "admin:team-new": [Bad({"name": ""}, ("name",))],
    "admin:team": [Bad({"username": NOBODY}, ("username",), "No user was added")],
    "admin:team-leave": CONFIRMS,
    "admin:team-end": CONFIRMS,
    "admin:member-remove": CONFIRMS,
    "admin:collecting-grade": BUTTON,
    "admin:collecting-close": CONFIRMS,
    "admin:collecting-places": [
        Bad(
            {"more": "0"},
            ("more",),
            "No places were added",
            page="admin:collecting",
            given=collecting_of,
        )
    ],
    "admin:collecting-settings": [
        Bad({"places": "0"}, ("places",), "Nothing was changed", given=collecting_of),
        Bad({"places": "", "title": LONG}, ("places", "title"), given=collecting_of),
    ],
    "admin:collecting-state": ONE_OF,
    "admin:collecting-admission": [
        Bad({"at_least": "", "do": "save"}, ("at_least",), "Nothing was changed", given=earlier)
    ],
    "admin:paying-approve": BUTTON,
    "admin:paying-take": BUTTON,
    "admin:paying-bonuses": BUTTON,  # the rule itself is a search
    "admin:paying-person": [
        Bad({"do": "reject", "category": "OTHER", "reason": "bad"}, ("reason",)),
        Bad({"do": "reject", "reason": LONG[:120]}, ("category",)),
        Bad({"do": "answer-stays", "answer": ""}, ("answer",), given=wrote_back),
        Bad({"do": "answer-approve", "answer": LONG}, ("answer",), given=wrote_back),
        Bad({"do": "note-appeal", "written": ""}, ("written",), given=refused),
        Bad({"do": "note-appeal", "written": LONG}, ("written",), given=refused),
    ],
    "admin:new-wave": [
        Bad({"name": "", "people": "same"}, ("name",)),
        Bad({"name": "x" * 201, "people": "nobody"}, ("name", "people")),
    ],
    "admin:link-wave": [
        Bad({"earlier": NOBODY, "do": "link"}, ("earlier",), "Nothing was linked", given=earlier),
        Bad({"earlier": None, "do": "match"}, ("earlier",), "Nothing was linked", given=earlier),
    ],
    "admin:collecting-ids": [
        Bad(
            {"ids": "", "do": "admit"},
            ("ids",),
            "Write at least one id",
            page="admin:collecting",
            given=collecting_of,
        ),
        Bad(
            {"ids": "y" * 300, "do": "links"},
            ("ids",),
            "255 characters",
            page="admin:collecting",
            given=collecting_of,
        ),
    ],
    "admin:writing-start": BUTTON,
    "admin:writing-settings": [
        Bad({"per_original": "0", "votes_needed": ""}, ("per_original", "votes_needed"))
    ],
    "admin:writing-people": [Bad({"username": NOBODY}, ("username",), "No invitation was sent")],
    "admin:writing-team": [
        Bad({"team": ""}, (), "Choose one of your teams", page="admin:writing-people")
    ],
    "admin:writing-remove": CONFIRMS,
    "admin:writing-problem": [Bad({"note": LONG, "do": "drop"}, ("note",))],
    "admin:writing-desk": BUTTON,
    "admin:writing-write": [Bad({"text": "", "category": None, "do": "submit"}, ("text",))],
    "admin:writing-withdraw": CONFIRMS,
    "admin:writing-candidates-add": [
        Bad({"name": " "}, ("name",), "No question set", given=begun_writing),
    ],
    "admin:writing-verify": [
        Bad({"verdict": None}, ("verdict",)),
        Bad({"verdict": "reject", "reason": None}, ("reason",)),
        Bad({"verdict": "edit", "answers": "one"}, ("answers",)),
    ],
    "admin:writing-check": [
        Bad({}, ("verdict",)),
        Bad({"verdict": "no"}, ("category",)),
    ],
    "admin:grade": [
        Bad({"bootstrap": "-1", "label-name": LONG}, ("bootstrap", "label-name")),
        Bad({"exclude_workers": NOBODY}, ("exclude_workers",), "Nothing has started"),
    ],
    "admin:ask-models": [
        Bad({"models": None, "do": "preview"}, ("models",), "Nothing was asked", given=askable)
    ],
    "admin:start": [Bad({"bootstrap": "-5"}, ("bootstrap",), "Nothing has started")],
    "admin:run-cancel": BUTTON,
    "admin:run-pause": BUTTON,
    "admin:run-resume": BUTTON,
    "admin:run-label": [Bad({"label-name": LONG}, ("label-name",), page="admin:run")],
    "admin:run-use": BUTTON,
    "admin:results-audit": [
        Bad(
            {"count": "0", "experts": None, "do": "ask"},
            ("count", "experts"),
            "No request was sent",
        )
    ],
    "admin:results-anchors": BUTTON,
    "admin:results-triage-worker": [
        Bad({"category": None, "do": "exclude"}, ("category",), "No worker is excluded yet"),
        Bad({"category": "own", "reason": "", "do": "exclude"}, ("reason",)),
        Bad({"do": "undo"}, (), "nothing to take back"),
    ],
    "admin:results-triage-apply": [Bad({"label-name": LONG}, ("label-name",), given=excluded)],
    "admin:results-triage-accept": [
        Bad({"seen": ""}, (), "No one was accepted", query="?alarms=true")
    ],
    "admin:results-triage-accept-undo": BUTTON,
    "admin:results-alarm": [
        Bad({}, ("state",)),
        Bad({"state": "dismissed", "note": ""}, ("note",)),
    ],
    "admin:results-judging": [],  # tests/evaluation/runs/run_types/test_judging.py
    "admin:account": "a box that may be ticked or not",
    "admin:tokens": [Bad({"name": "", "days": "0"}, ("name", "days"), "No token was made")],
    "admin:token-revoke": BUTTON,
    "admin:webhook-new": [
        Bad({"name": "", "url": "nonsense", "events": None}, ("name", "events")),
        Bad({"name": "lab", "url": "http://10.0.0.1/", "events": "run.failed"}, ("url",)),
        Bad({"name": "lab", "url": "nonsense", "events": "run.failed"}, ("url",)),
    ],
    "admin:webhook-edit": [Bad({"url": "https://rana:x@example.org/"}, ("url",))],
    "admin:webhook-delete": CONFIRMS,
    "admin:webhook-test": BUTTON,
    "admin:webhook-secret": BUTTON,
    "admin:webhook-switch": BUTTON,
    "admin:webhook-again": BUTTON,
}
"""What a form is posted that cannot be taken; or why nothing in it can be wrong."""

ASKED: dict[str, list[Bad]] = {
    "admin:workers": [Bad({"score_from": "9999"}, ("score_from",), "Nothing was searched")],
    "admin:results-planner": [Bad({"pay": "much"}, ("pay",), "Nothing was planned")],
    "admin:paying-bonuses": [
        Bad({"amount": "much", "share": "500", "least": "x"}, ("amount", "share", "least"))
    ],
    "admin:paying-invite": [Bad({"at_least": "9999"}, ("at_least",))],
    "admin:audit-exports": [Bad({"since": "soon"}, ("since",))],
    "admin:audit-decisions": [Bad({"until": "soon"}, ("until",))],
    "admin:audit-sign-ins": [Bad({"since": "soon"}, ("since",))],
}
"""The same of forms that only ask: their numbers stand in the address."""
