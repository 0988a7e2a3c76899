"""What a run that asked models says of itself."""

from evaluation.runs.flow.asking.summary import AskSummary, ModelOutcome

ONE = ModelOutcome("1", "one", planned=9, answered=4, empty=2, refused=3)
TWO = ModelOutcome("2", "two", planned=9, answered=1, errors={"timeout": 3, "cut": 2}, not_asked=3)


def test_a_page_shows_questions_models_and_the_answers_that_came():
    summary = AskSummary(questions=9, models=(ONE, TWO))
    assert summary.get_shown_counts() == {"questions": 9, "models": 2, "model_answers": 5}
    assert AskSummary().get_shown_counts() == {"questions": 0, "models": 0, "model_answers": 0}


def test_it_is_complete_where_nothing_failed_and_everything_was_asked():
    assert (ONE.failures, TWO.failures) == (0, 5)
    assert (ONE.complete, TWO.complete) == (True, False)
    assert not ModelOutcome("3", "three", planned=1, not_asked=1).complete
    assert AskSummary(models=(ONE,)).complete
    assert not AskSummary(models=(ONE, TWO)).complete
    kept = AskSummary(questions=9, models=(ONE, TWO), cost=0.5)
    assert AskSummary.from_json(kept.as_dict()) == kept
