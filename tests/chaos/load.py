"""What goes on while faults happen: collecting, importing, grading, asking and paying.

Each load runs in a thread until it is stopped, treats an error as a person or program would (comes
back, or sends the same again), and afterwards checks what is stored against what was acknowledged.
"""

from __future__ import annotations

import random
import subprocess
import sys
import threading
import time
import uuid
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from textwrap import indent

import httpx

from tests.annotations.panels import prolific_fake
from tests.benchmarks.workers import people
from tests.chaos.site import ChaosSite
from tests.evaluation.core.backends.chat.fake import FakeChat, question_of
from tests.evaluation.runs.background.embedding_server import EmbeddingServer
from tests.evaluation.runs.background.scratch import ROOT

PAUSE = 1.0
AT_ONCE = 4
"""Requests to a model at the same time."""
PAYING = 4
"""Workers whose bonuses are paid together."""


@dataclass(frozen=True)
class Check:
    """One invariant: what must hold, the figure that was counted, and whether it holds."""

    load: str
    what: str
    figure: str
    holds: bool


class Load(ABC):
    """A load in a thread of its own; `start`, `stop`, then `check`."""

    name = ""
    user = "rana"

    def __init__(self, site: ChaosSite, seed: int) -> None:
        self.site, self.random = site, random.Random(f"{self.name}/{seed}")
        self.stopped = threading.Event()
        self.broken = ""
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Let the load finish what it does, and wait for it."""
        self.stopped.set()
        self._thread.join(180)
        if self._thread.is_alive():
            self.broken = "did not end within 180 seconds"

    def _run(self) -> None:
        try:
            self.work()
        except Exception as error:
            self.broken = f"{type(error).__name__}: {error}"[:300]

    @abstractmethod
    def work(self) -> None:
        """Do the work until `stopped` is set."""

    @abstractmethod
    def find_violations(self) -> Sequence[Check]:
        """Return the invariants of this load with what is stored."""

    def check(self) -> list[Check]:
        """Return all invariants; also that the load itself ran to its end."""
        ended = Check(self.name, "the load ran to its end", self.broken or "yes", not self.broken)
        return [ended, *self.find_violations()]

    def make(self, code: str, **names: object):
        """Run code that stores something, all or nothing, again until the database takes it."""
        whole = (
            f"from django.db import transaction\nwith transaction.atomic():\n{indent(code, '  ')}"
        )
        while True:
            try:
                return self.site.read(whole, **names)
            except AssertionError:
                if self.stopped.wait(PAUSE):
                    raise

    def send(self, method: str, address: str, **more: object) -> httpx.Response:
        """Send a request of the REST API again and again until it is acknowledged.

        An answer of 4xx, but for 409 and 429, is a fault of the load and raises.
        """
        key = {"Idempotency-Key": uuid.uuid4().hex}
        while True:
            try:
                with self.site.api(self.user, timeout=20) as api:
                    response = api.request(method, address, headers=key, **more)
            except httpx.HTTPError:
                time.sleep(PAUSE)
                continue
            if response.is_success:
                return response
            if response.status_code < 500 and response.status_code not in (409, 429):
                raise AssertionError(f"{address}: {response.status_code} {response.text[:200]}")
            time.sleep(PAUSE)


COLLECTION = """
from django.contrib.auth.models import User
from annotations.answering import collecting, links
from annotations.models import Question, QuestionSet
owner = User.objects.get(username="rana")
draft = QuestionSet.objects.create(owner=owner, name="tides", language="en").draft()
Question.objects.bulk_create(
    Question(version=draft, external_id=f"t{n}", position=n, text=f"Where is tide {n}?")
    for n in range(20))
published = collecting.publish_question_set(
    draft.question_set, places=5000, protocol="open", base_url=ADDRESS)
made = published.collection
result = f"{links.build_collection_link(made)}?{made.worker_parameter}="
"""
TEXTS = """
from annotations.models import Response
result = [[worker, str(question), text] for worker, question, text in
          Response.objects.filter(submission__version__question_set__name="tides").values_list(
              "submission__worker__external_id", "question__public_id", "text")]
