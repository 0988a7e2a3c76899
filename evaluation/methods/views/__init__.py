"""Several views of models on one set of questions: correlations, disagreement, standing."""
