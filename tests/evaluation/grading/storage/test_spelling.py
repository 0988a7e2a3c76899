"""With spelling corrected, a run still knows the grades of what was written."""

import pytest

from annotations.models import Response, Worker
from evaluation.consensus.parameters import AqerParameters
from evaluation.models import Run
from evaluation.runs.background import runs
from evaluation.runs.background.work import work_one_turn
from tests.annotations import world

pytest.importorskip("spellchecker")

# As ada and ben write them, and as cy does; a word that stands in three answers is taken for a
# term of the subject, so none does.
SENTENCES = {
    "receive packages": "recieve pakcages",
    "yellow bananas": "yelow bananas",
    "quiet morning": "quiett mornning",
    "green mountain": "green mountian",
    "several bridges": "severel brigdes",
}


@pytest.fixture
def version(db, monkeypatch):
    monkeypatch.setattr("evaluation.runs.background.leases.wake_process", lambda: True)
    monkeypatch.setattr("evaluation.runs.background.work.wake_process", lambda: True)
    draft = world.version(world.user("rana"), n_questions=5)
    submissions = {name: world.submission(draft, name) for name in ("ada", "ben", "cy", "dee")}
    for number, (right, wrong) in enumerate(SENTENCES.items(), start=1):
        said = {"ada": right, "ben": right, "cy": wrong, "dee": f"nobody knows {number}"}
        for worker, text in said.items():
            world.response(submissions[worker], f"r{number}", text)
    Response.objects.update(state="submitted")
    return draft


def graded(version, **parameters):
    parameters = AqerParameters(embedder="tfidf-word", bootstrap=0, **parameters)
    run = runs.queue_run(version, version.question_set.owner_id, parameters)
    assert work_one_turn()
    run.refresh_from_db()
    assert run.state == Run.State.DONE, run.error
    return run, dict(run.worker_grades.values_list("worker__external_id", "grade"))


def test_the_plain_run_beside_it_is_of_the_texts_as_written(version):
    _, written = graded(version)
    run, mended = graded(version, spelling="en")
    assert run.summary["remedies"]["spelling"]["words"] == 8
    # Mended, cy's answers are those of ada; as written they share two of ten words with them.
    assert mended["cy"] == pytest.approx(mended["ada"])
    assert written["cy"] < 0.5 < written["ada"]
    movers = run.summary["remedies"]["compared_with_plain"]["movers"]
    plain = {mover["worker"]: mover["plain_grade"] for mover in movers}
    cy = str(Worker.objects.get(external_id="cy").public_id)
    assert plain[cy] == pytest.approx(written["cy"], abs=1e-9)
