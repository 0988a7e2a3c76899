"""A set of which models are asked by every kind of run that tells views, with a server of ours.

Elk says the same however often and however it is asked, and notices where there is no answer; Ox
says something else each time and answers everything.
"""

import threading

from annotations.models import Question, Variant
from evaluation.consensus.parameters import AqerParameters
from evaluation.eloquent.options import EloquentRunOptions
from evaluation.maqa.options import MaqaRunOptions
from evaluation.maqa.run.replies import INSTRUCTION, OPEN_INSTRUCTION
from evaluation.models import LanguageModel
from evaluation.runs.background import runs
from evaluation.runs.background.work import work_one_turn
from evaluation.umwp.options import UmwpRunOptions
from tests.evaluation.core.backends.chat.fake import FakeChat, said

MODELS = ("Elk", "Ox")
UNKNOWN = "It cannot be determined."
DRIFT = ("lamp", "sea", "spoon of salt", "a door", "nine kelp")


class Server:
    """Models that reply by the question, Ox another thing each time it is asked."""

    def __init__(self):
        self.times, self.lock = {}, threading.Lock()
        self.chat = FakeChat(self.reply)

    def reply(self, body):
        told, asked = body["messages"][0]["content"], body["messages"][-1]["content"]
        number = int(asked.partition("q")[2].split("?")[0].split()[0])
        with self.lock:
            again = self.times.setdefault((body["model"], number), 0)
            self.times[body["model"], number] += 1
        elk = body["model"] == "Elk"
        words = "sea" if elk else DRIFT[(number + again) % 5]
        if told in (INSTRUCTION, OPEN_INSTRUCTION):
            return said(f'["{words}"]\nConfidence: {90 - number if elk else 20 + number}')
        if elk and not number % 2:
            return said(UNKNOWN)
        return said(f"The answer is {words}.")


def prepare(rivers, server):
    """Give the questions wordings, labels and answers, and the models an address."""
    for question in Question.objects.filter(version=rivers.latest_version()):
        number = int(question.external_id[1:])
        question.answerable = bool(number % 2)
        question.accepted_answers = ["sea"] if number % 2 else []
        question.save()
        for place, way in enumerate(("Say what is", "Tell me of")):
            Variant.objects.create(
                question=question, external_id=f"v{place}", position=place,
                text=f"{way} {question.external_id}?",
            )  # fmt: skip
    for name in MODELS:
        model = LanguageModel.objects.get(name=name)
        model.spec = server.chat.spec.replace("small", name)
        model.price_in = model.price_out = 0
        model.save()


def options():
    """Return how each kind is run, by its name."""
    models = tuple(str(LanguageModel.objects.get(name=name).public_id) for name in MODELS)
    return {
        "aqer": AqerParameters(embedder="tfidf-word", bootstrap=0),
        "eloquent": EloquentRunOptions(models=models, embedder="tfidf-word", bootstrap=20),
        "maqa": MaqaRunOptions(models=models, bootstrap=20, embedder="tfidf-word"),
        "umwp": UmwpRunOptions(
            models=models, instruction=False, in_context=False, encoder="tfidf-char",
            threshold=0.8, bootstrap=20,
        ),
    }  # fmt: skip


def ask_all(rivers):
    """Do a run of each kind, and return them by name."""
    done = {}
    for kind, parameters in options().items():
        run = runs.queue_run(rivers.latest_version(), rivers.owner_id, parameters, kind)
        while work_one_turn():
            pass
        run.refresh_from_db()
        assert run.state == "done", (kind, run.error)
        done[kind] = run
    return done
