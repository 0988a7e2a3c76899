"""The sentences of runs under way and of what is deleted, erased or undone, each once."""

from datetime import UTC, datetime, timedelta

import pytest

from evaluation.deletion.storage.record import SENTENCES, Note
from evaluation.models import Run
from evaluation.runs.background.progress import compute_progress

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
NOTES = [
    (
        "run_of_record",
        {},
        "It is the official run of its question set: afterwards the newest run that is done "
        "counts.",
    ),
    (
        "decisions_stay",
        {"n": 2, "out": 1},
        "2 decisions about workers stay with the question set. Later runs still leave out "
        "1 worker because of them. Any other run of the set shows these decisions and can take "
        "them back.",
    ),
    (
        "sample_judged",
        {},
        "What experts judged in its sample stays with the answers; that these were drawn at "
        "random is no longer recorded.",
    ),
    (
        "replies_stay",
        {},
        "The replies that it fetched stay with the question set.",
    ),
    (
        "payments_kept",
        {"n": 1000},
        "1,000 payments to its workers are in the ledger and stay there.",
    ),
    (
        "decisions_kept",
        {"n": 2},
        "2 decisions about its workers' submissions stay stored with reasons.",
    ),
    (
        "writing_kept",
        {"n": 2},
        "2 entries name who wrote and checked problems for it. They stay stored.",
    ),
    (
        "workers_go_with_set",
        {},
        "Workers without other answers and without notes are deleted with it.",
    ),
    (
        "models_stay",
        {},
        "The models stay registered; their answers to this set's questions go.",
    ),
    (
        "downloads_stay",
        {},
        "Files that were downloaded are not deleted.",
    ),
    (
        "other_owners",
        {"n": 1, "sets": "1 question set"},
        "It answered in 1 question set that its owner may not change: the answers there belong to "
        "these. Archive it instead.",
    ),
    (
        "answers_in_sets",
        {"n": 2, "sets": "2 question sets"},
        "Its answers are in 2 question sets and will be deleted there.",
    ),
    (
        "runs_scored",
        {"n": 1, "lose": "loses"},
        "1 run scored it and loses its row. All others keep their grades. The results will be "
        "marked “not reproducible”, with the number of withdrawn answers. Grade again afterwards.",
    ),
    (
        "files_name_it",
        {},
        "Pictures, tables and exports that name it stay as they were made.",
    ),
    (
        "model_in_use",
        {},
        "A run works with it or its answers: it goes once that run has ended.",
    ),
    (
        "answers_in_use",
        {},
        "A run works on these answers: they are erased once that run has ended.",
    ),
    (
        "runs_made",
        {"n": 3, "runs_were": "runs were"},
        "3 finished runs were made of these answers. Grades and other numbers stay, the "
        "texts are deleted. The runs will be marked “not reproducible”, with the number of "
        "withdrawn answers.",
    ),
    (
        "copies_go",
        {},
        "Copies are deleted too: texts quoted in results, alarms, prompts to models and lists "
        "for experts, and the vectors of texts that no other worker wrote.",
    ),
    (
        "appeals_go",
        {"n": 1},
        "What they wrote against 1 rejection goes at once, with what they were answered.",
    ),
    (
        "reasons_kept",
        {"kept": "2 decisions, 1 payments"},
        "These stay stored, with their reasons: 2 decisions, 1 payments. Read them: they may quote "
        "an answer.",
    ),
    (
        "id_stays",
        {"id": "zoe"},
        "The id zoe stays, so that the person is not invited again. Rows of it in files are "
        "refused from now on.",
    ),
    (
        "uploads_go",
        {},
        "Files uploaded to these question sets in the last day and not imported yet are deleted "
        "too, because they may contain the answers. Files that were downloaded are not deleted.",
    ),
    (
        "import_in_use",
        {},
        "A run works on these answers: it is undone once that run has ended.",
    ),
    (
        "import_runs",
        {"n": 1, "runs_were": "run was", "named": "Harder"},
        "1 finished run was made of these answers (Harder). The grades stay and will be "
        "marked “not reproducible”, with the number of withdrawn answers. Grade again afterwards.",
    ),
    (
        "repeated_later",
        {"files": "second.csv (1 rows)"},
        "Later files repeated answers that were there already: second.csv (1 rows). Answers that "
        "came with this import go all the same; import those files again afterwards to have them "
        "back.",
    ),
    (
        "questions_stay",
        {"n": 2},
        "2 of the questions that it made stay, because runs, models' answers or other answers "
        "use them. To delete the questions too, delete those runs first.",
    ),
    (
        "workers_stay",
        {"n": 1},
        "1 workers stay in the list without these answers, because decisions about them or "
        "payments to them stay stored.",
    ),
    (
        "workers_go",
        {},
        "Workers without other answers and without a run are deleted too.",
    ),
    (
        "asked_anew",
        {"n": 1},
        "1 of its answers were asked for anew since, and stay.",
    ),
    (
        "models_in_use",
        {"n": 2},
        "2 of the models that it made stay registered, because they are in runs, have other "
        "answers, or have a description. Delete them on their pages.",
    ),
    (
        "version_stays",
        {"number": 1},
        "Version 1, which it published, stays published.",
    ),
    ("facts_return", {"n": 1200}, "Earlier values that come back: 1,200."),
    ("facts_changed", {"n": 3}, "Values that were changed since, and stay: 3."),
    (
        "flags_return",
        {"n": 1},
        "1 answer that this file flagged as rejected will count again.",
    ),
    ("answers_stay", {}, "The answers themselves stay."),
    (
        "published",
        {"number": 1, "noun": "questions"},
        "Version 1, into which it came, is published and keeps its questions: what people are "
        "asked does not change under their answers. Open the next version in the editor instead "
        "and delete the questions there.",
    ),
    (
        "none_can_go",
        {"noun": "questions", "why": ""},
        "None of its questions can be taken out.",
    ),
    (
        "draft_in_use",
        {},
        "A run works on this version: it is undone once that run has ended.",
    ),
    (
        "draft_stays",
        {},
        "The draft itself stays, with everything else in it.",
    ),
    (
        "changed",
        {"n": 1, "noun": "questions"},
        "1 of its questions were changed since, and stay: delete them in the editor.",
    ),
    (
        "passages_needed",
        {"n": 1},
        "1 of its passages stay, because questions are about them: undo the import of those "
        "questions first, or delete them in the editor.",
    ),
    (
        "questions_answered",
        {"n": 1},
        "1 of its questions stay, because answers of workers or models use them: first undo the "
        "imports of those.",
    ),
    (
        "deleted_before",
        {"n": 2, "noun": "questions"},
        "2 of its questions were deleted before.",
    ),
    (
        "texts_stay",
        {"n": 2, "noun": "questions"},
        "2 of its rows gave a text or a translation to questions that were there before: these "
        "texts stay. Change them in the editor.",
    ),
]