"""


class Collecting(Load):
    """People who write on the pages of a collection; each page and draft is acknowledged."""

    name = "collecting"
    n_people = 6
    slice_seconds = 20.0

    def work(self) -> None:
        link = self.make(COLLECTION, ADDRESS=self.site.address)
        self.loads: list[people.Load] = []
        first = 0
        while not self.stopped.is_set():
            # With a kill in the list people come back after an error, as they do after an outage.
            kills = [(0.0, lambda: None)]
            try:
                found = people.by_the_clock(
                    link, self.n_people, self.slice_seconds, first=first, kills=kills
                )
            except (httpx.HTTPError, people.FailedError):
                time.sleep(PAUSE)  # the first page did not come
            else:
                self.loads.append(found)
            first += self.n_people

    def find_violations(self) -> Sequence[Check]:
        stored: dict[tuple[str, str], list[str]] = {}
        for worker, question, text in self.site.read(TEXTS):
            stored.setdefault((worker, question), []).append(text)
        acknowledged = {key: text for load in self.loads for key, text in load.texts.items()}
        sent = {key: text for load in self.loads for key, text in load.sent.items()}
        # What was sent last may be stored although its acknowledgement was lost.
        lost = [
            key
            for key, text in acknowledged.items()
            if not set(stored.get(key, ())) & {text, sent[key]}
        ]
        doubled = [key for key, texts in stored.items() if len(texts) > 1]
        return [
            Check(self.name, "acknowledged texts", str(len(acknowledged)), bool(acknowledged)),
            Check(self.name, "acknowledged texts that are missing", str(len(lost)), not lost),
            Check(self.name, "answers stored twice", str(len(doubled)), not doubled),
        ]


COUNTED = """
from annotations.models import Response
result = Response.objects.filter(submission__version__question_set__public_id=SET).count()
"""


class Importing(Load):
    """A program that imports rows of answers over REST until each import is acknowledged."""

    name = "importing"
    n_workers, n_questions = 10, 8

    def work(self) -> None:
        self.set = self.site.people["rana"]["set"]
        self.before = self.site.read(COUNTED, SET=self.set)
        self.imports = 0
        while not self.stopped.wait(PAUSE):
            rows = [
                {"worker": f"i{self.imports}-{w}", "question": f"q{q}", "answer": f"answer {w} {q}"}
                for w in range(self.n_workers)
                for q in range(4)
            ]
            address = f"question-sets/{self.set}/answers/"
            self.send("POST", address, json={"rows": rows})
            self.imports += 1

    def find_violations(self) -> Sequence[Check]:
        wanted = self.before + self.imports * self.n_workers * 4
        found = self.site.read(COUNTED, SET=self.set)
        figure = f"{found} of {wanted}"
        return [
            Check(self.name, "acknowledged imports", str(self.imports), self.imports > 0),
            Check(self.name, "answers stored of those imported", figure, found == wanted),
        ]


GRADING_SET = """
from django.contrib.auth.models import User
from annotations.models import Question, QuestionSet, Response, Submission, Worker
owner = User.objects.get(username="operator")
version = QuestionSet.objects.create(owner=owner, name=NAME).draft()
questions = Question.objects.bulk_create(
    Question(version=version, external_id=f"q{j}", text="?", position=j) for j in range(QUESTIONS))
for i in range(WORKERS):
    worker, _ = Worker.objects.get_or_create(owner=owner, external_id=f"w{i}")
    submission = Submission.objects.create(
        version=version, worker=worker, state="submitted", source="imported")
    Response.objects.bulk_create(
        Response(submission=submission, question=question, text=f"{NAME}: {i} to {j}",
                 state="submitted", status="text") for j, question in enumerate(questions))
result = str(version.question_set.public_id)
"""
RUNS = """
from django.db.models import Count
from evaluation.models import AnswerScore, Run, WorkerGrade
grades = dict(WorkerGrade.objects.values_list("run").annotate(n=Count("id")))
scores = dict(AnswerScore.objects.values_list("run").annotate(n=Count("id")))
result = [[str(run.public_id), run.kind, run.state, run.error, run.attempt,
           grades.get(run.pk, 0), scores.get(run.pk, 0)] for run in Run.objects.all()]
