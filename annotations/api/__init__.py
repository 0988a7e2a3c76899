"""REST: question sets and what people wrote; a module is one resource with its serializers.

What all resources share is in `annotations.web`.
"""
