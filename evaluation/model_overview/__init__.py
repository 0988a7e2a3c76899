"""Model overview: views (measures) of models: crowd score, uncertainty, robustness, answerability."""
