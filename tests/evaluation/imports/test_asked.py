"""What `ask` writes goes into the database, samples and all."""

from annotations import demo
from evaluation.imports import import_model_answers
from evaluation.models import LLMResponse
from tests.evaluation.commands.asking import ask


def test_the_answers_of_an_asking_are_imported_with_their_samples(tides, tmp_path):
    script = tmp_path / "small.csv"
    ids = [question.id for question in demo.load_questions()]
    script.write_text("question,sample,reply\n" + "".join(f"{i},,to {i}\n" for i in ids))
    assert ask(demo.QUESTIONS, tmp_path / "out", f"replies:{script}", "--samples", "2").code == 0
    import_model_answers(tides, tmp_path / "out" / "model_answers.csv")
    stored = LLMResponse.objects.values_list("question__external_id", "sample", "text")
    assert set(stored) == {(i, sample, f"to {i}") for i in ids for sample in (0, 1)}
