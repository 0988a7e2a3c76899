"""What is said of a version or run that cannot be exported."""

from evaluation.runs.exports import CHOICE_SENTENCES, ChoiceError

VERSION, SET = "rivers, version 1", "rivers"
# Code: values, and the sentence made of them.
SENTENCES = {
    "set_empty": ({"question_set": SET}, "rivers is empty: import questions or answers first"),
    "no_version": (
        {"question_set": SET, "number": 9, "known": "1, 2"},
        "rivers has no version 9; there is: 1, 2",
    ),
    "no_done_run": (
        {"version": VERSION},
        "rivers, version 1 has no run that is done: grade it first",
    ),
    "no_run": (
        {"question_set": SET, "wanted": "x"},
        "rivers has no run x: its page lists them, and 'latest' means the last one that is done, "
        "'record' the one that counts",
    ),
    "run_of_another": (
        {"other": "lakes, version 2", "version": VERSION},
        "the run is of lakes, version 2, not of rivers, version 1",
    ),
    "run_without_results": ({"state": "failed"}, "the run is failed and has no results"),
}


def test_every_code_of_a_choice_has_its_sentence():
    told = {code: str(ChoiceError(code, **values)) for code, (values, _) in SENTENCES.items()}
    assert told == {code: sentence for code, (_, sentence) in SENTENCES.items()}
    assert set(SENTENCES) == set(CHOICE_SENTENCES)
