"""Collection of answers: admission of workers, their places and questions, drafts, submissions.

`collecting` publishes a version and changes its settings. `links` identifies the worker, `places`
reserves a place, and `order` selects the questions. `progress` gives the next step; `reading`,
`practice` and `drafts` store what the worker does there; `finishing` ends the submission. `monitor`
counts.
"""
