"""A WSGI call without a web server, and a backend on the fake binary."""

import os
import sys
from types import SimpleNamespace
from unittest import mock

FAKE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fake_traceglass.py")
ROUTE = "/data/plugin/traceglass"


def environ_of(path, query="", method="GET", **extra):
    return {
        "REQUEST_METHOD": method,
        "SCRIPT_NAME": "",
        "PATH_INFO": ROUTE + path,
        "QUERY_STRING": query,
        "HTTP_HOST": "localhost:6006",
        **extra,
    }


class Reply:
    """Status, headers and the body as an iterator, as a WSGI server would see them."""

    def __init__(self, app, environ):
        self.body = app(environ, self._start)

    def _start(self, status, headers, exc_info=None):
        self.status = int(status.split()[0])
        self.headers = {key.lower(): value for key, value in headers}

    def read(self):
        try:
            return b"".join(self.body)
        finally:
            if hasattr(self.body, "close"):
                self.body.close()


def context(logdir="", **flags):
    given = {"logdir_spec": "", "host": None, "bind_all": False, **flags}
    return SimpleNamespace(logdir=logdir, flags=SimpleNamespace(**given))


def with_fake(mode=None):
    """Patches the environment so that the fake is the binary."""
    values = {
        "TRACEGLASS_BIN": FAKE,
        "PATH": os.path.dirname(sys.executable) + ":" + os.environ["PATH"],
    }
    return mock.patch.dict(os.environ, {**values, **({"FAKE_MODE": mode} if mode else {})})
