"""A grading run: AQER (grading without an answer key), with its alarms, facts and remedies.

`storage` reads rows of the database and `files` rows of files; both hand over the same columns, and
both write the results. In between, in this order:

1. `consensus.inputs.select_graded_answers` leaves out the answers that were rejected where they
   were collected, keeps one answer of a model to a question (the first sample of its latest
   request), and sets aside the answers without a text, which are counted and not graded.
2. `run.grading.grade_answers` then
   - makes vectors (`consensus.inputs`): of corrected texts where the spelling is to be corrected,
     and rows of zeros for models' answers without a text;
   - grades (`run.fitting`): AQER, started from entailment where asked for, with or without
     `remedies`, and the models against its exemplary answers;
   - looks for `alarms` in the crowd as it was before remedies.
3. `run.maps.compute_answer_maps` places the answers of a grading on its map.

One `Grading` is returned. Its `build_results()` are the rows of every table, its `warnings` what to
know before trusting them, its `build_summary()` how the numbers were made. `results` has its
reports, charts, pages and REST views.
"""
