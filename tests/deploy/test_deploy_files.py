"""The files of platform/deploy, checked by the programs that read them, where they are installed.

Not checked here: that the image builds (no container program may fetch its base image on a machine
without a registry), and hadolint and Docker Compose's own check, which are in no package registry
that the project uses.
"""

import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml
from django.core.management import get_commands

from crowdgrade.environment import DECLARED
from tests.test_docs import is_command_line

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "platform" / "deploy"
UNITS = sorted(path.name for path in (DEPLOY / "systemd").iterdir())
SYSTEM = {"PYTHONPATH", "DJANGO_SETTINGS_MODULE", "PATH", "PYTHONUNBUFFERED"}


def find_program(name: str, package: str) -> str:
    path = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin")
    if path is None:
        pytest.skip(f"no {name} on this machine (apt-get install {package})")
    return path


def run(*command, **environment):
    return subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True, timeout=60
    )


@pytest.mark.parametrize("name", UNITS)
def test_systemd_finds_nothing_wrong_in_a_unit(tmp_path, name):
    analyze = find_program("systemd-analyze", "systemd")
    for path in (DEPLOY / "systemd").iterdir():
        text = path.read_text().replace("/srv/crowdgrade/.venv/bin/python", sys.executable)
        (tmp_path / path.name).write_text(text)
    # A template is checked as one of its instances.
    unit = tmp_path / name.replace("@.", "@1.")
    if unit.name != name:
        shutil.copy(tmp_path / name, unit)
    found = run(analyze, "verify", "--man=no", "--recursive-errors=no", str(unit))
    problems = [line for line in found.stderr.splitlines() if "crowdgrade" in line]
    assert (found.returncode, problems) == (0, [])


def test_systemd_would_find_an_unknown_setting(tmp_path):
    analyze = find_program("systemd-analyze", "systemd")
    unit = tmp_path / "crowdgrade-bad.service"
    unit.write_text(f"[Service]\nExecStart={sys.executable}\nRestartSecond=2\n")
    found = run(analyze, "verify", "--man=no", str(unit))
    assert "RestartSecond" in found.stderr


def test_caddy_takes_its_file_as_it_is_formatted(tmp_path):
    caddy = find_program("caddy", "caddy")
    file = str(DEPLOY / "Caddyfile")
    home = {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path)}
    valid = run(caddy, "validate", "--config", file, "--adapter", "caddyfile", **home)
    assert valid.returncode == 0, valid.stderr
    formatted = run(caddy, "fmt", file, **home)
    assert formatted.stdout.rstrip("\n") == (DEPLOY / "Caddyfile").read_text().rstrip("\n")
    bad = tmp_path / "Caddyfile"
    bad.write_text((DEPLOY / "Caddyfile").read_text().replace("encode", "encodes"))
    assert run(caddy, "validate", "--config", str(bad), "--adapter", "caddyfile").returncode != 0


def test_nginx_takes_its_site(tmp_path):
    nginx = find_program("nginx", "nginx-light")
    openssl = find_program("openssl", "openssl")
    made = run(
        *(openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj"),
        *("/CN=survey.example.org", "-out", str(tmp_path / "fullchain.pem")),
        *("-keyout", str(tmp_path / "privkey.pem")),
    )
    assert made.returncode == 0, made.stderr
    site = (DEPLOY / "nginx.conf").read_text()
    site = site.replace("/etc/letsencrypt/live/survey.example.org", str(tmp_path))
    # The check binds the ports.
    for port in ("80", "443"):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            number = free.getsockname()[1]
        site = site.replace(f"listen {port}", f"listen 127.0.0.1:{number}")
        site = site.replace(f"listen [::]:{port}", f"listen [::1]:{number}")
    if not Path("/proc/net/if_inet6").exists():
        site = re.sub(r"^.*listen \[::1\].*$", "", site, flags=re.MULTILINE)

    def check(text):
        config = tmp_path / "nginx.conf"
        config.write_text(
            f"pid {tmp_path}/pid;\nerror_log {tmp_path}/errors;\nevents {{}}\n"
            f"http {{\naccess_log off;\n{text}\n}}\n"
        )
        return run(nginx, "-t", "-q", "-p", str(tmp_path), "-c", str(config))

    found = check(site)
    assert found.returncode == 0, found.stderr
    assert check(site.replace("proxy_pass", "proxy_passes")).returncode != 0


def read_services():
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text())


