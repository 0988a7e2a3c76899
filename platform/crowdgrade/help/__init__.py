"""Help pages of the site, made of the documents in `platform/docs/`, with a search."""
