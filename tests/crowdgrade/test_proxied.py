"""Behind proxies the client is the client: its address, its scheme, its lock, its links."""

import shutil
import socket
import subprocess
from contextlib import ExitStack, closing

import httpx
import pytest
from django.http import HttpResponse
from django.test import RequestFactory

from crowdgrade.proxy_headers import ProxyMiddleware
from tests.attack.site import PASSWORD, Site, form_token
from tests.evaluation.runs.background.scratch import wait_until


def seen(settings, proxies, https=False, **headers):
    """Return the client's address and scheme as the site sees them, or where it is sent."""
    settings.PROXIES, settings.HTTPS = proxies, https
    settings.ALLOWED_HOSTS = ["here"]
    names = {f"HTTP_X_FORWARDED_{name.upper()}": value for name, value in headers.items()}
    request = RequestFactory().get("/a/?b=1", REMOTE_ADDR="10.0.0.9", SERVER_NAME="here", **names)
    response = ProxyMiddleware(lambda asked: HttpResponse())(request)
    if response.status_code == 301:
        return response["Location"]
    return request.META["REMOTE_ADDR"], request.scheme


@pytest.mark.parametrize(
    ("proxies", "added", "client"),
    [
        (0, "203.0.113.7", "10.0.0.9"),  # nobody of ours adds anything: the header is a claim
        (1, "203.0.113.7", "203.0.113.7"),
        (1, "1.2.3.4, 203.0.113.7", "203.0.113.7"),  # the first one was written by the client
        (2, "1.2.3.4, 203.0.113.7, 10.0.0.8", "203.0.113.7"),
        (2, "203.0.113.7", "10.0.0.9"),  # came past a proxy: the nearest address is the truth
        (1, "203.0.113.7:5123", "203.0.113.7"),
        (1, "[2001:db8::1]:5123", "2001:db8::1"),
        (1, "2001:DB8:0::1", "2001:db8::1"),
        (1, "unknown", "10.0.0.9"),
        (1, "", "10.0.0.9"),
    ],
)
def test_the_client_is_whom_the_outermost_known_proxy_saw(settings, proxies, added, client):
    assert seen(settings, proxies, For=added) == (client, "http")


def test_the_scheme_is_believed_from_a_proxy_alone(settings):
    assert seen(settings, 0, proto="https")[1] == "http"
    assert seen(settings, 1, proto="https")[1] == "https"
    assert seen(settings, 1, proto="http, https")[1] == "https"
    assert seen(settings, 1, proto="https, http")[1] == "http"


def test_a_page_asked_for_without_https_is_asked_for_with_it_where_that_is_promised(settings):
    assert seen(settings, 1, True, proto="http") == "https://here/a/?b=1"
    assert seen(settings, 1, True, proto="https")[1] == "https"
    # From this machine, past the proxy, there is nowhere to send it to.
    assert seen(settings, 1, True)[1] == "http"
    assert seen(settings, 0, True, proto="http")[1] == "http"


@pytest.fixture
def behind(sqlite_home, tmp_path):
    """A site behind Caddy, which speaks TLS with a certificate of its own."""
    caddy = shutil.which("caddy")
    if caddy is None:
        pytest.skip("no caddy on this machine (apt-get install caddy)")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    promised = {"HTTPS": "yes", "ALLOWED_HOSTS": "localhost,127.0.0.1"}
    with ExitStack() as ended:
        site = ended.enter_context(closing(Site(sqlite_home, None, promised)))
        site.fill()
        site.start()
        config = tmp_path / "Caddyfile"
        config.write_text(
            "{\n admin off\n auto_https disable_redirects\n skip_install_trust\n"
            f' storage file_system "{tmp_path / "caddy"}"\n}}\n'
            f"https://localhost:{port} {{\n bind 127.0.0.1\n tls internal\n"
            f" reverse_proxy 127.0.0.1:{site.port}\n}}\n"
        )
        proxy = subprocess.Popen(
            [caddy, "run", "--config", str(config), "--adapter", "caddyfile"],
            env={**site.environment, "HOME": str(tmp_path)},
            stdout=subprocess.DEVNULL,
            stderr=ended.enter_context((tmp_path / "caddy.log").open("w")),
            start_new_session=True,
        )
        site.processes.append(proxy)

        def browser(address="127.0.0.1"):
            way = httpx.HTTPTransport(verify=False, local_address=address)
            base = f"https://localhost:{port}"
            client = httpx.Client(base_url=base, transport=way, timeout=60, trust_env=False)
            return ended.enter_context(client)

        def answers():
            try:
                return browser().get("/admin/login/").status_code == 200
            except httpx.HTTPError:
                return False

        wait_until(answers, 60, "Caddy answered", (tmp_path / "caddy.log").read_text)
        yield site, browser, port


def log_in(client, name, password, **headers):
    """Return the answer to a filled-in form, sent as browsers send it."""
    token = form_token(client.get("/admin/login/").text)
    origin = str(client.base_url).rstrip("/")
    return client.post(
        "/admin/login/",
        data={"username": name, "password": password, "csrfmiddlewaretoken": token},
        headers={"Origin": origin, "Referer": f"{origin}/admin/login/", **headers},
    )


@pytest.mark.alone
def test_behind_a_tls_proxy_nothing_else_has_to_be_set(behind):
    """No CSRF_TRUSTED_ORIGINS: sign in, follow links, and be locked out alone."""
    site, browser, port = behind
    client = browser()
    page = client.get("/admin/login/")
    assert page.headers["Strict-Transport-Security"] == "max-age=31536000"
    entered = log_in(client, "rana", PASSWORD)
    assert entered.status_code == 302, entered.text
    assert all("secure" in line.lower() for line in entered.headers.get_list("set-cookie"))
    bearer = {"Authorization": f"Bearer {site.people['rana']['token']}"}
    set_id = site.people["rana"]["set"]
    listed = client.get(f"/api/v1/question-sets/{set_id}/answers/?limit=2", headers=bearer).json()
    assert listed["next"].startswith(f"https://localhost:{port}/")
    # Another address tries passwords, and claims to be the first one: it locks out itself.
    other = browser("127.0.0.2")
    claims = {"X-Forwarded-For": "127.0.0.1"}
    statuses = [log_in(other, "rana", "wrong", **claims).status_code for _ in range(5)]
    assert statuses == [200, 200, 200, 200, 429]
    assert log_in(other, "rana", PASSWORD).status_code == 429
    assert log_in(browser(), "rana", PASSWORD).status_code == 302
