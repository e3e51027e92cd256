"""`traceglass serve` as a child of a test: its address from its first line, ended with the test."""

import gzip
import http.client
import json
import os
import re
import subprocess
import threading

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BINARY = os.environ.get("TRACEGLASS_BIN", os.path.join(ROOT, "build", "dev", "traceglass"))
LOAD_SECONDS = 120


class Answer:
    def __init__(self, response):
        self.status = response.status
        self.headers = {key.lower(): value for key, value in response.getheaders()}
        self.body = response.read()

    @property
    def media_type(self):
        return self.headers.get("content-type", "").partition(";")[0].strip()

    def json(self):
        packed = self.headers.get("content-encoding") == "gzip"
        return json.loads(gzip.decompress(self.body) if packed else self.body)


class Server:
    timeout = 60  # seconds for one answer

    def __init__(self, *arguments, env=None, stderr=None, **process):
        self.process = subprocess.Popen(
            [
                BINARY,
                "serve",
                *arguments,
                "--host",
                "127.0.0.1",
                "--port",
                "0",
                "--exit-with-parent",
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            env={**os.environ, **(env or {})},
            **process,
        )
        line = self.process.stdout.readline()
        match = re.search(r"http://127\.0\.0\.1:(\d+)", line)
        if match is None:
            self.process.kill()
            raise AssertionError(f"no address in {line!r}")
        self.port = int(match.group(1))
        # Read on: a full pipe would stop the server.
        self._reader = threading.Thread(target=self.process.stdout.read, daemon=True)
        self._reader.start()

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise
        finally:
            self._reader.join()
            self.process.stdout.close()

    def ask(self, path, method="GET", body=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=self.timeout)
        try:
            names = {key.replace("_", "-"): value for key, value in headers.items()}
            connection.request(method, path, body=body, headers=names)
            return Answer(connection.getresponse())
        finally:
            connection.close()

    def write(self, path, body, method="POST", **headers):
        """As the page does: JSON, and the header that no form of another site sends."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        own = {"Content_Type": "application/json", "X_Traceglass_Write": "1", **headers}
        own = {key: value for key, value in own.items() if value is not None}
        return self.ask(path, method, data, **own)

    def loaded(self, trace):
        """The status once the load is over, ready or not."""
        waited = threading.Event()  # never set: only its timeout is used, between two questions
        for _ in range(LOAD_SECONDS * 50):
            status = self.ask(f"/api/traces/{trace}/status").json()
            if status["phase"] in ("ready", "error"):
                return status
            waited.wait(0.02)
        raise AssertionError(f"{trace} was not loaded within {LOAD_SECONDS} s: {status}")
