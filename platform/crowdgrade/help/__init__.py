"""Help: the documents of `platform/docs/` as pages of the site, with a search."""
