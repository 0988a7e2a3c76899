"""Ask registered language models, and store their replies in the database.

`registration` says who may have which model asked, `prompts` keeps what models are told, `items`
makes conversations out of the questions of a version, `askings` joins them for a run, `preview`
shows and counts them before anything is sent, `replies` keeps what comes back, and `collecting`
tells how a run goes.
"""
