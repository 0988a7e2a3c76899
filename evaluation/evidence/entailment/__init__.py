"""Train an entailment model on graded answers, and measure what it adds to the grades.

`pairs` turns graded answers into pairs of texts with a class and splits them by question.
`training` fine-tunes the packaged encoder on them. `model_folder` writes the model and the record
of the answers that it was trained on, `card` its description. `table` is its table of evidence.
"""
