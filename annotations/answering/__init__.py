"""People answer here: who may take part, their places, their questions, what they write.

`collecting` publishes, `links` says who comes, `places` gives them a place and `order` their
questions, `way` tells where they are, `reading`, `practice` and `drafts` what they do there, and
`finishing` how it ends. `monitor` counts.
"""
