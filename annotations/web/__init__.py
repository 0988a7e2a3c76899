"""Helpers shared by pages and REST views: access checks, paging, forms, limits.

- `scope`: the only access from a URL to an object: visible, editable, or refused.
- `query`: parameters in the query of a URL.
- `filtering`, `lists`: lists that users search, filter and sort.
- `paging`: long lists behind opaque cursors; `pages`: long lists and breadcrumbs on pages.
- `texts`: texts cut for lists; `formatting`: texts with simple formatting, as HTML.
- `downloads`, `images`: files that are sent.
- `upload_kinds`, `size_limit`: kinds of uploaded files, and their largest size.
- `notes`: notes about workers and models; `numbers`: counts of several tables in one query.
- `rest`: the shared parts of the REST API.
"""
