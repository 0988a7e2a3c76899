"""Speed and memory against named peers, as ratios of one run; `manage.py benchmark` is the door.

`cases` lists what is measured. A case makes its data (`crowds`), runs the contestants (`peers`,
`timing`, `memory`) and returns rows (`results`); `report` writes them down. A row may carry a
claim, and a claim that is not met fails the command.
"""
