"""A set about rivers in other words, a rewriter, a model that is always right, and a shaky one."""

import re

from annotations.models import Passage, Question, QuestionSet, Response, Submission, Variant, Worker
from evaluation.models import LanguageModel
from evaluation.multiqa.options import MultiqaRunOptions
from evaluation.runs.background import runs
from evaluation.runs.background.work import work_one_turn
from tests.evaluation.core.backends.chat.fake import FakeChat, said

CHOICES = ["Rhine", "Elbe", "Oder"]
# id, kind, question, accepted answers, two other wordings.
QUESTIONS = (
    ("q1", "choice", "Which river flows through Basel?", ["Rhine"]),
    ("q2", "choice", "Which river flows through Dresden?", ["Elbe"]),
    ("q3", "extractive", "How long is the Rhine?", ["1,233 km"]),
    ("q4", "free", "Why do rivers bend?", ["the current wears away the outer bank"]),
    ("q5", "free", "What makes a river wide?", []),
)
TEXT = "The Rhine is 1,233 km long and flows through Basel."
RIGHT = {
    "q1": "A",
    "q2": "B",
    "q3": "1233 km",
    "q4": "the current wears away the outer bank",
    "q5": "much water makes it wide",
}
WRONG = {"q1": "C", "q2": "C", "q3": "5 km", "q4": "nobody knows that", "q5": "fish swim in it"}
PEOPLE = ("much water makes it wide", "much water from rain makes it wide", "much water and sand")


def others(question):
    return [f"Tell me: {question}", f"{question} Please say."]


def rivers(owner, *, variants=True, people=True):
    made = QuestionSet.objects.create(owner=owner, name=f"rivers {QuestionSet.objects.count()}")
    draft = made.draft()
    passage = Passage.objects.create(version=draft, external_id="p1", text=TEXT)
    for place, (name, kind, text, answers) in enumerate(QUESTIONS):
        question = Question.objects.create(
            version=draft,
            external_id=name,
            position=place,
            kind=kind,
            text=text,
            choices=CHOICES if kind == "choice" else [],
            accepted_answers=answers,
            passage=passage if kind == "extractive" else None,
            metadata={"dataset": "rivers"} if kind == "choice" else {},
        )
        for number, other in enumerate(others(text) if variants else ()):
            kind = Variant.Kind.DIALECT if number else Variant.Kind.REWORDING
            Variant.objects.create(
                question=question, external_id=f"v{number}", text=other, kind=kind, position=number
            )
    if people:
        last = draft.questions.get(external_id="q5")
        for name, text in zip("abc", PEOPLE, strict=True):
            worker, _ = Worker.objects.get_or_create(owner=owner, external_id=name)
            submission = Submission.objects.create(version=draft, worker=worker)
            Response.objects.create(
                submission=submission,
                question=last,
                text=text,
                status="text",
                state=Response.State.SUBMITTED,
            )
    return made


def replied(body):
    """The rewriter gives three, one with another number; the shaky model only knows originals."""
    content = body["messages"][-1]["content"]
    asked = re.search("Question: (.*)", content)[1]
    name, text = next((name, text) for name, _, text, _ in QUESTIONS if text in asked)
    if body["model"] == "rewriter":
        one, other = others(text)
        return said(f"1. {one}\n2. In 1900, {text.lower()}\n3. {other}")
    right = body["model"] == "good" or asked == text
    return said((RIGHT if right else WRONG)[name])


class World:
    """A chat server with three models, registered by an owner."""

    def __init__(self, owner):
        self.owner, self.server = owner, FakeChat(replied)

    def model(self, name, **more):
        spec = self.server.spec.replace("small", name)
        prices = {"price_in": 1.0, "price_out": 2.0}
        return LanguageModel.objects.create(
            owner=self.owner, name=name, spec=spec, **{**prices, **more}
        )

    def bodies(self, name):
        return [body for body in self.server.bodies if body["model"] == name]


def options(models, rewriter=None, **more):
    return MultiqaRunOptions(
        models=tuple(str(one.public_id) for one in models),
        rewriter=rewriter and str(rewriter.public_id),
        **{"embedder": "tfidf-word", "bootstrap": 20, "rewordings": 2, "meaning": 0.1, **more},
    )


def queued(question_set, parameters):
    version = question_set.latest_version()
    return runs.queue_run(version, question_set.owner_id, parameters, "multiqa")


def worked(run, state="done"):
    while work_one_turn():
        pass
    run.refresh_from_db()
    assert run.state == state, run.error
    return run


def done(question_set, parameters, state="done"):
    return worked(queued(question_set, parameters), state)
