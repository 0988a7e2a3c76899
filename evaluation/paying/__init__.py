"""What there is to know before somebody's work is paid, refused or rewarded.

`scope` finds the version whose people are paid. `scores` are the raw leave-one-out scores,
`evidence` what there is for each reason that a panel takes, `rules` who gets a bonus by a rule,
`fairness` whom a decision or a rule leaves out more often than others, `inviting` who is asked
again. Nothing here decides, confirms, pays or tells anybody: `annotations.ledger` keeps what a
person does, and `planning` writes bonuses into it that nobody has confirmed yet.
"""
