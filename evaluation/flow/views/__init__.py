"""All views of language models together, on plain records.

`view` says what a view is and reads it from the rows of a table; a kind of run declares its views
by that (`Kind.views`). Files and the database are adapters of this flow.
"""
