"""Views of health checks and metrics."""

from __future__ import annotations

from hmac import compare_digest
from ipaddress import ip_address

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from crowdgrade.monitoring import health

FORWARDED = ("HTTP_X_FORWARDED_FOR", "HTTP_FORWARDED", "HTTP_VIA")


@never_cache
@require_safe
def report_live(request: HttpRequest) -> HttpResponse:
    """Return status 200, which states only that this web process answers requests."""
    return JsonResponse({"state": "live"})


@never_cache
@require_safe
def report_ready(request: HttpRequest) -> HttpResponse:
    """Return the results of the health checks as JSON: 200 if all succeed, else 503."""
    report = health.build_readiness_report(health.run_checks())
    return JsonResponse(report, status=200 if report["state"] == "ready" else 503)


@never_cache
@require_safe
def send_metrics(request: HttpRequest) -> HttpResponse:
    """Return the metrics for Prometheus; 403 for other machines without the token."""
    if not may_read_metrics(request):
        return HttpResponse(
            "Send the token of METRICS_TOKEN as `Authorization: Bearer TOKEN`.\n",
            status=403,
            content_type="text/plain; charset=utf-8",
        )
    # prometheus-client is loaded by the first request that needs it.
    from crowdgrade.monitoring.metrics import CONTENT_TYPE, format_metrics

    return HttpResponse(format_metrics(), content_type=CONTENT_TYPE)


def may_read_metrics(request: HttpRequest) -> bool:
    """Return whether a request has the token or comes directly from this machine."""
    token: str = settings.METRICS_TOKEN
    sent = request.headers.get("Authorization", "")
    if token and compare_digest(sent.encode(), f"Bearer {token}".encode()):
        return True
    # A proxy on this machine passes on requests of anyone.
    if token or any(name in request.META for name in FORWARDED):
        return False
    try:
        return ip_address(request.META.get("REMOTE_ADDR", "")).is_loopback
    except ValueError:
        return False
