"""Results of a grading: reports, charts, web pages and REST API."""
