"""An OpenID provider on this machine: description, keys, authorization code with PKCE, userinfo."""

import base64
import hashlib
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import httpx
import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

CLIENT, SECRET = "crowdgrade", "a secret of the client"


class Provider:
    """A provider that vouches for one person; tests change what it answers.

    Attributes
    ----------
    person : claims about the person. wrong : claims that an ID token has instead of the right ones.
    signing_key : signs ID tokens; `key` is published. description : replaces parts of it.
    requests : path and parameters of each request. answers : JSON values, or bytes that are no
    JSON, by the end of the path, in place of the right ones. silent : paths that get no answer.
    """

    def __init__(self):
        self.key = self.signing_key = rsa.generate_private_key(65537, 2048)
        self.algorithm = "RS256"
        self.person = {"sub": "person-1", "email": "ada@lab.org", "email_verified": True}
        self.person |= {"preferred_username": "ada", "given_name": "Ada"}
        self.userinfo = None
        self.wrong, self.description, self.requests, self.codes = {}, {}, [], {}
        self.answers, self.silent, self.released = {}, set(), threading.Event()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), build_handler(self))
        self.issuer = f"http://127.0.0.1:{self.server.server_port}/realms/lab"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self):
        self.released.set()
        self.server.shutdown()
        self.server.server_close()

    def authorize(self, address):
        """Return the address to which the provider sends the person back."""
        return httpx.get(address, trust_env=False).headers["Location"]

    def answer(self, method, path, query, body):
        """Return status, headers and JSON of the answer to a request."""
        self.requests.append((path, query | body))
        end = path.removeprefix("/realms/lab/")
        if end in self.silent:
            self.released.wait(20)
        if end in self.answers:
            return 200, {}, self.answers[end]
        if end == ".well-known/openid-configuration":
            return 200, {}, self._describe()
        if end == "keys":
            public = json.loads(RSAAlgorithm.to_jwk(self.key.public_key()))
            return 200, {}, {"keys": [public | {"kid": "k1", "use": "sig", "alg": "RS256"}]}
        if end == "authorize":
            code = f"code-{len(self.codes)}"
            self.codes[code] = query
            to = f"{query['redirect_uri']}?code={code}&state={query['state']}"
            return 302, {"Location": to}, {}
        if end == "token" and method == "POST":
            return self._give_token(body)
        if end == "userinfo":
            return 200, {}, self.userinfo or self.person
        return 404, {}, {}

    def _describe(self):
        ends = {"authorization": "authorize", "token": "token", "userinfo": "userinfo"}
        return {
            "issuer": self.issuer,
            "jwks_uri": f"{self.issuer}/keys",
            **{f"{name}_endpoint": f"{self.issuer}/{end}" for name, end in ends.items()},
            "token_endpoint_auth_methods_supported": ["client_secret_post"],
            **self.description,
        }

    def _give_token(self, body):
        asked = self.codes.pop(body.get("code"), None)
        if asked is None or (body["client_id"], body["client_secret"]) != (CLIENT, SECRET):
            return 400, {}, {"error": "invalid_grant"}
        digest = hashlib.sha256(body["code_verifier"].encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        method = asked["code_challenge_method"]
        if (method, challenge) != ("S256", asked["code_challenge"]):
            return 400, {}, {"error": "invalid_grant"}
        now = int(time.time())
        about = self.person if self.userinfo is None else {"sub": self.person["sub"]}
        claims = {"iss": self.issuer, "aud": CLIENT, "iat": now, "exp": now + 300}
        claims |= {"nonce": asked["nonce"], **about, **self.wrong}
        claims = {name: value for name, value in claims.items() if value is not None}
        token = jwt.encode(claims, self.signing_key, self.algorithm, headers={"kid": "k1"})
        return 200, {}, {"access_token": "opaque", "token_type": "Bearer", "id_token": token}


def build_handler(provider):
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self._answer({})

        def do_POST(self):
            self._answer(first_values(self.rfile.read(int(self.headers["Content-Length"]))))

        def _answer(self, body):
            parts = urlsplit(self.path)
            query = first_values(parts.query.encode())
            status, headers, sent = provider.answer(self.command, parts.path, query, body)
            content = sent if isinstance(sent, bytes) else json.dumps(sent).encode()
            self.send_response(status)
            for name, value in {**headers, "Content-Type": "application/json"}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            """Stay silent."""

    return Handler


def first_values(encoded):
    return {name: values[0] for name, values in parse_qs(encoded.decode()).items()}
