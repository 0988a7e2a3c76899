"""Ask registered language models, and store their replies in the database.

`registration` checks which models a user may ask, and stores prompts. `model_askings` builds
conversations from the questions of a version and plans a run's requests, `preview` shows and counts
them before anything is sent, `replies` stores the replies, and `collecting` executes the run.
"""
