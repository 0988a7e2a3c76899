"""A crowd that answers with years, graded: what it agrees on can be counted by hand."""

import csv

from annotations.exchange.importing import import_answers
from annotations.models import Question, QuestionSet
from evaluation.consensus.parameters import AqerParameters
from evaluation.models import AnswerFact, CrowdFact, ExemplaryAnswer, Run
from evaluation.runs.background import runs
from evaluation.runs.background.work import work_one_turn
from evaluation.runs.imports import import_model_answers

NAMES = ("ada", "ben", "cy", "dee", "eli", "fay", "gus", "hal", "ivy", "joe")
# On the first question one of ten says another year; on the second seven say one, three another.
YEARS = {
    "cable": ["1858"] * 9 + ["1857"],
    "ship": ["1865"] * 7 + ["1866"] * 3,
}
TEXTS = {
    "cable": "In which year was the first cable laid?",
    "ship": "In which year did the great ship sail?",
    "why": "Why did the cable break?",
}
LONG = (
    "Because the current was far too strong for the thin layer of gum around the copper, which "
    "grew hot, cracked and let the salt water in, says {}"
)
MODELS = {"Big": {"cable": "1858", "ship": "1865"}, "Small": {"cable": "1857", "ship": "1865"}}


def said(question: str, year: str) -> str:
    """An answer of five words."""
    return (
        f"It was in {year}, I think" if question == "cable" else f"She sailed in {year} I believe"
    )


def rows() -> list[tuple[str, str, str]]:
    """All answers of people: worker, question, answer."""
    found = [
        (name, question, said(question, year))
        for question, years in YEARS.items()
        for name, year in zip(NAMES, years, strict=True)
    ]
    return [*found, *((name, "why", LONG.format(name)) for name in NAMES)]


def model_rows() -> list[tuple[str, str, str]]:
    """All answers of models: model, question, answer."""
    return [
        (model, question, said(question, year))
        for model, years in MODELS.items()
        for question, year in years.items()
    ]


def written(path, header, found):
    """Write rows as a CSV file and return its path."""
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *found])
    return path


def asked(owner, folder) -> QuestionSet:
    """The set with the answers of people and models, not graded yet."""
    question_set = QuestionSet(owner=owner, name="cables")
    header = ("worker", "question", "answer")
    import_answers(
        question_set, written(folder / "people.csv", header, rows()), create_questions=True
    )
    for name, text in TEXTS.items():
        Question.objects.filter(external_id=name).update(text=text)
    header = ("model", "question", "answer")
    import_model_answers(question_set, written(folder / "models.csv", header, model_rows()))
    return question_set


def graded(question_set, **parameters) -> Run:
    """A run that is done, as pages fetch it."""
    given = {"embedder": "tfidf-char", "bootstrap": 0, **parameters}
    run = runs.queue_run(
        question_set.latest_version(), question_set.owner_id, AqerParameters(**given)
    )
    assert work_one_turn()
    run = Run.objects.select_related("version__question_set").get(pk=run.pk)
    assert run.state == Run.State.DONE, run.error
    return run


def with_facts(run: Run) -> Run:
    """Give a run made by hand facts: everybody agrees on a year, the last one contradicts it."""
    exemplars = run.exemplary_answers.all()
    exemplars.update(facts=ExemplaryAnswer.SPOKEN)
    n_workers = run.worker_grades.count()
    last = run.worker_grades.order_by("-pk").first().worker_id
    CrowdFact.objects.bulk_create(
        CrowdFact(
            run=run, place=place, question_id=question, slot="year", value="1858",
            mentions=n_workers - 1, of=n_workers, state="agreed",
        )
        for place, question in enumerate(exemplars.values_list("question_id", flat=True))
    )  # fmt: skip
    answers = run.answer_scores.values_list(
        "response_id", "response__question_id", "response__submission__worker_id"
    )
    replies = run.llm_answer_scores.values_list("llm_response_id", "llm_response__question_id")
    said = [
        AnswerFact(response_id=key, question_id=question, verdict="agrees", value="1858")
        if worker != last
        else AnswerFact(response_id=key, question_id=question, verdict="contradicts", value="1857")
        for key, question, worker in answers
    ]
    said += [
        AnswerFact(llm_response_id=key, question_id=question, verdict="contradicts", value="1857")
        for key, question in replies
    ]
    for place, fact in enumerate(said):
        fact.run, fact.place, fact.slot = run, place, "year"
        fact.crowd, fact.mentions, fact.n_crowd, fact.of = "1858", 1, n_workers - 1, n_workers
        fact.spans = [[0, 5]]
    AnswerFact.objects.bulk_create(said, 2000)
    n = exemplars.count()
    for rows in (run.worker_grades, run.llm_scores):
        rows.update(facts=n, fact_agreement=0.5, fact_agreement_low=0.4, fact_agreement_high=0.6)
        rows.update(fact_questions=n, fact_contradicted=n)
    run.summary["facts"] = {"questions": n, "spoken": n, "agreed": n, "contested": 0, "silent": {}}
    run.save(update_fields=["summary"])
    return run
