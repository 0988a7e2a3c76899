"""Results of a grading: reports, charts, pages and REST."""
