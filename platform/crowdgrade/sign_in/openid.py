"""Sign-in by an OpenID provider: authorization code with PKCE, state and nonce.

django-allauth runs the flow. It accepts ID tokens by TLS alone and sends no nonce; here each
token's signature, issuer, audience, time and nonce are verified.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any, Final

import jwt
from allauth.socialaccount import app_settings
from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.models import SocialApp, SocialLogin, SocialToken
from allauth.socialaccount.providers.base.provider import Provider
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from crowdgrade.sign_in.options import get_openid

ALGORITHMS: Final = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384")
"""Asymmetric ones: a provider's public key never verifies a symmetric signature."""
ENDPOINTS: Final = ("authorization_endpoint", "token_endpoint", "jwks_uri")
LISTS: Final = ("scopes_supported", "token_endpoint_auth_methods_supported")
"""Optional parts of a description; a value that is no list counts as missing."""
NEEDED: Final = ("iss", "sub", "aud", "exp", "iat")
LEEWAY: Final = 60
"""Seconds by which the clocks of provider and site may differ."""


class TokenError(OAuth2Error):
    """Error: the provider's response is invalid; `code` is a key of `refusals.REFUSALS`."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class OpenIDAdapter(OpenIDConnectOAuth2Adapter):
    """Adapter of the requests to the provider; `nonce` is the value the ID token must contain."""

    nonce = ""
    _description: dict[str, Any] | None = None

    @property
    def openid_config(self) -> dict[str, Any]:
        """The provider's published configuration; TokenError for a wrong issuer or missing URL."""
        if self._description is None:
            provider: OpenIDProvider = self.get_provider()  # type: ignore[no-untyped-call]
            config = _fetch_json_object(provider.server_url)
            if config is None:
                raise TokenError("incomplete")
            if config.get("issuer") != get_openid().issuer:
                raise TokenError("issuer")
            if not all(isinstance(config.get(name), str) for name in ENDPOINTS):
                raise TokenError("incomplete")
            self._description = {
                name: value
                for name, value in config.items()
                if name not in LISTS or isinstance(value, list)
            }
        return self._description

    def get_callback_url(self, request: HttpRequest, app: SocialApp) -> str:
        """Return the URL to which the provider redirects after its sign-in."""
        return request.build_absolute_uri(reverse("openid-callback"))

    def get_access_token_data(
        self, request: HttpRequest, app: SocialApp, client: Any, pkce_code_verifier: Any = None
    ) -> dict[str, Any]:
        """Return the response to the authorization code; TokenError if it is not a JSON object."""
        try:
            data = super().get_access_token_data(request, app, client, pkce_code_verifier)
        except TypeError:  # allauth looks for a key in any JSON, such as a number
            data = None
        if not isinstance(data, dict):
            raise TokenError("no_token")
        return data

    def parse_token(self, data: Mapping[str, Any]) -> SocialToken:
        """Return the access token without its expiry time, which is not needed."""
        return SocialToken(token=str(data["access_token"]))

    def complete_login(
        self, request: HttpRequest, app: SocialApp, token: SocialToken, **kwargs: Any
    ) -> SocialLogin:
        """Return the login of the person in the ID token; TokenError if the token is invalid."""
        id_token = kwargs["response"].get("id_token")
        if not isinstance(id_token, str):
            raise TokenError("no_token")
        claims = self.verify_id_token(id_token)
        if len(claims["sub"]) > app_settings.UID_MAX_LENGTH:
            raise TokenError("subject")
        has_more = isinstance(self.openid_config.get("userinfo_endpoint"), str)
        if "email" not in claims and has_more:
            claims = {**self._read_userinfo(token.token, claims["sub"]), **claims}
        provider: OpenIDProvider = self.get_provider()  # type: ignore[no-untyped-call]  # allauth
        return provider.sociallogin_from_response(request, claims)

    def verify_id_token(self, id_token: str) -> dict[str, Any]:
        """Return the claims of an ID token; TokenError if its signature or a claim is invalid."""
        config = self.openid_config
        client_id = get_openid().client_id
        published = _fetch_json_object(config["jwks_uri"])
        try:
            claims: dict[str, Any] = jwt.decode(
                id_token,
                key=_find_public_key(published, id_token),
                algorithms=ALGORITHMS,
                audience=client_id,
                issuer=config["issuer"],
                leeway=LEEWAY,
                options={"require": list(NEEDED)},
            )
        except jwt.ExpiredSignatureError:
            raise TokenError("expired") from None
        except jwt.InvalidAudienceError:
            raise TokenError("audience") from None
        except jwt.InvalidIssuerError:
            raise TokenError("issuer") from None
        except (jwt.PyJWTError, ValueError, TypeError):
            raise TokenError("signature") from None
        if claims.get("azp", client_id) != client_id:
            raise TokenError("audience")
        nonce = str(claims.get("nonce", ""))
        if not self.nonce or not secrets.compare_digest(nonce.encode(), self.nonce.encode()):
            raise TokenError("nonce")
        return claims

    def _read_userinfo(self, access_token: str, subject: str) -> dict[str, Any]:
        """Return the claims of the userinfo endpoint; TokenError if they have another subject."""
        claims = self._fetch_user_info(access_token)
        if not isinstance(claims, dict) or claims.get("sub") != subject:
            raise TokenError("userinfo")
        return claims


