import http.client
import io
import json
import os
import select
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import support
from traceglass_tb import backend, logdir, plugin


class ProxyTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        patch = support.with_fake()
        patch.start()
        cls.addClassCleanup(patch.stop)
        cls.plugin = plugin.TraceglassPlugin(support.context("/some/where"))
        cls.addClassCleanup(cls.plugin._backend.stop)

    def ask(self, path, query="", **extra):
        app = self.plugin.get_plugin_apps()["/*"]
        reply = support.Reply(app, support.environ_of(path, query, **extra))
        self.addCleanup(getattr(reply.body, "close", lambda: None))
        return reply

    def test_query_and_path_pass_raw(self):
        reply = self.ask("/api/echo", "x=1&y=a%20b&z=%2Fq&x=2")
        told = json.loads(reply.read())
        self.assertEqual(told["path"], "/api/echo?x=1&y=a%20b&z=%2Fq&x=2")
        self.assertEqual(told["argv"][:2], ["serve", "/some/where"])

    def test_only_known_request_headers_pass(self):
        reply = self.ask("/api/echo", HTTP_COOKIE="a=b", HTTP_AUTHORIZATION="x", HTTP_ACCEPT="*/*")
        headers = json.loads(reply.read())["headers"]
        self.assertNotIn("Cookie", headers)
        self.assertNotIn("Authorization", headers)
        self.assertEqual(headers["Accept"], "*/*")
        self.assertTrue(headers["Host"].startswith("127.0.0.1:"))

    def test_writes_pass_with_their_body(self):
        for method in ("POST", "PATCH", "DELETE"):
            body = b'{"text": "x"}'
            extra = {"wsgi.input": io.BytesIO(body), "CONTENT_LENGTH": str(len(body))}
            extra |= {"CONTENT_TYPE": "application/json", "HTTP_X_TRACEGLASS_WRITE": "1"}
            told = json.loads(self.ask("/api/echo", method=method, **extra).read())
            self.assertEqual((told["method"], told["body"]), (method, body.decode()))
            self.assertEqual(told["headers"]["Content-Type"], "application/json")
            self.assertEqual(told["headers"]["X-Traceglass-Write"], "1")

    def test_a_long_body_is_not_read(self):
        for length in ("9999999", "-1"):
            extra = {"CONTENT_LENGTH": length, "HTTP_X_TRACEGLASS_WRITE": "1"}
            self.assertEqual(self.ask("/api/echo", method="POST", **extra).status, 413)

    def test_path_bytes_are_quoted_again(self):
        self.assertEqual(self.ask("/api/no \u00c3\u00a9?").status, 404)  # WSGI's latin-1 of "é"

    def test_binary_etag_and_304(self):
        reply = self.ask("/api/binary")
        self.assertEqual(reply.headers["etag"], '"v1"')
        self.assertEqual(reply.read(), bytes(range(256)) * 400)
        again = self.ask("/api/binary", HTTP_IF_NONE_MATCH='"v1"')
        self.assertEqual((again.status, again.read()), (304, b""))
        self.assertIn("content-type", again.headers)
        self.assertEqual(again.headers["x-content-type-options"], "nosniff")

    def test_encoding_and_errors_pass_untouched(self):
        reply = self.ask("/api/encoded", HTTP_ACCEPT_ENCODING="gzip")
        self.assertEqual(reply.headers["content-encoding"], "gzip")
        self.assertEqual(reply.read(), b"\x1f\x8bnot really")
        self.assertEqual(self.ask("/api/problem").status, 422)

    def test_head_has_no_body(self):
        reply = self.ask("/api/binary", method="HEAD")
        self.assertEqual((reply.status, reply.read()), (200, b""))

    def test_events_arrive_one_by_one(self):
        reply = self.ask("/api/events")
        chunks = iter(reply.body)
        self.assertEqual(next(chunks), b"data: 1\n\n")
        self.ask("/api/release").read()
        self.assertEqual(b"".join(chunks), b"data: 2\n\n")
        reply.body.close()

    def test_body_cut_short_is_an_error(self):
        with self.assertRaises(http.client.IncompleteRead):
            self.ask("/api/short").read()

    def test_server_that_died_is_started_again(self):
        self.assertEqual(self.ask("/api/echo").status, 200)
        first = self.plugin._backend.server().process
        self.assertEqual(self.ask("/api/die").status, 502)
        self.assertEqual(first.wait(), 3)
        # Where its end was noticed at once, the question was put to another, which died of it too.
        self.plugin._backend._server.process.wait()
        self.assertEqual(self.ask("/api/echo").status, 200)

    def test_secret_is_needed(self):
        server = self.plugin._backend.server()
        connection = http.client.HTTPConnection("127.0.0.1", server.port)
        self.addCleanup(connection.close)
        connection.request("GET", "/api/echo")
        self.assertEqual(connection.getresponse().status, 403)
        with open(f"/proc/{server.process.pid}/cmdline", "rb") as arguments:
            self.assertNotIn(server.secret.encode(), arguments.read())


