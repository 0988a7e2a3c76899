"""What a requester sees while deciding: `queue`, `evidence`, `verdicts` so far, `exclusion`."""
