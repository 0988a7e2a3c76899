"""Messages of all problems with files, by problem code.

`PROBLEM_MESSAGES` has the reason, the remedy and the remedy on the command line of each code; a
`Problem` fills them with its values. Each module has the messages of one kind of file.
"""

from __future__ import annotations

from annotations.exchange.problem_messages.answers import ANSWERS
from annotations.exchange.problem_messages.exports import EXPORTS
from annotations.exchange.problem_messages.files import FILES
from annotations.exchange.problem_messages.grades import GRADES
from annotations.exchange.problem_messages.importing import IMPORTING
from annotations.exchange.problem_messages.json import JSON
from annotations.exchange.problem_messages.ledger import LEDGER
from annotations.exchange.problem_messages.message import ProblemMessage
from annotations.exchange.problem_messages.panel import PANEL
from annotations.exchange.problem_messages.replies import REPLIES
from annotations.exchange.problem_messages.writing import WRITING

PROBLEM_MESSAGES: dict[str, ProblemMessage] = {
    **FILES,
    **JSON,
    **ANSWERS,
    **GRADES,
    **REPLIES,
    **PANEL,
    **LEDGER,
    **EXPORTS,
    **IMPORTING,
    **WRITING,
}

__all__ = ["PROBLEM_MESSAGES", "ProblemMessage"]
