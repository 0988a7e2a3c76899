"""What holds for the whole API: who asks, how often, how errors look, the schema and its page.

The resources themselves are in the rooms' `viewsets`; `crowdgrade.api` gives them addresses.
"""
