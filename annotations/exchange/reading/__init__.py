"""Readers that turn the bytes of a file into records; see `annotations.exchange`."""
