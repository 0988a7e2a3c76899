"""Writing of unanswerable word problems by users, and blind checking by validators.

    project = start_project(version)                # the requester
    problem = take_question(project, author)        # a writer
    submit_problem(problem, "How many ...?", Category.MISSING)
    vote_on_problem(project, validator, problem.public_id, ...)  # three validators
    export_accepted_problems(project)               # UMWP's records

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
    build_provenance,
    create_set_of_candidates,
    describe_reason,
    export_candidates,
    find_candidate_task,
    format_answers,
    hash_preview,
    list_candidate_tasks,
    select_addable_candidates,
    summarize_candidates,
    vote_on_candidate,
)
from annotations.writing.checking import (
    ProblemTask,
    ProblemTasks,
    find_problem_task,
    list_problem_tasks,
    vote_on_problem,
)
from annotations.writing.errors import MESSAGES, WritingError
from annotations.writing.export import export_accepted_problems
from annotations.writing.members import (
    can_see_votes,
    find_invitation_error,
    find_membership,
    invite_team,
    invite_user,
    list_memberships,
)
from annotations.writing.projects import (
    discard_problem,
    return_problem,
    select_original_questions,
    set_project_open,
    start_project,
)
from annotations.writing.status import (
    MemberActivity,
    ProjectSummary,
    find_return_note,
    list_anonymous_votes,
    summarize_project,
)
from annotations.writing.texts import CATEGORY_DESCRIPTIONS
from annotations.writing.writing import (
    EDITABLE_STATES,
    ProblemCount,
    count_problems,
    find_next_original,
    save_problem,
    submit_problem,
    take_question,
    withdraw_problem,
)

__all__ = [
    "CATEGORY_DESCRIPTIONS",
    "EDITABLE_STATES",
    "MESSAGES",
    "CandidateTask",
    "CandidateTasks",
    "CandidateVerdict",
    "MemberActivity",
    "NewCandidate",
    "ProblemCount",
    "ProblemTask",
    "ProblemTasks",
    "ProjectSummary",
    "WritingError",
    "add_candidates",
    "build_provenance",
    "can_see_votes",
    "count_problems",
    "create_set_of_candidates",
    "describe_reason",
    "discard_problem",
    "export_accepted_problems",
    "export_candidates",
    "find_candidate_task",
    "find_invitation_error",
    "find_membership",
    "find_next_original",
    "find_problem_task",
    "find_return_note",
    "format_answers",
    "hash_preview",
    "invite_team",
    "invite_user",
    "list_anonymous_votes",
    "list_candidate_tasks",
    "list_memberships",
    "list_problem_tasks",
    "return_problem",
    "save_problem",
    "select_addable_candidates",
    "select_original_questions",
    "set_project_open",
    "start_project",
    "submit_problem",
    "summarize_candidates",
    "summarize_project",
    "take_question",
    "vote_on_candidate",
    "vote_on_problem",
    "withdraw_problem",
]
