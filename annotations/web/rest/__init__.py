"""Base classes and helpers shared by all REST endpoints.

- `base`: bodies of limited size, unknown keys refused; `idempotency`: repeated requests.
- `paging`, `filtering`: long lists behind opaque cursors, filtered and sorted.
- `bulk`: many rows in one request, imported like files (`annotations.exchange.importing`);
  `uploads` describes such requests in the schema.
- `problems`: all errors, by code (RFC 9457).
- `serializers`: serializers of dataclasses, and texts cut in the database.
- `versions`: the version of a set that a request names; `negotiation`: responses with files.
- `examples`: examples for the schema.
"""
