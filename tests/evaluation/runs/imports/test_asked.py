"""What `ask` writes goes into the database, samples and all."""

from django.core.management import call_command

from annotations import demo
from evaluation.models import LLMResponse
from evaluation.runs.imports import import_model_answers


def test_the_answers_of_an_asking_are_imported_with_their_samples(tides, tmp_path):
    script = tmp_path / "small.csv"
    ids = [question.id for question in demo.load_questions()]
    script.write_text("question,sample,reply\n" + "".join(f"{i},,to {i}\n" for i in ids))
    # (From a shell it would close the test's connection at its end.)
    call_command(
        *("ask", demo.QUESTIONS, "--model", f"replies:{script}"),
        *("--samples", "2", "--output", tmp_path / "out"),
    )
    import_model_answers(tides, tmp_path / "out" / "model_answers.csv")
    stored = LLMResponse.objects.values_list("question__external_id", "sample", "text")
    assert set(stored) == {(i, sample, f"to {i}") for i in ids for sample in (0, 1)}
