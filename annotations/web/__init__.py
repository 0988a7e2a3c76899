"""What every door shares, below them all: no door imports another one.

- `scope`: the only way from an address to an object: visible, editable, or refused.
- `query`: what stands in the query of an address.
- `pages`: what requester pages have in common: long lists, the way to a set.
- `paging`: long lists, behind opaque cursors.
- `texts`: texts cut for lists; `downloads`: files that are sent.
- `upload_kinds`, `size_limit`: files that come in, their kinds and their greatest size.
- `rest`: the kit of the REST interface.
"""
