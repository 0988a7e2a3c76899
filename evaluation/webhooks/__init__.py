"""Webhooks: addresses of requesters to which events are sent, signed and repeated on failure.

An event is stored in the transaction that stores what it reports, with one delivery for each
webhook that wants it. A background process sends what is due. So an event may arrive twice, and
never gets lost by a crash.
"""
