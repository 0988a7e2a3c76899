"""What migrations do to rows."""

import pytest

from tests.evaluation.runs.background.scratch import Scratch

TWO_RUNS = """
from django.contrib.auth.models import User
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
state = MigrationExecutor(connection).loader.project_state(("evaluation", "0029_cut_off_replies"))
get = state.apps.get_model
owner = User.objects.create(username="rana")
made = []
for name in ("rivers", "lakes"):
    of = get("annotations", "QuestionSet").objects.create(owner_id=owner.pk, name=name)
    version = get("annotations", "QuestionSetVersion").objects.create(question_set=of, number=1)
    run = get("evaluation", "Run").objects.create(owner_id=owner.pk, version=version)
    worker = get("annotations", "Worker").objects.create(owner_id=owner.pk, external_id=name)
    get("evaluation", "WorkerVerdict").objects.create(
        run=run, worker=worker, kind="exclude", category="copied", decided_by_id=owner.pk)
result = None
"""
SETS_OF_VERDICTS = """
from evaluation.models import WorkerVerdict
found = WorkerVerdict.objects.values_list("worker__external_id", "question_set__name")
result = sorted(map(list, found))
"""


@pytest.mark.long
@pytest.mark.parametrize("database", ["sqlite_home", "postgres_database"])
def test_decisions_about_workers_get_the_question_set_of_their_run(database, request, tmp_path):
    made = request.getfixturevalue(database)
    on_disk = database == "sqlite_home"
    site = Scratch(made if on_disk else tmp_path / "home", None if on_disk else made, None)
    try:
        site.manage("migrate", "evaluation", "0029")
        site.python(TWO_RUNS)
        site.manage("migrate")
        assert site.python(SETS_OF_VERDICTS) == [["lakes", "lakes"], ["rivers", "rivers"]]
    finally:
        site.close()


TWO_LEDGERS = """
from django.contrib.auth.models import User
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
state = MigrationExecutor(connection).loader.project_state(("evaluation", "0030_verdicts_of_sets"))
get = state.apps.get_model
owner = User.objects.create(username="rana")
of = get("annotations", "QuestionSet").objects.create(owner_id=owner.pk, name="rivers")
version = get("annotations", "QuestionSetVersion").objects.create(question_set=of, number=1)
run = get("evaluation", "Run").objects.create(owner_id=owner.pk, version=version)
EXCLUDE = {"kind": "exclude", "category": "low_effort", "reason": "One word each"}
ROWS = {
    "accepted": ({"kind": "accept"}, None),
    "excluded": (EXCLUDE, None),
    "refused": ({**EXCLUDE, "rejects": True}, None),
    "again": ({"kind": "look"}, None),
    "approved": (None, {"kind": "approve"}),
    "rejected": (None, {"kind": "reject", "category": "FAILED_CHECK", "reason": "Read it."}),
    "opened": (None, {"kind": "open"}),
    "both": ({**EXCLUDE, "rejects": True}, {"kind": "approve"}),
    "same": ({"kind": "accept"}, {"kind": "approve"}),
}
for name, (verdict, decision) in ROWS.items():
    worker = get("annotations", "Worker").objects.create(owner_id=owner.pk, external_id=name)
    submission = get("annotations", "Submission").objects.create(version=version, worker=worker)
    if verdict:
        get("evaluation", "WorkerVerdict").objects.create(
            question_set=of, run=run, worker=worker, decided_by_id=owner.pk, **verdict)
    if decision:
        get("annotations", "Decision").objects.create(
            submission=submission, decided_by_id=owner.pk, **decision)
result = None
"""
JOINED = """
from annotations.models import Decision, Submission
from evaluation.models import WorkerVerdict
result = {}
for one in Submission.objects.select_related("worker"):
    verdict = WorkerVerdict.objects.filter(worker=one.worker).order_by("pk").last()
    decision = Decision.objects.filter(submission=one).order_by("pk").last()
    result[one.worker.external_id] = [
        verdict and [verdict.kind, verdict.category, verdict.reason, verdict.rejects],
        decision and [decision.kind, decision.category],
        decision.reason[:35] if decision else "",
        bool(verdict and decision and abs(verdict.created_at - decision.created_at).seconds < 5),
        WorkerVerdict.objects.filter(worker=one.worker).count(),
        one.decisions.count(),
    ]
"""
APPROVE, LOW = ["approve", ""], ["low_effort", "One word each"]


@pytest.mark.long
@pytest.mark.parametrize("database", ["sqlite_home", "postgres_database"])
def test_verdicts_and_decisions_about_pay_become_one_decision(database, request, tmp_path):
    made = request.getfixturevalue(database)
    on_disk = database == "sqlite_home"
    site = Scratch(made if on_disk else tmp_path / "home", None if on_disk else made, None)
    try:
        site.manage("migrate", "evaluation", "0030")
        site.python(TWO_LEDGERS)
        site.manage("migrate")
        found = site.python(JOINED)
        told = "Your answers show clear low effort. One word each."[:35]
        assert found == {
            "accepted": [["accept", "", "", False], APPROVE, "", True, 1, 1],
            "excluded": [["exclude", *LOW, False], APPROVE, "", True, 1, 1],
            "refused": [["exclude", *LOW, True], ["reject", "LOW_EFFORT"], told, True, 1, 1],
            "again": [["look", "", "", False], None, "", False, 1, 0],
            "approved": [["accept", "", "", False], APPROVE, "", True, 1, 1],
            "rejected": [
                ["exclude", "attention", "Read it.", True],
                *(["reject", "FAILED_CHECK"], "Read it.", True, 1, 1),
            ],
            "opened": [None, ["open", ""], "", False, 0, 1],
            "both": [["exclude", *LOW, False], APPROVE, "", True, 2, 1],
            "same": [["accept", "", "", False], APPROVE, "", True, 1, 1],
        }
        # A second upgrade finds nothing to join.
        site.manage("migrate", "evaluation", "0030")
        site.manage("migrate")
        assert site.python(JOINED) == found
    finally:
        site.close()
