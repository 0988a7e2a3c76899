"""Two graded waves of a set about cables: seven of ten come again, and say another year."""

from annotations.exchange.importing import import_answers
from annotations.models import QuestionSet
from evaluation.waves import storage as waves
from tests.evaluation import fact_world
from tests.evaluation.fact_world import NAMES, graded, said, written

# All of them say that the cable was laid in 1866; of the ship they say what was said before.
CAME = (*NAMES[:7], "kim", "lou", "max")


def rows(year="1866"):
    """All answers of the second wave."""
    ships = ["1865"] * 7 + ["1866"] * 3
    return [
        *((name, "cable", said("cable", year)) for name in CAME),
        *((name, "ship", said("ship", of)) for name, of in zip(CAME, ships, strict=True)),
        *((name, "why", fact_world.LONG.format(name)) for name in CAME),
    ]


def two_waves(owner, folder, year="1866", **parameters):
    """The runs of both waves; the models' replies came along."""
    first = fact_world.asked(owner, folder)
    before = graded(first, **parameters)
    made = waves.create_wave(
        first, "cables in May", QuestionSet.WavePeople.ANYBODY, with_models=True
    )
    header = ("worker", "question", "answer")
    import_answers(made.question_set, written(folder / "again.csv", header, rows(year)))
    return before, graded(made.question_set, **parameters)
