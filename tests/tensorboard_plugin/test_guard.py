import unittest
from types import SimpleNamespace
from unittest import mock

import support
from traceglass_tb import guard


def hosts(**flags):
    return guard.Hosts.of_flags(SimpleNamespace(**{"host": None, "bind_all": False, **flags}))


def reply(method="GET", allowed=None, **extra):
    def app(environ, start_response):
        start_response("200 OK", [])
        return [b"in"]

    checked = guard.guarded(app, allowed or hosts())
    return support.Reply(checked, support.environ_of("/api/runs", method=method, **extra))


class GuardTest(unittest.TestCase):
    def test_own_names_pass(self):
        for host in (
            "localhost",
            "LOCALHOST:6006",
            "127.0.0.1:6006",
            "[::1]:6006",
            "10.1.2.3",
            "tb.localhost:1",
        ):
            with self.subTest(host):
                self.assertEqual(reply(HTTP_HOST=host).status, 200)

    def test_foreign_and_malformed_names_are_refused(self):
        for host in (
            "evil.example",
            "localhost.evil.example",
            "",
            "a b",
            "localhost:x",
            "u@localhost",
            "[::1",
        ):
            with self.subTest(host):
                refused = reply(HTTP_HOST=host)
                self.assertEqual(refused.status, 403)
                self.assertEqual(refused.headers["content-type"], "application/problem+json")

    def test_names_that_the_user_gave(self):
        self.assertEqual(reply(allowed=hosts(host="box.lab"), HTTP_HOST="box.lab:6006").status, 200)
        with mock.patch.dict("os.environ", {"TRACEGLASS_ALLOWED_HOSTS": "tb.example, other"}):
            self.assertEqual(reply(allowed=hosts(), HTTP_HOST="tb.example").status, 200)
            self.assertEqual(reply(allowed=hosts(), HTTP_HOST="evil.example").status, 403)
        with mock.patch.dict("os.environ", {"TRACEGLASS_ALLOWED_HOSTS": "*"}):
            self.assertEqual(reply(allowed=hosts(), HTTP_HOST="any.example").status, 200)

    def test_bind_all_adds_the_names_of_the_machine(self):
        with (
            mock.patch("socket.gethostname", return_value="gpu7"),
            mock.patch("socket.getfqdn", return_value="gpu7.lab.example"),
        ):
            self.assertEqual(
                reply(allowed=hosts(bind_all=True), HTTP_HOST="gpu7.lab.example").status, 200
            )
            self.assertEqual(
                reply(allowed=hosts(bind_all=True), HTTP_HOST="evil.example").status, 403
            )
            self.assertEqual(reply(allowed=hosts(), HTTP_HOST="gpu7").status, 403)

    def test_a_machine_without_a_usable_name(self):
        for trouble in (OSError, UnicodeError):
            with mock.patch("socket.getfqdn", side_effect=trouble):
                self.assertEqual(reply(allowed=hosts(bind_all=True), HTTP_HOST="::1").status, 403)

    def test_origin(self):
        same = {"HTTP_HOST": "localhost:6006", "HTTP_ORIGIN": "http://localhost:6006"}
        self.assertEqual(reply(**same).status, 200)
        self.assertEqual(reply(**{**same, "HTTP_ORIGIN": "http://evil.example"}).status, 403)
        self.assertEqual(reply(**{**same, "HTTP_ORIGIN": "http://localhost:7007"}).status, 403)
        self.assertEqual(reply(**{**same, "HTTP_ORIGIN": "null"}).status, 403)
        forwarded = {"HTTP_ORIGIN": "https://tb.example", "HTTP_X_FORWARDED_HOST": "tb.example"}
        self.assertEqual(reply(**{**same, **forwarded}).status, 200)

    def test_cross_site(self):
        self.assertEqual(
            reply(HTTP_SEC_FETCH_SITE="cross-site", HTTP_SEC_FETCH_MODE="no-cors").status, 403
        )
        self.assertEqual(
            reply(HTTP_SEC_FETCH_SITE="cross-site", HTTP_SEC_FETCH_MODE="navigate").status, 200
        )
        self.assertEqual(
            reply(HTTP_SEC_FETCH_SITE="same-origin", HTTP_SEC_FETCH_MODE="cors").status, 200
        )

    def test_methods(self):
        for method in ("PUT", "OPTIONS", "TRACE"):
            refused = reply(method)
            self.assertEqual(refused.status, 405)
            self.assertEqual(refused.headers["allow"], "GET, HEAD, POST, PATCH, DELETE")
        for method in ("POST", "PATCH", "DELETE"):  # notes; a form sends no such header
            self.assertEqual(reply(method).status, 403)
            self.assertEqual(reply(method, HTTP_X_TRACEGLASS_WRITE="1").status, 200)
            foreign = reply(method, HTTP_X_TRACEGLASS_WRITE="1", HTTP_ORIGIN="http://evil.example")
            self.assertEqual(foreign.status, 403)
        self.assertEqual(reply("HEAD").status, 200)
        self.assertEqual(reply("HEAD", HTTP_HOST="evil.example").read(), b"")


if __name__ == "__main__":
    unittest.main()
