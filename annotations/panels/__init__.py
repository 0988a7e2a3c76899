"""What panels are told and tell: lists of approved and rejected work, where submissions stand.

`people` says how a panel knows those who answered, `lists` makes its files out of what somebody
decided, `statuses` takes in what it exports. Words of panels stand in `exchange`.
"""
