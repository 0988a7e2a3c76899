"""Template filters that render texts with simple formatting (``{% load formatting %}``)."""

from django import template

from annotations.web.formatting import format_passage, format_text

register = template.Library()
register.filter("formatted", format_text)
register.filter("passage_text", format_passage)