"""


class Grading(Load):
    """Runs of AQER whose texts a server embeds slowly; started over REST, one after another."""

    name = "grading"
    user = "operator"  # only operators may use an embedder at an address
    n_workers, n_questions = 12, 6

    def __init__(self, site: ChaosSite, seed: int) -> None:
        super().__init__(site, seed)
        self.server = EmbeddingServer(seconds_per_text=0.02)
        self.runs: list[str] = []

    def work(self) -> None:
        while not self.stopped.is_set():
            size = {"WORKERS": self.n_workers, "QUESTIONS": self.n_questions}
            made = self.make(GRADING_SET, NAME=f"graded {len(self.runs)}", **size)
            parameters = {"embedder": self.server.spec, "bootstrap": 20}
            body = {"question_set": made, "parameters": parameters}
            run = self.send("POST", "runs/", json=body).json()["id"]
            self.runs.append(run)
            while not self.stopped.wait(PAUSE):
                if self.send("GET", f"runs/{run}/").json()["state"] in ("done", "failed"):
                    break

    def find_violations(self) -> Sequence[Check]:
        rows = {row[0]: row for row in self.site.read(RUNS) if row[0] in self.runs}
        states = Counter(row[2] for row in rows.values())
        open_runs = [key for key, row in rows.items() if row[2] not in ("done", "failed")]
        silent = [key for key, row in rows.items() if row[2] == "failed" and not row[3]]
        n_scores = self.n_workers * self.n_questions
        wrong = [
            key
            for key, row in rows.items()
            if tuple(row[5:]) != ((self.n_workers, n_scores) if row[2] == "done" else (0, 0))
        ]
        started = f"{len(rows)} of {len(self.runs)}"
        repeated = len(self.server.asked) - len(set(self.server.asked))
        return [
            Check(self.name, "acknowledged runs that exist", started, len(rows) == len(self.runs)),
            Check(self.name, "states of runs", str(dict(states)), states["done"] > 0),
            Check(self.name, "runs that did not end", str(len(open_runs)), not open_runs),
            Check(self.name, "failed runs without a reason", str(len(silent)), not silent),
            Check(self.name, "runs with missing or extra results", str(len(wrong)), not wrong),
            Check(self.name, "texts embedded again after a kill", str(repeated), True),
        ]


ASKING = """
from django.contrib.auth.models import User
from annotations.models import Question, QuestionSet
from evaluation.runs.background.runs import queue_run
from evaluation.runs.flow.asking.options import AskOptions
from evaluation.models import LanguageModel
owner = User.objects.get(username="rana")
version = QuestionSet.objects.create(owner=owner, name=NAME).draft()
Question.objects.bulk_create(
    Question(version=version, external_id=f"q{n}", position=n, text=f"{NAME}: river {n}?")
    for n in range(QUESTIONS))
model, _ = LanguageModel.objects.get_or_create(owner=owner, name="small", defaults={"spec": SPEC})
options = AskOptions(models=(str(model.public_id),), concurrency=AT_ONCE)
result = str(queue_run(version, owner.pk, options, "ask").public_id)
"""
REPLIES = """
from evaluation.models import LLMResponse
result = LLMResponse.objects.filter(status="text", question__text__startswith="asked ").count()
"""


class Asking(Load):
    """Runs that ask a model on this machine, which counts each request that it answers."""

    name = "asking"
    n_questions = 40

    def __init__(self, site: ChaosSite, seed: int) -> None:
        super().__init__(site, seed)
        self.chat = FakeChat()
        plain = self.chat.reply

        def reply_slowly(body: dict) -> object:
            answer = plain(body)
            answer.delay = 0.1
            return answer

        self.chat.reply = reply_slowly
        self.runs: list[str] = []
        self.faults = 0

    def work(self) -> None:
        while not self.stopped.is_set():
            names = {"NAME": f"asked {len(self.runs)}", "QUESTIONS": self.n_questions}
            run = self.make(ASKING, SPEC=self.chat.spec, AT_ONCE=AT_ONCE, **names)
            self.runs.append(run)
            while not self.stopped.wait(PAUSE):
                if self.send("GET", f"runs/{run}/").json()["state"] in ("done", "failed"):
                    break

    def find_violations(self) -> Sequence[Check]:
        rows = {row[0]: row for row in self.site.read(RUNS) if row[0] in self.runs}
        open_runs = [key for key, row in rows.items() if row[2] not in ("done", "failed")]
        silent = [key for key, row in rows.items() if row[2] == "failed" and not row[3]]
        n_done = sum(row[2] == "done" for row in rows.values())
        replies = self.site.read(REPLIES)
        asked = Counter(question_of(body) for body in self.chat.bodies)
        repeated = sum(asked.values()) - len(asked)
        # A kill loses what is under way; a reply that is stored is never asked for again.
        most = AT_ONCE * 2 * max(1, self.faults)
        return [
            Check(self.name, "runs that ended as done", f"{n_done} of {len(rows)}", n_done > 0),
            Check(self.name, "runs that did not end", str(len(open_runs)), not open_runs),
            Check(self.name, "failed runs without a reason", str(len(silent)), not silent),
            Check(
                self.name,
                "replies stored",
                str(replies),
                replies >= n_done * self.n_questions,
            ),
            Check(
                self.name,
                f"requests repeated (at most {most}: under way at a fault)",
                str(repeated),
                repeated <= most,
            ),
        ]


PAY = """
from decimal import Decimal
from django.contrib.auth.models import User
from annotations.ledger import bonuses
from tests.annotations import world
from tests.annotations.panels.prolific_fake import STUDY
owner = User.objects.get(username="rana")
version = world.version(owner, NAME)
keys = []
for n in range(WORKERS):
    one = world.submission(version, f"p-{n}")
    one.panel_sessions.create(session_id=f"s-{n}", study_id=STUDY)
    keys.append(one.pk)
