"""A server on this machine that behaves as Prolific's documentation says its interface does.

Pages of at most 20 submissions, 429 with Retry-After, a pay request that pays again at every
repetition. `faults` are what it does instead, by method and first part of the path.
"""

import json
import os
import re
import signal
import threading
from collections import Counter
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

TOKEN = "tok-0123456789abcdef"
STUDY = "5f1e" + "0" * 20
LARGEST_PAGE = 20


class Fake:
    def __init__(self):
        self.submissions = []
        self.requests = []  # (method, path, body)
        self.bulks = {}
        self.paid = Counter()  # (id, amount): how often
        self.transitions = {}
        self.screened = Counter()  # (id of a submission, amount): how often
        self.pays_each = None  # what it says to pay for each who is screened out, if not as asked
        self.approved = []
        self.groups = {}
        self.faults = []  # [(method, pattern, what)], each used once
        self.links = True
        self.count = None
        self.victim_file = None  # holds the id of the process that a fault "kill" ends
        self.lock, self.over = threading.Lock(), threading.Event()

    def add(self, n, status="AWAITING REVIEW"):
        for _ in range(n):
            i = len(self.submissions)
            self.submissions.append(
                {
                    "id": f"s-{i}",
                    "participant_id": f"p-{i}",
                    "study_id": STUDY,
                    "status": status,
                    "started_at": "2026-11-20T10:00:00Z",
                    "completed_at": "2026-11-20T10:10:00Z",
                    "time_taken": 600.0,
                    "study_code": "DONE1",
                    "ip": "203.0.113.7",
                }
            )

    def fault(self, method, path, what):
        self.faults.append((method, path, what))

    def asked(self, method, path=""):
        return [one for one in self.requests if one[0] == method and path in one[1]]

    def answer(self, method, path, query, body):
        """Return status and what is said."""
        if method == "GET" and path == "submissions/":
            return 200, self.page(query)
        if method == "GET" and (found := re.fullmatch(r"studies/([^/]+)/", path)):
            return 200, {"id": found[1], "name": "Rivers", "status": "ACTIVE", "reward": 150,
                         "presentment_currency_code": "GBP"}  # fmt: skip
        if path == "submissions/bulk-approve/":
            self.approved += body["submission_ids"]
            return 200, {"message": "in progress"}
        if found := re.fullmatch(r"submissions/([^/]+)/transition/", path):
            if body["action"] == "REJECT" and len(body["message"]) < 100:
                return 400, {"error": {"status": 400, "detail": "the message is too short"}}
            self.transitions[found[1]] = body
            return 200, {"id": found[1], "status": "REJECTED"}
        if path == "submissions/bonus-payments/":
            return self.set_up(body)
        if found := re.fullmatch(r"bulk-bonus-payments/([^/]+)/pay/", path):
            for line in self.bulks[found[1]]:
                self.paid[line] += 1
            return 202, "is being processed asynchronously"
        if re.fullmatch(r"studies/[^/]+/screen-out-submissions/", path):
            return self.screen_out(body)
        if path == "participant-groups/":
            key = f"group-{len(self.groups)}"
            self.groups[key] = body
            return 201, {"id": key, "name": body["name"]}
        return 404, {"error": {"status": 404, "title": "Not found"}}

    def page(self, query):
        page = int(query["page"][0])
        size = min(int(query["page_size"][0]), LARGEST_PAGE)
        rows = self.submissions[(page - 1) * size : page * size]
        following = f"/api/v1/submissions/?page={page + 1}" if page * size < self.total else None
        told = {"results": rows, "meta": {"count": self.total}}
        return told | ({"_links": {"next": {"href": following}}} if self.links else {})

    @property
    def total(self):
        return len(self.submissions) if self.count is None else self.count

    def screen_out(self, body):
        known = {one["id"]: one for one in self.submissions}
        strange = [key for key in body["submission_ids"] if key not in known]
        if strange or body["bonus_per_submission"] < 0.10:
            return 400, {"error": {"detail": f"cannot be screened out: {strange}"}}
        each = body["bonus_per_submission"]
        for key in body["submission_ids"]:
            known[key]["status"] = "SCREENED OUT"
            self.screened[f"{key},{each:.2f}"] += 1
        told = {"amount": self.pays_each or each, "currency": "GBP"}
        return 200, {"message": "made successfully", "payment_per_participant": told}

    def set_up(self, body):
        lines = body["csv_bonuses"].split()
        known = {one["participant_id"] for one in self.submissions}
        strange = [line for line in lines if line.split(",")[0] not in known]
        if strange:
            return 400, {"error": {"detail": f"did not take part: {strange}"}}
        key = f"bulk-{len(self.bulks)}"
        self.bulks[key] = lines
        amount = round(100 * sum(float(line.split(",")[1]) for line in lines))
        return 201, {"id": key, "amount": amount, "fees": amount / 3, "study": body["study_id"]}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def respond(self):
        fake = self.server.fake
        parts = urlsplit(self.path)
        path = parts.path.removeprefix("/api/v1/")
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length)) if length else None
        with fake.lock:
            fake.requests.append((self.command, path, body))
            fault = next((f for f in fake.faults if f[0] == self.command and f[1] in path), None)
            if fault:
                fake.faults.remove(fault)
        if self.headers.get("Authorization") != f"Token {TOKEN}":
            return self.send(401, {"error": {"title": "Unauthorized"}})
        what = fault[2] if fault else None
        if isinstance(what, tuple):
            return self.send(*what)
        if what == "kill before":
            return self.kill()
        with fake.lock:
            status, told = fake.answer(self.command, path, parse_qs(parts.query), body)
        if what == "kill after":
            return self.kill()
        if what == "silence":  # it did it, and the answer does not come in time
            fake.over.wait(60)
        if what == "cut":
            self.close_connection = True
            return None
        return self.send(status, told)

    do_GET = do_POST = respond  # noqa: N815

    def kill(self):
        self.close_connection = True
        os.kill(int(self.server.fake.victim_file.read_text()), signal.SIGKILL)

    def send(self, status, told, headers=None):
        content = told if isinstance(told, bytes) else json.dumps(told).encode()
        try:
            self.send_response(status)
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)
        except OSError:
            self.close_connection = True  # nobody listens any more


@contextmanager
def serving():
    """Yield a Fake whose `address` answers."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.fake = fake = Fake()
    fake.address = f"http://127.0.0.1:{server.server_port}/api/v1/"
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield fake
    finally:
        fake.over.set()
        server.shutdown()
        server.server_close()
