"""The people of a version as the payment desk shows them.

`people` is the list with everything that speaks for a decision, `suggestions` what that comes to.
"""
