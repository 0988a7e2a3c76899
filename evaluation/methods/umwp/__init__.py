"""UMWP: whether it is noticed that a problem has no answer."""
