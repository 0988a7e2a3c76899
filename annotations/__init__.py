"""Django app of question sets, passages, workers and their answers, with import and collection."""
