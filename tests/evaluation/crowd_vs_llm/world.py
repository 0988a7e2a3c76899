"""Nine workers of a crowd, one of whom pastes a model's answers, and three models."""

from tests.evaluation.runs.run_types.crowds import answers_of, write

QUESTIONS = [f"q{n}" for n in range(12)]
PASTES = "w8"


def model_rows(names=("Elk", "Ox", "Yak")):
    """Models that say the same but for a word; Yak refuses the last question."""
    rows = []
    for at, name in enumerate(names):
        for number, question in enumerate(QUESTIONS):
            silent = name == "Yak" and question == "q11"
            text = f"certainly the model thinks {question} means {number * 7} kelp lamps"
            extra = ("indeed", "verily", "also")[at]
            rows.append(
                (
                    name,
                    question,
                    "" if silent else f"{text} {extra}",
                    "refused" if silent else "text",
                )
            )
    return rows


def people_rows():
    """The crowd, whose ninth worker pastes Elk's answers."""
    said = {question: text for name, question, text, _ in model_rows() if name == "Elk"}
    return [
        (worker, question, said[question] if worker == PASTES else text)
        for worker, question, text in answers_of()
    ]


def write_files(folder):
    """Both files."""
    people = write(folder / "people.csv", ("worker", "question", "answer"), people_rows())
    header = ("model", "question", "answer", "status")
    return people, write(folder / "models.csv", header, model_rows())
