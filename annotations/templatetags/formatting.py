"""Simple formatting in templates: ``{% load formatting %}``."""

from django import template

from annotations.web.formatting import formatted, passage_text

register = template.Library()
register.filter("formatted", formatted)
register.filter("passage_text", passage_text)
