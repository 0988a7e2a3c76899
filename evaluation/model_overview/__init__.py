"""Model overview: crowd score, uncertainty, robustness and answerability of each model."""
