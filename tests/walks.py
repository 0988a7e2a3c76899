"""Which modules of the project a click goes through: an upload, a click on Grade, the results.

`make walks` prints the walks, module by module in the order in which they are entered, and how
often each package imports which others. `tests/test_walks.py` holds the walks to a bound.

A hop is a module of the project in which a function is called between the click and its end (for
Grade: the run is done), counted once. Left out is what every request goes through whatever it asks
for (settings, middleware, access, the rules on models), and what computes or stores rather than
passes on: methods, back-ends, models, texts.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("annotations", "evaluation", "crowdgrade")
# What computes and what is stored is entered from anywhere, and is nobody's layer.
LEAVES = (
    *(".methods", ".models", ".apps"),
    *("evaluation.core.backends", "evaluation.core.stats", "evaluation.core.text"),
)
# Four people on two questions: enough for a grade, an alarm and a page.
ANSWERS = "worker,question,answer\n" + "".join(
    f"{who},{question},{text} {who}\n"
    for who, text in zip("abcd", ("in the hills", "in hills", "on a hill", "no idea"), strict=True)
    for question in ("q1", "q2")
)
DEEPER = ("evaluation.runs", "evaluation.core")
"""Packages that are layers of packages."""
CHOSEN = {"embedder": "tfidf-word"}
"""What needs no model; the rest of the form is sent as it is shown."""


class Walk:
    """The modules that were entered, each once, in their order."""

    def __init__(self) -> None:
        self.modules: list[str] = []
        self._seen: set[str] = set()

    def _called(self, frame, event, _argument) -> None:
        if event != "call" or frame.f_code.co_name.startswith("<"):
            return
        name = frame.f_globals.get("__name__", "")
        if name not in self._seen:
            self._seen.add(name)
            if name.partition(".")[0] in PACKAGES:
                self.modules.append(name)

    @contextmanager
    def recorded(self) -> Iterator[None]:
        """Note what is entered while this lasts, in other threads as well."""
        sys.setprofile(self._called)
        threading.setprofile(self._called)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    def hops(self, every_request: Walk | None = None) -> list[str]:
        """Return the modules that pass something on, without those of every request."""
        everywhere = set(every_request.modules) if every_request else set()
        return [
            name
            for name in self.modules
            if name not in everywhere and not any(leaf in name for leaf in LEAVES)
        ]


def walked(client, owner) -> dict[str, list[str]]:
    """Return the walks of somebody who is logged in with a test client of Django's, by name."""
    from django.urls import reverse

    _clicks(client, owner, "warm")  # the first time also imports, and fills caches
    every = Walk()
    with every.recorded():
        client.get(reverse("admin:tokens"))
    return {name: walk.hops(every) for name, walk in _clicks(client, owner, "rivers").items()}


def _clicks(client, owner, name: str) -> dict[str, Walk]:
    from django.core.files.uploadedfile import SimpleUploadedFile
    from django.urls import reverse

    from annotations.models import QuestionSet
    from evaluation.models import Run
    from evaluation.runs.background.work import work_one_turn

    question_set = QuestionSet.objects.create(owner=owner, name=name)
    key = question_set.public_id

    def click(method: str, address: str, **data):
        response = getattr(client, method)(address, data)
        wrong = getattr((response.context or {}).get("form"), "errors", "")
        assert response.status_code < 400, f"{address}: {response.status_code} {wrong}"
        return response

    upload, grade, page = Walk(), Walk(), Walk()
    with upload.recorded():
        sent = click(
            "post",
            reverse("admin:upload", args=[key, "answers"]),
            file=SimpleUploadedFile("answers.csv", ANSWERS.encode()),
            create_questions="on",
        )
        click("get", sent["Location"])
        token = sent["Location"].rstrip("/").rpartition("/")[2]
        click("post", reverse("admin:upload-confirm", args=[key, token]))
    form = click("get", reverse("admin:grade", args=[key])).context["form"]
    shown = {field.name: field.value() for field in form}
    shown = {name: one for name, one in shown.items() if not isinstance(one, bool | None)}
    with grade.recorded():
        click("post", reverse("admin:grade", args=[key]), **shown | CHOSEN)
        while work_one_turn():
            pass
    run = Run.objects.get(version__question_set=question_set)
    assert run.state == "done", run.error
    with page.recorded():
        click("get", reverse("admin:results-run", args=[run.public_id]))
    return {"an upload": upload, "a click on Grade": grade, "the page of the results": page}


def package_of(module: str) -> str:
    """Return the package of a module: the second level of the name, the third of `DEEPER`."""
    parts = module.split(".")
    return ".".join(parts[: 3 if ".".join(parts[:2]) in DEEPER else 2])


def count_imports_between_packages() -> Counter[tuple[str, str]]:
    """Return how many imports lead from each package into each other one."""
    import grimp

    graph = grimp.build_graph(*PACKAGES)
    found: Counter[tuple[str, str]] = Counter()
    for module in graph.modules:
        for imported in graph.find_modules_directly_imported_by(module):
            importing, read = package_of(module), package_of(imported)
            if importing != read:
                found[importing, read] += 1
    return found


def main() -> None:
    """Print the walks, over a database that is made for it, and the imports between rooms."""
    sys.path[:0] = [str(ROOT), str(ROOT / "platform")]
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crowdgrade.settings")
    with tempfile.TemporaryDirectory() as home:
        os.environ["CROWDGRADE_HOME"] = home
        import django

        django.setup()
        from django.contrib.auth.models import User
        from django.test import Client
        from django.test.runner import DiscoverRunner

        runner = DiscoverRunner(verbosity=0, interactive=False)
        runner.setup_test_environment()
        databases = runner.setup_databases()
        try:
            owner = User.objects.create_user("rana", is_staff=True)
            client = Client()
            client.force_login(owner)
            for name, modules in walked(client, owner).items():
                print(f"{name}: {len(modules)} modules")
                for module in modules:
                    print(f"  {module}")
        finally:
            runner.teardown_databases(databases)
    print("imports between rooms")
    for (importer, imported), count in sorted(count_imports_between_packages().items()):
        print(f"  {importer} -> {imported} {count}")


if __name__ == "__main__":
    main()