@pytest.mark.parametrize(("code", "values", "sentence"), NOTES)
def test_notes_on_removals(code, values, sentence):
    assert str(Note(code, **values)) == sentence


def test_each_note_on_removals_has_a_sentence_here():
    assert [code for code, *_ in NOTES] == list(SENTENCES)


@pytest.fixture(autouse=True)
def _somebody_listens(monkeypatch):
    monkeypatch.setattr("evaluation.runs.background.progress.is_any_process_running", lambda: True)


def running(done, total, seconds=None, stage="embedding"):
    """A run that has been in its stage for some seconds."""
    began = None if seconds is None else NOW - timedelta(seconds=seconds)
    return Run(state="running", stage=stage, done=done, total=total, stage_started_at=began)


@pytest.mark.parametrize(
    ("run", "line"),
    [
        (Run(state="queued"), "Queued. It starts when a background process is free."),
        (Run(state="done", stage="embedding", done=5, total=5), ""),
        (Run(state="paused"), "It is paused."),
        (Run(state="paused", done=3, total=1200), "It is paused, after 3 of 1,200."),
        (running(0, None, 5), "Loading the answers."),
        (running(0, 5, 5, stage=""), "Loading the answers."),
        (running(0, 5, 5), "Embedding: 0 of 5"),  # no step yet, so no rate
        (running(2, 5), "Embedding: 2 of 5"),  # nor without a start
        (running(2, 5, 0), "Embedding: 2 of 5"),  # nor in no time
        (running(5, 5, 5), "Embedding: 5 of 5"),  # nothing is left
        (running(2, 4, 2), "Embedding: 2 of 4, 1 a second, 2 s left"),
        (running(1, 4, 0.5), "Embedding: 1 of 4, 2 a second, 2 s left"),  # 1.5, rounded
        (running(1, 4, 2), "Embedding: 1 of 4, 30 a minute, 6 s left"),  # one in 2 s
    ],
)
def test_the_line_of_a_run(run, line):
    assert compute_progress(run, NOW).line == line
