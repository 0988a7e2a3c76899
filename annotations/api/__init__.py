"""REST: question sets and what people wrote, and what every resource of the API shares.

- `scope`: the only way from an address to an object.
- `base`: bodies of bounded size, unknown keys refused, requests that may be sent twice (`once`).
- `paging`: long lists by keyset, behind opaque cursors.
- `bulk`: many rows at once, through the stages of `annotations.exchange.importing`.
- `problems`: everything that can go wrong, by its name (RFC 9457).
- `reports`: serializers made out of frozen dataclasses.

The other modules are one resource each, with its serializers.
"""
