"""Writing problems without an answer, and checking them blindly: the rules, for every door.

    project = start(version)                        # the requester
    problem = take(project, author)                 # a writer
    submit(problem, "How many ...?", Category.MISSING)
    vote(project, validator, problem.public_id, ...)  # three validators
    accepted(project)                               # UMWP's records

A writer sees their own problems and the notes on them; a validator the text of a problem and their
own votes, never its author, the question it was made of, or what others say of it.
"""

from annotations.writing.checking import Task, Tasks, task, tasks, vote
from annotations.writing.export import accepted
from annotations.writing.members import (
    invite,
    invite_team,
    member_of,
    project_of,
    sees_votes,
    why_not,
)
from annotations.writing.overview import Overview, Person, last_note, overview, words_about
from annotations.writing.projects import drop, originals, send_back, set_open, start
from annotations.writing.refused import WORDS, WritingError
from annotations.writing.texts import WHAT_CATEGORIES_MEAN
from annotations.writing.writing import (
    OWN,
    Slot,
    next_original,
    save,
    slots,
    submit,
    take,
    withdraw,
)

__all__ = [
    "OWN",
    "WHAT_CATEGORIES_MEAN",
    "WORDS",
    "Overview",
    "Person",
    "Slot",
    "Task",
    "Tasks",
    "WritingError",
    "accepted",
    "drop",
    "invite",
    "invite_team",
    "last_note",
    "member_of",
    "next_original",
    "originals",
    "overview",
    "project_of",
    "save",
    "sees_votes",
    "send_back",
    "set_open",
    "slots",
    "start",
    "submit",
    "take",
    "task",
    "tasks",
    "vote",
    "why_not",
    "withdraw",
    "words_about",
]
