"""Whether a model says the same when asked in other words: what a comparison of replies tells."""

from evaluation.flow.views.view import Side, View, Viewed, column

VIEWS = (
    Viewed(
        View(
            "reply_similarity",
            Side.ROBUSTNESS,
            "Replies are alike",
            "How alike the model's replies to wordings of the same meaning are: 1 where all say "
            "the same.",
            highest=1.0,
        ),
        column("similarity"),
    ),
    Viewed(
        View(
            "judged_similarity",
            Side.ROBUSTNESS,
            "Judged alike",
            "How alike a judge finds the model's replies to wordings of the same meaning, from 0 "
            "to 5.",
            lowest=0.0,
            highest=5.0,
        ),
        column("score"),
    ),
)
