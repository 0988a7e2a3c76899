"""What every resource of the API shares.

- `base`: bodies of bounded size, unknown keys refused; `once`: requests that may be sent twice.
- `paging`: long lists by keyset, behind opaque cursors.
- `bulk`: many rows at once, through the stages of `annotations.exchange.importing`; `uploads` is
  their description.
- `problems`: everything that can go wrong, by its name (RFC 9457).
- `serializers`: made out of frozen dataclasses; texts cut in the database.
- `versions`: which version of a set is meant; `examples`: those of the schema.
"""
