"""Problem messages for files of decisions, payments or statuses of a question set's workers."""

from __future__ import annotations

from annotations.exchange.problem_messages.message import ProblemMessage

_ANOTHER_STUDY = (
    "It looks like the export of another study: check which question set it belongs to."
)

LEDGER = {
    "bonus_of_other_amount": ProblemMessage(
        "{reason}",
        "Cancel that round first, or take another name for the round if it is one more bonus.",
    ),
    "bonus_of_other_currency": ProblemMessage(
        "{reason}",
        "Take another name for the round, or change the currency of the collection.",
    ),
    "no_payment_in_file": ProblemMessage(
        "there is no payment in it",
        "Check that it was saved.",
    ),
    "participants_mostly_unknown": ProblemMessage(
        "{n:,} of {n_done:,} people marked as done did not take part here, {first} the first "
        "of them",
        _ANOTHER_STUDY,
    ),
    "participants_unknown": ProblemMessage(
        "no one in the file took part in this set",
        _ANOTHER_STUDY,
    ),
    "payment_id_unreadable": ProblemMessage(
        "{cell!r} is no id of a payment",
        "Take the table's.",
    ),
    "payment_state_unknown": ProblemMessage(
        "{state!r} is unknown",
        "Write paid or failed.",
    ),
    "payment_twice": ProblemMessage(
        "it is already recorded",
        "Report each result once.",
    ),
    "payment_unknown": ProblemMessage(
        "there is no payment {payment} here",
        "Take the table of --output, and check which question set it belongs to.",
    ),
    "session_of_other_study": ProblemMessage(
        "{worker} came here in another session than {session}",
        _ANOTHER_STUDY,
    ),
    "studies_differ": ProblemMessage(
        "it is {study}, and {first} in line {first_line}",
        "Take in the export of one study at a time.",
    ),
    "study_named_otherwise": ProblemMessage(
        "its name contains the study {study}, but people came here from {known}",
        _ANOTHER_STUDY,
    ),
    "study_unknown": ProblemMessage(
        "people came here from another study than {study}",
        _ANOTHER_STUDY,
    ),
    "submission_of_other_study": ProblemMessage(
        "{worker} was done with the submission {before} by the last file, and not with {now}",
        f"{_ANOTHER_STUDY} If the last file was the wrong one, take this one in by "
        "import_statuses --instead, or by REST with instead=true.",
    ),
    "worker_of_several_panels": ProblemMessage(
        "{worker} is an id of several panels ({panels})",
        "Add a column panel that names the right one.",
    ),
    "worker_took_no_part": ProblemMessage(
        "{worker} took no part in {version}",
        "Check the id, and whether the file belongs to this question set.",
    ),
    "worker_withdrew": ProblemMessage(
        "{worker} withdrew what they wrote: nothing is decided of them any more",
        "Remove the row.",
    ),
}
