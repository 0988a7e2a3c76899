"""How near models are to people: what a grading tells beside other kinds of run.

Raw similarities, not grades, which are those of one run; and of one run only, for those of two runs
are compared with other exemplary answers.
"""

from evaluation.flow.views.view import Side, View, Viewed, column

VIEWS = (
    Viewed(
        View(
            "crowd_score",
            Side.CROWD,
            "Near to people",
            "How near the model's answer is to the consensus of the people who answered the "
            "question: 1 where both say the same.",
            highest=1.0,
        ),
        column("score"),
        table="model-answers",
        model="model",
        question="question",
        merges=False,
    ),
    Viewed(
        View(
            "crowd_dispersion",
            Side.CROWD,
            "People disagree",
            "How far the people's own answers to the question are apart: 0 where all say the "
            "same, toward 1 where they have nothing in common.",
            lowest=0.0,
            highest=1.0,
            better="",
            of="question",
        ),
        column("dispersion"),
        table="questions",
        file="exemplars.csv",
        question="question",
        merges=False,
    ),
    Viewed(
        View(
            "crowd_percentile",
            Side.CROWD,
            "Better than so many people",
            "The share of people, from 0 to 100, who are less near to the consensus of the others "
            "than the model, on the questions that it answered.",
            lowest=0.0,
            highest=100.0,
            of="model",
        ),
        column("percentile"),
        table="models",
        model="model",
        merges=False,
    ),
)
