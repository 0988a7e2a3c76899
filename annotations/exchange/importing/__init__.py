"""Import functions that store the records of files in the database, one for each kind of file.

Each kind of file has one import function. It reads the whole file first and reports bad rows before
it changes anything; answers, which may be many, wait in a `stage` on the disk. Then it does
everything in one transaction that locks the question set's row, so that two imports into a set
follow each other:

1. `target`: lock the set and choose the version; 2. compare with what is stored, and report
contradictions row by row; 3. add what is new, in batches; 4. `report`: count the rows; rows in the
file = new + unchanged + repeated.

A dry run of answers only reads and predicts; a dry run of everything else does the same and rolls
back. Importing the same file again adds nothing. Stored values are never overwritten. Answers of
models are imported in the same way in `evaluation.runs.imports`.
"""

from annotations.exchange.importing.answers import import_answers
from annotations.exchange.importing.mturk import import_batches, import_mturk
from annotations.exchange.importing.prompts import import_prompts
from annotations.exchange.importing.questions import import_passages, import_questions
from annotations.exchange.importing.report import ImportReport
from annotations.exchange.importing.several_answers import import_several_answers
from annotations.exchange.importing.target import open_transaction
from annotations.exchange.importing.word_problems import import_word_problems

__all__ = [
    "ImportReport",
    "import_answers",
    "import_batches",
    "import_mturk",
    "import_passages",
    "import_prompts",
    "import_questions",
    "import_several_answers",
    "import_word_problems",
    "open_transaction",
]