class CannotStartTest(unittest.TestCase):
    def ask(self, path, **extra):
        app = plugin.TraceglassPlugin(support.context("/x")).get_plugin_apps()["/*"]
        return support.Reply(app, support.environ_of(path, **extra))

    def check_page(self, *texts):
        self.assertIn(b"export function render", self.ask("/index.js").read())
        page = self.ask("/index.html")
        self.assertEqual(page.headers["content-type"], "text/html; charset=utf-8")
        body = page.read().decode()
        for text in texts:
            self.assertIn(text, body)
        api = self.ask("/api/runs")
        self.assertEqual(api.status, 503)
        self.assertEqual(json.loads(api.read())["status"], 503)

    def test_absent_binary(self):
        with mock.patch.dict(os.environ, {"TRACEGLASS_BIN": "/no/<such>"}):
            self.check_page("was not found", "/no/&lt;such&gt;")

    def test_binary_that_fails(self):
        with support.with_fake("fail"):
            self.check_page("exit status 2", "cannot open the log directory")

    def test_binary_that_says_nothing(self):
        with support.with_fake("silent"):
            self.check_page("exit status 0")

    def test_file_that_cannot_be_run(self):
        with (
            tempfile.NamedTemporaryFile() as file,
            mock.patch.dict(os.environ, {"TRACEGLASS_BIN": file.name}),
        ):
            os.chmod(file.name, 0o755)
            self.check_page("cannot be run")

    def test_remote_or_no_logdir(self):
        for source, text in (
            (logdir.Source("gs://b"), "gs://b"),
            (logdir.Source(), "without --logdir"),
        ):
            with self.assertRaises(backend.CannotStart) as raised:
                backend.Backend(source).server()
            self.assertIn(text, raised.exception.sentence)

    def test_failed_start_is_not_repeated_at_once(self):
        with (
            support.with_fake("fail"),
            mock.patch.object(backend.subprocess, "Popen", wraps=subprocess.Popen) as popen,
        ):
            tried = backend.Backend(logdir.Source("/x"))
            for _ in range(3):
                with self.assertRaises(backend.CannotStart):
                    tried.server()
            self.assertEqual(popen.call_count, 1)


class ParentTest(unittest.TestCase):
    def test_child_ends_when_the_parent_is_killed(self):
        code = (
            "import os, signal, sys, threading\n"
            "from traceglass_tb import backend, logdir\n"
            "b = backend.Backend(logdir.Source('/x'))\n"
            # From a thread that ends, as TensorBoard's request threads do.
            "t = threading.Thread(target=b.server); t.start(); t.join()\n"
            "print(b.server().process.pid, flush=True)\n"
            "os.kill(os.getpid(), signal.SIGKILL)\n"
        )
        with support.with_fake():
            told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        pid = int(told.stdout)
        try:
            handle = os.pidfd_open(pid)
        except ProcessLookupError:
            return  # gone already
        self.addCleanup(os.close, handle)
        self.assertTrue(select.select([handle], [], [], 10)[0], "the child outlived its parent")


if __name__ == "__main__":
    unittest.main()
