"""Pages of the help: contents, one document, the results of a search."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from crowdgrade.help import documents

LONGEST_QUERY = 100


def show_contents(request: HttpRequest) -> HttpResponse:
    """Show the contents page, or with `?q=` the sections that contain the words of the query."""
    query = request.GET.get("q", "").strip()[:LONGEST_QUERY]
    document = documents.load_document(documents.CONTENTS)
    context = {
        "title": "Help",
        "subtitle": "The documents of this version of Crowdgrade.",
        "query": query,
        "document": document,
        "results": documents.search(query) if query else [],
        "most_results": documents.MOST_RESULTS,
    }
    return TemplateResponse(request, "admin/help/contents.html", context)


def show_document(request: HttpRequest, slug: str) -> HttpResponse:
    """Show a document; Http404 for one that the contents page does not name."""
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
    """Return a picture of the documents; Http404 for an unknown name."""
    path = documents.find_picture(name)
    if path is None:
        raise Http404("There is no such picture.")
    return HttpResponse(path.read_bytes(), content_type="image/png")
