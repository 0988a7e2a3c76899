"""How sure a model is of each question, and whether it is right: beside other kinds' numbers."""

from evaluation.flow.views.view import Side, View, Viewed, column

VIEWS = (
    Viewed(
        View(
            "semantic_entropy",
            Side.UNCERTAINTY,
            "Says different things",
            "How many meanings the model's replies to the same question have: 0 where it says the "
            "same every time, more where it is unsure (entropy in nats).",
            lowest=0.0,
            better="lower",
        ),
        column("semantic_entropy"),
    ),
    Viewed(
        View(
            "stated_confidence",
            Side.UNCERTAINTY,
            "Confidence it states",
            "How sure the model says it is, from 0 to 100; the mean over its replies.",
            lowest=0.0,
            highest=100.0,
            better="",
        ),
        column("verbalised"),
    ),
    Viewed(
        View(
            "consistency",
            Side.UNCERTAINTY,
            "Says the same again",
            "How alike the model's replies to the same question are: 1 where all are the same.",
            lowest=0.0,
            highest=1.0,
        ),
        column("consistency"),
    ),
    Viewed(
        View(
            "first_word_spread",
            Side.UNCERTAINTY,
            "Torn at the first word",
            "Over how many words the model was torn where its answers begin (entropy in nats).",
            lowest=0.0,
            better="lower",
        ),
        column("entropy"),
    ),
)
