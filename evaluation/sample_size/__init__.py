"""Sample size: how many workers, questions and answers are enough, and what more of them cost."""