bonuses.plan_bonuses(version, dict.fromkeys(keys, Decimal(AMOUNT)), owner)
bonuses.confirm_payments(version, owner)
result = version.pk
"""
PRESS = """
import sys
from decimal import Decimal
import django
django.setup()
from django.contrib.auth.models import User
from annotations.ledger import errors
from annotations.ledger.panel_payments import send_bonuses
from annotations.models import QuestionSetVersion
from annotations.panels.prolific import Prolific
from tests.annotations.panels.prolific_fake import STUDY
version, address, total = sys.argv[1:]
version = QuestionSetVersion.objects.get(pk=int(version))
owner = User.objects.get(username="rana")
try:
    send_bonuses(version, owner, Prolific(address), STUDY, Decimal(total))
except errors.NothingToSendError:
    pass
"""
PAYMENTS = """
from collections import Counter
from annotations.ledger import bonuses
result = [Counter(one.state for one in bonuses.load_payments(pk)) for pk in KEYS]
"""


class Paying(Load):
    """A requester who pays bonuses by a panel's interface, and whose process is killed often."""

    name = "paying"

    def __init__(self, site: ChaosSite, seed: int) -> None:
        super().__init__(site, seed)
        self.panel = prolific_fake.serving()
        self.fake = self.panel.__enter__()
        self.fake.add(PAYING)
        self.rounds: list[int] = []
        self.kills = 0

    def work(self) -> None:
        while not self.stopped.is_set():
            # Another amount in each round, so that the panel's list names person and round.
            amount = Decimal("0.25") + Decimal("0.01") * len(self.rounds)
            names = {"NAME": f"paid {amount}", "AMOUNT": str(amount), "WORKERS": PAYING}
            version = self.make(PAY, **names)
            self.rounds.append(version)
            for _ in range(3):
                self._press(version, amount * PAYING)

    def _press(self, version: int, total: Decimal) -> None:
        """Start a process that pays; end half of them somewhere on the way."""
        token = {"PROLIFIC_API_TOKEN": prolific_fake.TOKEN}
        process = subprocess.Popen(
            [sys.executable, "-c", PRESS, str(version), self.fake.address, str(total)],
            cwd=ROOT,
            env=self.site.environment | token,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        is_killed = self.random.random() < 0.5
        try:
            process.wait(self.random.uniform(1, 6) if is_killed else 60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            self.kills += 1

    def find_violations(self) -> Sequence[Check]:
        paid = self.fake.paid
        self.panel.__exit__(None, None, None)
        states = sum(
            (Counter(one) for one in self.site.read(PAYMENTS, KEYS=self.rounds)), Counter()
        )
        doubled = [line for line, times in paid.items() if times > 1]
        settled = states["settled"]
        return [
            Check(self.name, "rounds of bonuses", str(len(self.rounds)), bool(self.rounds)),
            Check(self.name, "payments made by the panel", str(sum(paid.values())), bool(paid)),
            Check(self.name, "payments made twice", str(len(doubled)), not doubled),
            Check(
                self.name,
                "payments recorded as paid (at most those made)",
                f"{settled} of {sum(paid.values())}; {dict(states)}",
                settled <= sum(paid.values()),
            ),
            Check(self.name, "processes killed while they paid", str(self.kills), True),
        ]


LOADS = (Collecting, Importing, Grading, Asking, Paying)
