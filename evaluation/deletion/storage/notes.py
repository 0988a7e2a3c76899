"""Messages shown before something is deleted, erased or undone, by code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from evaluation.core.messages.message import fill_template

SENTENCES: Final = {
    # Runs.
    "run_of_record": "It is the official run of its question set: afterwards the newest run that "
    "is done counts.",
    "decisions_stay": "Kept with the question set: {n:decision} about workers. Later runs still "
    "leave out {out:worker} because of them. Any other run of the set shows these decisions and "
    "can take them back.",
    "sample_judged": "What experts judged in its sample stays with the answers; that these were "
    "drawn at random is forgotten.",
    "replies_stay": "The replies that it fetched stay with the question set.",
    # Question sets.
    "payments_kept": "{n:,} payments to its workers are in the ledger, which keeps them.",
    "decisions_kept": "{n:,} decisions about its workers' submissions are kept with reasons.",
    "writing_kept": "{n:,} entries say who wrote and checked problems for it, and are kept.",
    "workers_go_with_set": "Workers who answered nowhere else, and about whom nobody wrote a note, "
    "go with it.",
    "models_stay": "The models stay registered; their answers to this set's questions go.",
    "downloads_stay": "Files that somebody downloaded are theirs: nothing here reaches them.",
    # Models.
    "other_owners": "It answered in {sets} that its owner may not change: the answers "
    "there belong to these. Archive it instead.",
    "answers_in_sets": "Its answers stand in {sets}, and go from there.",
    "runs_scored": "{n:run} scored it and {lose} its row. All others keep their grades, and the "
    "results say from then on: not reproducible, so many answers withdrawn. Grade again "
    "afterwards.",
    "files_name_it": "Pictures, tables and exports that name it stay as they were made.",
    "model_in_use": "A run works with it or its answers: it goes once that run has ended.",
    # Workers.
    "answers_in_use": "A run works on these answers: they are erased once that run has ended.",
    "runs_made": "{n} finished {runs_were} made of these answers. Grades and other numbers stay, "
    "the texts go, and the runs say from then on: not reproducible, so many answers withdrawn.",
    "copies_go": "Copies go as well: texts that results, alarms, prompts to models and lists for "
    "experts quote, and the vectors of texts that nobody else wrote.",
    "appeals_go": "What they wrote against {n:rejection} goes at once, with what they were "
    "answered.",
    "reasons_kept": "Kept, with their reasons: {kept}. Read them: they may quote an answer.",
    "id_stays": "The id {id} stays, so that the person is not invited again. Rows of it in files "
    "are refused from now on.",
    "uploads_go": "Files uploaded to these question sets in the last day and not imported yet go "
    "too: they may hold the answers. Files that somebody downloaded are theirs, and nothing here "
    "reaches them.",
    # Imports of answers.
    "import_in_use": "A run works on these answers: it is undone once that run has ended.",
    "import_runs": "{n} finished {runs_were} made of these answers ({named}). The grades stay as "
    "they are, and say from then on: not reproducible, so many answers withdrawn. Grade again "
    "afterwards.",
    "repeated_later": "Later files repeated answers that were there already: {files}. Answers that "
    "came with this import go all the same; import those files again afterwards to have them back.",
    "questions_stay": "{n} of the questions that it made stay, because runs, models' answers or "
    "other answers hang on them. Delete those runs first if the questions are to go too.",
    "workers_stay": "{n} workers stay in the list without these answers, because decisions about "
    "them or payments to them are kept.",
    "workers_go": "Workers who answered nothing else and stand in no run go as well.",
    "asked_anew": "{n:,} of its answers were asked for anew since, and stay.",
    "models_in_use": "{n:,} of the models that it made stay registered, because they stand in "
    "runs, answered otherwise too, or somebody described them. Delete them on their pages.",
    "version_stays": "Version {number}, which it published, stays published.",
    # Imports of questions and passages; `noun` is one of the two.
    "published": "Version {number}, into which it came, is published and keeps its {noun}: what "
    "people are asked does not change under their answers. Open the next version in the editor "
    "instead and delete the {noun} there.",
    "none_can_go": "None of its {noun} can be taken out.{why}",
    "draft_in_use": "A run works on this version: it is undone once that run has ended.",
    "draft_stays": "The draft itself stays, with everything else in it.",
    "changed": "{n:,} of its {noun} were changed since, and stay: delete them in the editor.",
    "passages_needed": "{n:,} of its passages stay, because questions are about them: undo the "
    "import of those questions first, or delete them in the editor.",
    "questions_answered": "{n:,} of its questions stay, because answers or answers of models hang "
    "on them: undo what brought those first.",
    "deleted_before": "{n:,} of its {noun} were deleted before.",
    "texts_stay": "{n:,} of its rows gave a text or a translation to {noun} that were there "
    "before: these texts stay. Change them in the editor.",
}


class Note(str):
    """Message as a str; `code` is a key of `SENTENCES`, `values` fill its placeholders."""

    __slots__ = ("code", "values")

    code: str
    values: Mapping[str, Any]

    def __new__(cls, code: str, **values: Any) -> Note:
        """Create the message of a code, filled with its values."""
        note = super().__new__(cls, fill_template(SENTENCES[code], values))
        note.code, note.values = code, values
        return note


def runs_were(n: int) -> str:
    """Return the verb form ("run was", "runs were") after a number of runs."""
    return "run was" if n == 1 else "runs were"
