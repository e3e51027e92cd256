"""Host, Origin and method checks in front of the proxy.

TensorBoard lets every Host, every Origin and every method through, so a page elsewhere could read
profiles by DNS rebinding (a foreign *name* that resolves to this machine) or by a cross-site
request. An IP address in Host is no rebinding; a name must be this machine's.
"""

import contextlib
import ipaddress
import os
import re
import socket
from urllib.parse import urlsplit

from traceglass_tb import fallback

_METHODS = ("GET", "HEAD")
# Notes are written by these, and only with a header that no form and no simple request of another
# site can send.
_WRITES = ("POST", "PATCH", "DELETE")
_HOST = re.compile(r"^(\[[0-9A-Fa-f:.]+\]|[^:\[\]/@\s]+)(:[0-9]+)?$")


def host_name(host):
    """The name or address of a Host value, lower case, without port; "" for a malformed one."""
    match = _HOST.match(host or "")
    return match.group(1).strip("[]").lower().rstrip(".") if match else ""


def is_address(name):
    try:
        ipaddress.ip_address(name)
        return True
    except ValueError:
        return False


class Hosts:
    """Names under which TensorBoard may be reached."""

    def __init__(self, names=(), anyone=False):
        self._names = {"localhost", *(name.lower() for name in names if name)}
        self._anyone = anyone

    @classmethod
    def of_flags(cls, flags):
        names = {host_name(str(getattr(flags, "host", None) or ""))}
        extra = [name.strip() for name in os.environ.get("TRACEGLASS_ALLOWED_HOSTS", "").split(",")]
        names.update(extra)
        if getattr(flags, "bind_all", False) or getattr(flags, "host", None):
            with contextlib.suppress(OSError, UnicodeError):  # no name, or an odd one
                names.update({socket.gethostname(), socket.getfqdn()})
        return cls(names, anyone="*" in extra)

    def allows(self, host):
        name = host_name(host)
        if not name:
            return False
        if self._anyone or name in self._names or is_address(name):
            return True
        return name.endswith(".localhost")  # resolves to loopback by RFC 6761


def refusal(environ, hosts):
    """Why a request is refused: (status, sentence), or None."""
    method = environ.get("REQUEST_METHOD")
    if method not in _METHODS + _WRITES:
        return "405 Method Not Allowed", f"{method} is not answered here."
    if method in _WRITES and not environ.get("HTTP_X_TRACEGLASS_WRITE"):
        return "403 Forbidden", "What changes something has the header X-Traceglass-Write: 1."
    host = environ.get("HTTP_HOST", "")
    if not hosts.allows(host):
        return "403 Forbidden", (
            f"TensorBoard was reached as {host_name(host)!r}, which is not a name of this machine. "
            "If it should be, start TensorBoard with TRACEGLASS_ALLOWED_HOSTS set to that name."
        )
    origin = environ.get("HTTP_ORIGIN")
    if origin is not None:
        # Behind a proxy that rewrites Host, the forwarded one is what the browser asked for; a
        # foreign page cannot set it without a preflight, which gets 405.
        asked = {host.lower(), environ.get("HTTP_X_FORWARDED_HOST", host).lower()}
        if urlsplit(origin).netloc.lower() not in asked:
            return "403 Forbidden", "The request comes from another origin."
    foreign = environ.get("HTTP_SEC_FETCH_SITE") == "cross-site"
    if foreign and environ.get("HTTP_SEC_FETCH_MODE") != "navigate":  # following a link is fine
        return "403 Forbidden", "The request comes from another site."
    return None


def guarded(app, hosts):
    """`app` behind the checks."""

    def checked(environ, start_response):
        refused = refusal(environ, hosts)
        if refused is None:
            return app(environ, start_response)
        status, sentence = refused
        extra = [("Allow", ", ".join(_METHODS + _WRITES))] if status.startswith("405") else []
        return fallback.problem(environ, start_response, status, sentence, extra)

    return checked
