"""Grading told once, on plain records and arrays: no ORM, no files.

`evaluation.steps` reads rows of the database and `evaluation.files` rows of files; both hand over
the same columns, and both write what comes back. In between, in this order:

1. `inputs.choose` leaves out the answers that were rejected where they were collected, keeps one
   answer of a model to a question (the first sample of its latest asking), and sets aside the
   answers without a text, which are counted and not graded.
2. `grading.grade_answers` then
   - makes vectors (`vectors`): of corrected texts where the spelling is to be corrected, and rows
     of zeros for models' answers without a text;
   - grades (`fitting`): AQER, started from entailment where asked for, with or without remedies
     (`remedies`), and the models against its exemplary answers;
   - looks for alarms (`alarms`) in the crowd as it was before remedies.
3. `maps.map_answers` places the answers of a grading on its map, for those who draw one.

One `Grading` comes back. Its `results()` are the rows of every table, its `warnings` what to know
before trusting them, its `summary()` how the numbers were made.
"""
