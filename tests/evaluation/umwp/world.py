"""Problems of which some have no answer, and two models that answer them."""

import io
import json

from django.core.management import call_command

from evaluation.models import LanguageModel
from evaluation.runs.background import runs
from evaluation.runs.background.work import work_one_turn
from evaluation.runs.run_types import get_kind
from evaluation.umwp.options import UmwpRunOptions
from tests.evaluation.core.backends.chat.fake import said

UNKNOWN = "It cannot be determined."
ROPE = "A rope of 10 m is cut into 4 parts. How long is one?"
PROBLEMS = [
    {"id": 1, "question": "Tom has 9 books and 46 more. How many?", "answer": [55.0],
     "answerable": True, "category": None, "relevant_ids": None, "source": "SVAMP"},
    {"id": 2, "question": ROPE, "answer": [2.5],
     "answerable": True, "category": 0, "relevant_ids": None, "source": "GSM8K"},
    {"id": 3, "question": "Tom has some books and 46 more. How many?", "answer": None,
     "answerable": False, "category": 2, "relevant_ids": [1], "source": "SVAMP"},
    {"id": 4, "question": "A rope is cut into 4 parts. How long is one?", "answer": None,
     "answerable": False, "category": 1, "relevant_ids": [2], "source": "GSM8K"},
    {"id": 5, "question": "A rope is cut  into 4 parts. How long is one?", "answer": [2.0],
     "answerable": True, "category": None, "relevant_ids": None, "source": "GSM8K"},
]  # fmt: skip
SMALL = {
    "9 books": "The answer is 55.",
    "10 m": "Each part is 2.5m long.",
    "some books": UNKNOWN,
    "is cut into": "The answer is 3n + 2.",
    "is cut  into": UNKNOWN,
}
QUICK = {"encoder": "tfidf-char", "threshold": 0.8, "bootstrap": 20}


def lines(problems=PROBLEMS):
    return "".join(json.dumps(one) + "\n" for one in problems).encode()


def replied(body):
    """The large model answers everything with 55, but for what nobody labelled."""
    question = body["messages"][-1]["content"]
    if body["model"] == "large":
        return said("The answer is 55.")
    return said(next((text for words, text in SMALL.items() if words in question), UNKNOWN))


def registered(owner, name, server, **more):
    spec = server.spec.replace("small", name)
    about = {"price_in": 0, "price_out": 1, "size": "135M", "tuning": "instruct", **more}
    return LanguageModel.objects.create(owner=owner, name=name, spec=spec, **about)


def options(*models, **more):
    chosen = {"instruction": False, "in_context": False, **QUICK, **more}
    return UmwpRunOptions(models=tuple(str(one.public_id) for one in models), **chosen)


def said_by(*words):
    """What a command says; unlike a process of its own it leaves the test's connection open."""
    out = io.StringIO()
    call_command(*map(str, words), stdout=out)
    return out.getvalue()


def done(question_set, parameters, state="done"):
    version = question_set.latest_version()
    run = runs.queue_run(version, question_set.owner_id, parameters, "umwp")
    while work_one_turn():
        pass
    run.refresh_from_db()
    assert run.state == state, run.error
    return run


def table(run, name):
    found = get_kind("umwp").tables[name](run)
    return [dict(zip(found.header, row, strict=True)) for row in found.rows]
