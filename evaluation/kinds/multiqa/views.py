"""Whether a model stays right, and says the same, in other words: what its replies tell of it."""

from evaluation.flow.views.view import Side, View, Viewed, column

VIEWS = (
    Viewed(
        View(
            "certainty_in_other_words",
            Side.ROBUSTNESS,
            "Says the same in other words",
            "How far the model gives one answer to all wordings of the question: 1 always, 0 every "
            "answer equally often.",
            lowest=0.0,
            highest=1.0,
        ),
        column("certainty"),
    ),
    Viewed(
        View(
            "right_in_every_wording",
            Side.ROBUSTNESS,
            "Right in every wording",
            "Whether the model answers the question rightly however it is put.",
            lowest=0.0,
            highest=1.0,
        ),
        column("worst_case"),
    ),
)
