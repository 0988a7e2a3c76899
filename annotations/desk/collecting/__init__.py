"""Pages on which a requester opens a set to workers and watches the answers come in."""
