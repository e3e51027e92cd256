"""One request passed through to the server: path and query as they came, the body streamed as it
arrives (tiles are binary; server-sent events would pass too), headers untouched except hop-by-hop
ones. A new loopback connection a request costs some 0.1 ms; TensorBoard itself costs 8 ms."""

import http.client
import logging
from urllib.parse import quote

from traceglass_tb import backend, fallback

logger = logging.getLogger("traceglass")

_HOP_BY_HOP = frozenset(
    ["connection", "keep-alive", "proxy-authenticate", "proxy-authorization"]
    + ["te", "trailer", "transfer-encoding", "upgrade"]
)
# What the server may need to know; cookies of whatever else lives on this origin are not.
_PASSED = {
    "HTTP_ACCEPT": "Accept",
    "HTTP_ACCEPT_ENCODING": "Accept-Encoding",
    "HTTP_IF_NONE_MATCH": "If-None-Match",
    "HTTP_IF_MODIFIED_SINCE": "If-Modified-Since",
    "HTTP_RANGE": "Range",
    "HTTP_LAST_EVENT_ID": "Last-Event-ID",
    "HTTP_X_TRACEGLASS_WRITE": "X-Traceglass-Write",
    "CONTENT_TYPE": "Content-Type",
}
_LONGEST_BODY = 512 << 10  # the server takes no more
_CHUNK = 1 << 16
_ANSWER_SECONDS = 300.0  # between two bytes; a first view of a large trace may take a while
_SAFE_IN_PATH = "/:@!$&'()*+,;=~-._"


def target(environ, route):
    """Path below our route and the raw query, as a request target."""
    path = environ.get("PATH_INFO", "")
    path = path[len(route) :] if path.startswith(route) else path
    query = environ.get("QUERY_STRING", "")
    quoted = quote(path.encode("latin-1"), safe=_SAFE_IN_PATH) or "/"  # WSGI decodes as latin-1
    return f"{quoted}?{query}" if query else quoted


def _body_of(environ):
    """The request's body, None for those that have none."""
    if environ["REQUEST_METHOD"] in ("GET", "HEAD"):
        return None
    try:
        length = int(environ.get("CONTENT_LENGTH") or 0)
    except ValueError:
        length = 0
    if not 0 <= length <= _LONGEST_BODY:
        raise ValueError("The request is too long.")
    return environ["wsgi.input"].read(length)


class Proxy:
    """The WSGI application behind every route of the plugin."""

    def __init__(self, servers, route):
        self._servers = servers
        self._route = route

    def __call__(self, environ, start_response):
        where = target(environ, self._route)
        try:
            body = _body_of(environ)
        except ValueError as error:
            return fallback.problem(
                environ, start_response, "413 Request Entity Too Large", str(error)
            )
        try:
            connection, answer = self._ask(environ, where, body)
        except backend.CannotStart as error:
            return fallback.cannot_start(environ, start_response, where.partition("?")[0], error)
        except (OSError, http.client.HTTPException) as error:
            logger.warning("No answer from the profile server to %s: %r", where, error)
            sentence = (
                "The profile server did not answer. It is started again if it has ended: reload."
            )
            return fallback.problem(environ, start_response, "502 Bad Gateway", sentence)
        headers = [(k, v) for k, v in answer.getheaders() if k.lower() not in _HOP_BY_HOP]
        present = {key.lower() for key, _ in headers}
        if "content-type" not in present:  # TensorBoard checks it on every answer, 304 too
            headers.append(("Content-Type", "application/octet-stream"))
        if "x-content-type-options" not in present:
            headers.append(("X-Content-Type-Options", "nosniff"))
        start_response(f"{answer.status} {answer.reason}", headers)
        return _Body(connection, answer)

    def _ask(self, environ, where, body):
        headers = {name: environ[key] for key, name in _PASSED.items() if key in environ}
        headers.setdefault("Accept-Encoding", "identity")  # http.client would not say so
        method = environ["REQUEST_METHOD"]
        for last in (False, True):
            server = self._servers.server()
            headers["X-Traceglass-Secret"] = server.secret
            connection = http.client.HTTPConnection(
                "127.0.0.1", server.port, timeout=_ANSWER_SECONDS
            )
            try:
                connection.request(method, where, body=body, headers=headers)
                return connection, connection.getresponse()
            except (OSError, http.client.HTTPException):
                connection.close()
                # It died between the check and the request: the next server() starts it again. A
                # write may have been done before it died: it is not sent twice.
                if last or server.alive() or method not in ("GET", "HEAD"):
                    raise


class _Body:
    """Yields what has arrived, without waiting for a full chunk; closed by the WSGI server."""

    def __init__(self, connection, answer):
        self._connection = connection
        self._answer = answer

    def __iter__(self):
        while True:
            data = self._answer.read1(_CHUNK)
            if not data:
                if self._answer.length:  # a body cut short must not look whole
                    raise http.client.IncompleteRead(b"", self._answer.length)
                return
            yield data

    def close(self):
        self._answer.close()
        self._connection.close()