def test_the_services_of_the_compose_file_depend_on_services_and_volumes_that_exist():
    whole = read_services()
    services = whole["services"]
    assert set(services) == {"migrate", "web", "background", "database", "broker", "proxy"}
    for name, service in services.items():
        for needed, how in service.get("depends_on", {}).items():
            condition = how["condition"]
            assert needed in services, name
            if condition == "service_healthy":
                in_image = services[needed]["image"] == "crowdgrade"
                assert in_image or "test" in services[needed]["healthcheck"], name
        for volume in service["volumes"]:
            source = volume.partition(":")[0]
            assert source in whole["volumes"] or (DEPLOY / source).is_file(), name
        assert service["image"].count(":") == (service["image"] != "crowdgrade"), name
    build = services["web"]["build"]
    assert (DEPLOY / build["context"]).resolve() == ROOT
    assert (ROOT / build["dockerfile"]).is_file()
    assert set(services["web"]["environment"]) <= DECLARED


def test_units_images_and_services_use_declared_variables_and_known_commands():
    texts = {path.name: path.read_text() for path in DEPLOY.rglob("*") if path.is_file()}
    commands = [
        (name, line)
        for name, text in texts.items()
        for line in re.findall(r"python manage\.py \w[^&\"\n]*", text)
    ]
    assert len(commands) >= 5
    known = get_commands()
    assert [one for one in commands if not is_command_line(one[1], known)] == []
    modules = set(re.findall(r'-m"?,? "?(crowdgrade\.\w+|celery)', "\n".join(texts.values())))
    assert modules == {"crowdgrade.web_server", "celery"}
    assert all(find_spec(module) for module in modules)
    lines = texts["environment.example"].splitlines()
    names = {line.partition("=")[0] for line in lines if not line.startswith("#")}
    for name in ("crowdgrade-web.service", "crowdgrade-background@.service"):
        names |= set(re.findall(r"^Environment=(\w+)=", texts[name], re.MULTILINE))
    assert names - DECLARED - SYSTEM == set()


def test_the_image_copies_only_what_exists_and_does_not_run_as_root():
    lines = (DEPLOY / "Containerfile").read_text().replace("\\\n", " ").splitlines()
    instructions = [shlex.split(line) for line in lines if line and not line.startswith("#")]
    copies = [words[1:] for words in instructions if words[0] == "COPY"]
    copied = [words[:-1] for words in copies if not words[0].startswith("--from")]
    assert len(copied) >= 6
    assert [name for names in copied for name in names if not (ROOT / name).exists()] == []
    users = [words[1] for words in instructions if words[0] == "USER"]
    assert users == ["crowdgrade"]
    images = [words[1] for words in instructions if words[0] == "FROM"]
    assert {image.partition(":")[2] for image in images} == {"3.11-slim-bookworm"}
    wanted = ["annotations", "evaluation", "platform/crowdgrade", "templates", "manage.py"]
    assert set(wanted) <= {name for names in copied for name in names}


def test_the_citation_file_has_its_required_fields_and_the_version_of_the_project():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    # Required by version 1.2.0 of the Citation File Format.
    assert {"cff-version", "message", "title", "authors"} <= set(cited)
    assert cited["cff-version"] == "1.2.0"
    assert cited["version"] == project["version"]
    assert cited["license"] == project["license"]
    assert [one["name"] for one in cited["authors"]] == [one["name"] for one in project["authors"]]
    assert cited["abstract"] == project["description"]
