"""Writing of unanswerable word problems by users, and blind checking by validators.

    project = start(version)                        # the requester
    problem = take(project, author)                 # a writer
    submit(problem, "How many ...?", Category.MISSING)
    vote(project, validator, problem.public_id, ...)  # three validators
    export_accepted(project)                        # UMWP's records

Validators also check candidate questions with several right answers that a model generated
(`candidates`).

A writer sees only their own problems and the notes on them. A validator sees the text of a problem
and their own votes, but not its author, its original question or other votes.
"""

from annotations.writing.candidates import (
    CandidateTask,
    CandidateTasks,
    CandidateVerdict,
    NewCandidate,
    add_candidates,
    add_to_new_set,
    build_provenance,
    describe_reason,
    export_candidates,
    find_candidate_task,
    format_answers,
    list_candidate_tasks,
    select_addable,
    sign_preview,
    summarize_candidates,
    vote_on_candidate,
)
from annotations.writing.checking import Task, Tasks, find_task, list_tasks, vote
from annotations.writing.errors import MESSAGES, WritingError
from annotations.writing.export import export_accepted
from annotations.writing.members import (
    can_see_votes,
    find_invitation_error,
    find_membership,
    invite,
    invite_team,
    list_memberships,
)
from annotations.writing.projects import drop, select_originals, send_back, set_open, start
from annotations.writing.status import (
    Overview,
    Person,
    find_last_note,
    list_anonymous_votes,
    summarize_project,
)
from annotations.writing.texts import CATEGORY_DESCRIPTIONS
from annotations.writing.writing import (
    EDITABLE_STATES,
    ProblemCount,
    count_problems,
    find_next_original,
    save,
    submit,
    take,
    withdraw,
)

__all__ = [
    "CATEGORY_DESCRIPTIONS",
    "EDITABLE_STATES",
    "MESSAGES",
    "CandidateTask",
    "CandidateTasks",
    "CandidateVerdict",
    "NewCandidate",
    "Overview",
    "Person",
    "ProblemCount",
    "Task",
    "Tasks",
    "WritingError",
    "add_candidates",
    "add_to_new_set",
    "build_provenance",
    "can_see_votes",
    "count_problems",
    "describe_reason",
    "drop",
    "export_accepted",
    "export_candidates",
    "find_candidate_task",
    "find_invitation_error",
    "find_last_note",
    "find_membership",
    "find_next_original",
    "find_task",
    "format_answers",
    "invite",
    "invite_team",
    "list_anonymous_votes",
    "list_candidate_tasks",
    "list_memberships",
    "list_tasks",
    "save",
    "select_addable",
    "select_originals",
    "send_back",
    "set_open",
    "sign_preview",
    "start",
    "submit",
    "summarize_candidates",
    "summarize_project",
    "take",
    "vote",
    "vote_on_candidate",
    "withdraw",
]
