"""The nginx site of docs/sharing.md as it stands, in front of a server started as it says: TLS,
users, live notes. Ports and files are the test's own."""

import base64
import http.client
import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import tempfile
import threading
import unittest

from server import ROOT, Server

NGINX = shutil.which("nginx") or "/usr/sbin/nginx"
SECRET = "of-the-test-0123456789"
NAME = "traces.example.org"


def site():
    with open(os.path.join(ROOT, "docs", "sharing.md"), encoding="utf-8") as file:
        (found,) = re.findall(r"```nginx\n(.*?)```", file.read(), re.S)
    return found


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def replaced(text, old, new):
    assert old in text, f"docs/sharing.md has no {old}"
    return text.replace(old, new)


@unittest.skipUnless(os.path.exists(NGINX), "nginx is not installed: scripts/setup.sh test")
class NginxTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        cls.server = Server(
            os.path.join(cls.folder, "logs"),
            *("--notes", os.path.join(cls.folder, "notes.db"), "--allow-host", NAME),
            *("--user-header", "X-Forwarded-User", "--trusted-proxy", "127.0.0.1"),
            env={"TRACEGLASS_SECRET": SECRET},
        )
        cls.addClassCleanup(cls.server.close)
        cls.port = free_port()
        cls.start()

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder, name)

    @classmethod
    def start(cls):
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
            + ["-subj", f"/CN={NAME}", "-addext", f"subjectAltName=DNS:{NAME}"]
            + ["-keyout", cls.path("traces.key"), "-out", cls.path("traces.crt")],
            check=True,
            capture_output=True,
        )
        hashed = subprocess.run(
            ["openssl", "passwd", "-apr1", "-stdin"], input="pass\n", text=True, capture_output=True
        ).stdout.strip()
        with open(cls.path("traces.users"), "w", encoding="utf-8") as file:
            file.write(f"grace:{hashed}\nmallory:{hashed}\n")
        text = replaced(site(), "/etc/nginx/", cls.folder + "/")
        text = replaced(text, "listen 443 ssl", f"listen 127.0.0.1:{cls.port} ssl")
        text = replaced(text, "127.0.0.1:6006", f"127.0.0.1:{cls.server.port}")
        text = replaced(text, "PUT-A-SECRET-HERE", SECRET)
        kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        temporary = "".join(f"{kind}_temp_path {cls.path(kind)};\n" for kind in kinds)
        with open(cls.path("nginx.conf"), "w", encoding="utf-8") as file:
            file.write(
                f"daemon off; master_process off; pid {cls.path('pid')}; error_log stderr;\n"
                f"events {{}}\nhttp {{ access_log off;\n{temporary}{text}}}\n"
            )
        process = subprocess.Popen(
            [NGINX, "-p", cls.folder, "-c", cls.path("nginx.conf")],
            stderr=subprocess.PIPE,
            text=True,
        )

        def end():
            process.terminate()
            process.wait()
            process.stderr.close()

        cls.addClassCleanup(end)
        waited = threading.Event()  # never set
        for _ in range(200):
            with socket.socket() as one:
                if one.connect_ex(("127.0.0.1", cls.port)) == 0:
                    return
            if process.poll() is not None:
                raise AssertionError(process.stderr.read())
            waited.wait(0.05)
        raise AssertionError("nginx does not listen")

    def connect(self):
        context = ssl.create_default_context(cafile=self.path("traces.crt"))
        connection = http.client.HTTPSConnection(
            "127.0.0.1", self.port, timeout=30, context=context
        )
        plain = socket.create_connection(("127.0.0.1", self.port), 30)
        connection.sock = context.wrap_socket(plain, server_hostname=NAME)
        self.addCleanup(connection.close)
        return connection

    def ask(self, path, method="GET", body=None, user="grace", **headers):
        own = {"Host": f"{NAME}:{self.port}"}
        if user is not None:
            own["Authorization"] = "Basic " + base64.b64encode(f"{user}:pass".encode()).decode()
        own |= {key.replace("_", "-"): value for key, value in headers.items()}
        connection = self.connect()
        data = None if body is None else json.dumps(body)
        connection.request(method, path, data, own)
        return connection.getresponse()

    def write(self, path, body, method="POST", **headers):
        own = {"Content_Type": "application/json", "X_Traceglass_Write": "1"}
        own["Origin"] = f"https://{NAME}:{self.port}"
        return self.ask(path, method, body, **{**own, **headers})

    def test_users_are_the_proxys(self):
        self.assertEqual(self.ask("/api/notes", user=None).status, 401)
        session = json.loads(self.ask("/api/session").read())
        self.assertEqual((session["user"], session["verified"]), ("grace", True))
        # What the browser says of itself is overwritten.
        forged = self.ask("/api/session", user="mallory", X_Forwarded_User="grace")
        self.assertEqual(json.loads(forged.read())["user"], "mallory")

    def test_notes_written_and_followed(self):
        events = self.ask("/api/notes/events")
        self.assertEqual(events.getheader("content-type"), "text/event-stream")
        note = {"text": "x", "author": "typed", "anchor": {"kind": "run", "run": "r"}}
        started = json.loads(self.write("/api/notes", note).read())
        self.assertEqual(started["notes"][0]["author"], "grace")
        self.assertTrue(started["notes"][0]["verified"])
        while not (line := events.readline()).startswith(b"data: "):  # at once, not at the end
            self.assertTrue(line)
        self.assertEqual(json.loads(line[6:])["thread"]["id"], started["id"])
        path = f"/api/notes/{started['id']}/{started['notes'][0]['id']}"
        denied = self.write(path, {"text": "mine"}, "PATCH", user="mallory")
        self.assertEqual(denied.status, 403)
        self.assertEqual(self.write(path, {"text": "y"}, "PATCH").status, 200)

    def test_other_sites_and_names_are_refused(self):
        note = {"text": "x", "anchor": {"kind": "run", "run": "r"}}
        self.assertEqual(self.write("/api/notes", note, Origin="https://evil.example").status, 403)
        self.assertEqual(self.ask("/api/notes", Host="evil.example").status, 403)

    def test_without_the_proxy_nobody_is_answered(self):
        self.assertEqual(self.server.ask("/api/notes").status, 403)
        forged = self.server.ask("/api/session", X_Forwarded_User="grace")
        self.assertEqual(forged.status, 403)


if __name__ == "__main__":
    unittest.main()
