"""What migrations do to rows."""

import pytest

from tests.evaluation.background.scratch import Scratch

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
