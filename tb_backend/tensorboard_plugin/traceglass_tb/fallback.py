"""What the tab says when the server cannot run: an entry module and a page of our own, and
problem+json for everything else. Texts are inserted as text, never as markup."""

import html
import json

_HEADERS = [("X-Content-Type-Options", "nosniff"), ("Cache-Control", "no-store")]
_CSP = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'self'"
_TITLE = "The profiler could not start"

# `render` is what TensorBoard calls; the page it runs in is TensorBoard's own.
_MODULE = "export function render() {\n  location.replace('./index.html');\n}\n"

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Traceglass</title>
<style>
  :root {{ color-scheme: light dark; }}
  body {{ font: 14px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 3rem auto; }}
  pre {{ white-space: pre-wrap; overflow-wrap: anywhere; padding: .75rem; border: 1px solid; }}
</style>
<main>
<h1>{title}</h1>
<p>{sentence}</p>
{detail}
<p>Reload this page once that is mended; TensorBoard itself can stay up.</p>
</main>
</html>
"""


def respond(environ, start_response, status, content_type, text, extra=()):
    body = text.encode("utf-8")
    headers = [("Content-Type", content_type), ("Content-Length", str(len(body)))]
    start_response(status, headers + _HEADERS + list(extra))
    return [] if environ.get("REQUEST_METHOD") == "HEAD" else [body]


def problem(environ, start_response, status, sentence, extra=()):
    """An RFC 9457 answer."""
    code, _, title = status.partition(" ")
    text = json.dumps(
        {"type": "about:blank", "title": title, "status": int(code), "detail": sentence}
    )
    return respond(environ, start_response, status, "application/problem+json", text, extra)


def cannot_start(environ, start_response, path, error):
    """The answer to any request while the server does not run; `path` is relative to our route."""
    if path == "/index.js":
        return respond(environ, start_response, "200 OK", "text/javascript; charset=utf-8", _MODULE)
    if path in ("/index.html", "/", ""):
        detail = f"<pre>{html.escape(error.detail)}</pre>" if error.detail else ""
        page = _PAGE.format(title=_TITLE, sentence=html.escape(error.sentence), detail=detail)
        headers = [("Content-Security-Policy", _CSP)]
        # 200: some hosts replace the body of an error page, and this text must be seen.
        return respond(environ, start_response, "200 OK", "text/html; charset=utf-8", page, headers)
    sentence = f"{error.sentence} {error.detail}".strip()
    return problem(environ, start_response, "503 Service Unavailable", sentence)
