"""Pages on which a requester opens a version to workers and monitors the answers."""
