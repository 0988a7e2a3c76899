"""REST API of question sets and answers: one module per resource, with its serializers.

Base classes, paging and errors are in `annotations.web.rest`. The docstrings of serializers, and
of views without a `description`, are texts of the OpenAPI schema.
"""
