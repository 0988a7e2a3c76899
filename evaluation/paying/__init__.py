"""What there is to know before somebody's work is paid, refused or rewarded.

`scores` are the raw leave-one-out scores, `evidence` what there is for each reason that a panel
takes, `rules` who gets a bonus by a rule, `fairness` whom a decision or a rule leaves out more
often than others. Nothing here decides, pays or tells anybody: `annotations.ledger` keeps what a
person decides.
"""
