"""What is said of a file that is not the public data set."""

from evaluation.evidence.data_sets import DATA_SET_REASONS

# Code: values, and the reason made of them.
SENTENCES = {
    "data_set_unreadable": (
        {"error": "Permission denied"},
        "the file cannot be read (Permission denied)",
    ),
    "data_set_damaged": ({"error": "bad byte"}, "the file is damaged (bad byte)"),
    "data_set_columns_missing": ({"columns": "a, b"}, "the columns a, b are missing"),
    "data_set_row_short": ({"row": 2}, "line 2 has too few cells"),
    "data_set_grade_unreadable": ({"error": "'good'"}, "a grade is no number ('good')"),
    "data_set_truth_missing": ({"sentence": "s1"}, "sentence s1 has no true translation"),
    "data_set_order_unreadable": ({"order": "x"}, "the order 'x' is no number"),
    "data_set_label_unknown": (
        {"label": "odd", "known": "correct, incorrect"},
        "the label 'odd' is unknown (known are correct, incorrect)",
    ),
    "data_set_empty": ({}, "there are no answers in it"),
}


def test_every_code_of_a_data_set_has_its_reason():
    told = {code: DATA_SET_REASONS[code].format_map(of) for code, (of, _) in SENTENCES.items()}
    assert told == {code: reason for code, (_, reason) in SENTENCES.items()}
    assert set(SENTENCES) == set(DATA_SET_REASONS)
