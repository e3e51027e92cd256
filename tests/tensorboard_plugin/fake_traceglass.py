#!/usr/bin/env python3
"""Stands in for the binary: takes `serve …`, prints its address, checks the secret, and answers a
few paths in ways that a proxy can get wrong. `FAKE_MODE`: fail, or silent (exit, no address)."""

import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BINARY = bytes(range(256)) * 400
released = threading.Event()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        for key, value in headers.items():
            self.send_header(key.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_GET(self):
        path = self.path.partition("?")[0]
        if self.headers.get("X-Traceglass-Secret") != os.environ.get("TRACEGLASS_SECRET"):
            self.answer(403)
        elif path == "/api/echo":
            told = {"path": self.path, "argv": sys.argv[1:], "headers": dict(self.headers)}
            told["method"] = self.command
            told["body"] = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
            self.answer(200, json.dumps(told).encode(), Content_Type="application/json")
        elif path == "/api/binary":
            if self.headers.get("If-None-Match") == '"v1"':
                self.send_response(304)
                self.send_header("ETag", '"v1"')
                self.end_headers()
            else:
                self.answer(200, BINARY, Content_Type="application/octet-stream", ETag='"v1"')
        elif path == "/api/encoded":
            self.answer(
                200, b"\x1f\x8bnot really", Content_Type="text/plain", Content_Encoding="gzip"
            )
        elif path == "/api/problem":
            self.answer(422, b"{}", Content_Type="application/problem+json")
        elif path == "/api/events":
            # The second event is sent only once /api/release was asked: a proxy that waits for the
            # whole body never gets there.
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for data in (b"data: 1\n\n", b"data: 2\n\n"):
                self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
                released.wait()
            self.wfile.write(b"0\r\n\r\n")
        elif path == "/api/release":
            released.set()
            self.answer(200)
        elif path == "/api/short":
            self.send_response(200)
            self.send_header("Content-Length", "100")
            self.end_headers()
            self.wfile.write(b"cut")
            self.close_connection = True
        elif path == "/api/die":
            os._exit(3)
        else:
            self.answer(404, b"{}", Content_Type="application/problem+json")

    do_HEAD = do_POST = do_PATCH = do_DELETE = do_GET


def main():
    if os.environ.get("FAKE_MODE") == "fail":
        print("cannot open the log directory", file=sys.stderr)
        sys.exit(2)
    if os.environ.get("FAKE_MODE") == "silent":
        sys.exit(0)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    print(f"Serving on http://127.0.0.1:{server.server_port}/", flush=True)

    def with_parent():
        sys.stdin.read()
        os._exit(0)

    if "--exit-with-parent" in sys.argv:
        threading.Thread(target=with_parent, daemon=True).start()
    server.serve_forever()


main()
