"""From records to rows: the only part of `exchange` that knows the database.

An import is told by one function for each kind of file. It reads the whole file first (bad rows
are told before anything is touched; answers, which may be many, wait in a `stage` on the disk),
then does everything in one transaction that holds the
question set's row, so that two imports into a set follow each other:

1. `target`: lock the set and choose the version;
2. find what is there already, and say what contradicts it, row by row;
3. add what is new, in batches;
4. `report`: what came in and what became of it; rows in = new + unchanged + repeated.

A dry run of answers only reads and foretells; of everything else it does the same and rolls back.
The same file again adds nothing. Nothing that is there is ever overwritten. Model answers come in
the same way in `evaluation.imports`.
"""

from annotations.exchange.importing.answers import import_answers
from annotations.exchange.importing.mturk import import_batches, import_mturk
from annotations.exchange.importing.prompts import import_prompts
from annotations.exchange.importing.questions import import_passages, import_questions
from annotations.exchange.importing.report import ImportReport
from annotations.exchange.importing.several_answers import import_several_answers
from annotations.exchange.importing.target import all_or_nothing
from annotations.exchange.importing.word_problems import import_word_problems

__all__ = [
    "ImportReport",
    "all_or_nothing",
    "import_answers",
    "import_batches",
    "import_mturk",
    "import_passages",
    "import_prompts",
    "import_questions",
    "import_several_answers",
    "import_word_problems",
]
