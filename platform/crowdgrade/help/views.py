"""Help pages: table of contents, one document, and search results."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from crowdgrade.help import documents

LONGEST_QUERY = 100


def show_contents(request: HttpRequest) -> HttpResponse:
    """Show the table of contents, or with `?q=` the sections that contain the words."""
    query = request.GET.get("q", "").strip()[:LONGEST_QUERY]
    document = documents.load_document(documents.CONTENTS)
    context = {
        "title": "Help",
        "subtitle": "The documents of this version of Crowdgrade.",
        "query": query,
        "document": document,
        "results": documents.search_sections(query) if query else [],
        "most_results": documents.MOST_RESULTS,
    }
    return TemplateResponse(request, "admin/help/contents.html", context)


def show_document(request: HttpRequest, slug: str) -> HttpResponse:
    """Show a document; Http404 if the contents page does not list it."""
    document = documents.load_document(slug)
    if document is None:
        raise Http404("There is no such document.")
    if slug == documents.CONTENTS:
        return show_contents(request)
    context = {
        "title": document.title,
        "document": document,
        "parts": [section for section in document.sections if section.level == 2],
    }
    return TemplateResponse(request, "admin/help/document.html", context)


def send_picture(request: HttpRequest, name: str) -> HttpResponse:
    """Return an image that the documents show; Http404 for an unknown name."""
    path = documents.find_picture(name)
    if path is None:
        raise Http404("There is no such picture.")
    return HttpResponse(path.read_bytes(), content_type="image/png")