def _fetch_json_object(url: str) -> dict[str, Any] | None:
    """Return the JSON object at an address of the provider; None for another JSON value."""
    adapter: Any = get_adapter()  # allauth's has no types
    with adapter.get_requests_session() as session:
        response = session.get(url)
        response.raise_for_status()
    value = response.json()
    return value if isinstance(value, dict) else None


def _find_public_key(published: Mapping[str, Any] | None, id_token: str) -> Any:
    """Return the provider's public key that a token names, else the only one; or TokenError."""
    entries = (published or {}).get("keys")
    # Each entry an object: the library assumes it.
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise TokenError("signature")
    name = jwt.get_unverified_header(id_token).get("kid")
    fitting = [
        key
        for key in jwt.PyJWKSet(entries).keys
        if key.public_key_use in (None, "sig") and (name is None or key.key_id == name)
    ]
    if len(fitting) != 1:
        raise TokenError("signature")
    return fitting[0]


class OpenIDProvider(OpenIDConnectProvider):
    """The OpenID provider of the settings; `claims` are those of the person who signs in."""

    oauth2_adapter_class = OpenIDAdapter
    pkce_enabled_default = True
    claims: Mapping[str, Any] = {}

    def get_redirect_from_request_kwargs(self, request: HttpRequest) -> dict[str, Any]:
        """Return the next page and the process, and no parameter to send to the provider."""
        return Provider.get_redirect_from_request_kwargs(self, request)

    def redirect(
        self, request: HttpRequest, process: str, next_url: str | None = None, data: Any = None,
        **kwargs: Any,
    ) -> HttpResponse:  # fmt: skip
        """Return the redirect to the provider, with a new nonce that the session stores."""
        nonce = secrets.token_urlsafe(24)
        return super().redirect(
            request, process, next_url, data, auth_params={"nonce": nonce}, nonce=nonce, **kwargs
        )

    def get_scope(self) -> list[str]:
        """Return the scopes to request, with "groups" if they are needed and offered."""
        scopes: list[str] = self.get_default_scope()  # type: ignore[no-untyped-call]  # allauth
        config = self.get_oauth2_adapter(self.request).openid_config
        offered = config.get("scopes_supported") or ()
        return [*scopes, "groups"] if get_openid().groups and "groups" in offered else scopes

    def extract_uid(self, data: Mapping[str, Any]) -> str:
        """Return the subject, a person's permanent identifier at the provider."""
        return str(data["sub"])

    def extract_extra_data(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Store the claims in `claims` for this sign-in; return {}, so that none are kept."""
        self.claims = data
        return {}

    def extract_common_fields(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Return {}, because the adapter reads the fields of an account from `claims`."""
        return {}

    def extract_email_addresses(self, data: Mapping[str, Any]) -> list[Any]:
        """Return [], so that no account is found by an e-mail address."""
        return []


class OpenIDCallbackView(OAuth2CallbackView):
    """View to which the provider redirects; gives the nonce of the session to the adapter."""

    def _get_state(self, request: HttpRequest, provider: OpenIDProvider) -> Any:
        """Return allauth's (state, response to an invalid state); give the nonce to the adapter."""
        state, response = super()._get_state(request, provider)
        if state is not None:
            self.adapter.nonce = state.get("nonce") or ""  # type: ignore[attr-defined]
        return state, response
