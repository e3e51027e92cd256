"""The server process: found, started at the first request, started again if it died, ended with
TensorBoard.

One lock guards the process and the last failure. The child's standard input is a pipe that only
this process holds: when TensorBoard ends, however it ends, the pipe closes and so does the child.
"""

import atexit
import collections
import contextlib
import os
import re
import secrets
import shutil
import subprocess
import threading
import time

_ADDRESS = re.compile(r"http://127\.0\.0\.1:([0-9]+)")
_START_SECONDS = 20.0  # a cold disk and a busy machine; a start takes some 10 ms
_AGAIN_SECONDS = 3.0  # a failed start is not repeated sooner
_TAIL_LINES = 20


class CannotStart(Exception):
    """The server does not run; `sentence` is for the user, `detail` what it printed."""

    def __init__(self, sentence, detail=""):
        super().__init__(sentence)
        self.sentence = sentence
        self.detail = detail


def packaged_binary():
    """Where the wheel puts the program; the page lies beside it, in ../web."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "traceglass")


def candidates(environ=None):
    """Places where the binary may lie, best first: $TRACEGLASS_BIN, the package, PATH."""
    environ = os.environ if environ is None else environ
    if environ.get("TRACEGLASS_BIN"):
        return [os.path.expanduser(environ["TRACEGLASS_BIN"])]
    on_path = shutil.which("traceglass", path=environ.get("PATH"))
    return [packaged_binary()] + ([on_path] if on_path else [])


def child_environment(secret, environ=None):
    """Of the server: only who knows the secret is answered. A token of this shell is for servers
    that people open themselves; TensorBoard's page knows none."""
    environ = dict(os.environ if environ is None else environ)
    environ.pop("TRACEGLASS_TOKEN", None)
    return {**environ, "TRACEGLASS_SECRET": secret}


def find_binary(environ=None):
    places = candidates(environ)
    for place in places:
        if os.path.isfile(place) and os.access(place, os.X_OK):
            return place
    raise CannotStart(
        "The program traceglass was not found. Install it with pip install traceglass, or set "
        "TRACEGLASS_BIN to it before starting TensorBoard.",
        "Looked for:\n" + "\n".join(places),
    )


class Server:
    """One running process and where it listens."""

    def __init__(self, process, port, secret):
        self.process = process
        self.port = port
        self.secret = secret

    def alive(self):
        return self.process.poll() is None


class Backend:
    """Gives a running server, or says why there is none."""

    def __init__(self, source):
        self._source = source
        self._lock = threading.Lock()
        self._server = None
        self._failure = None
        self._failed_at = float("-inf")
        atexit.register(self.stop)

    def server(self):
        """The running Server; raises CannotStart."""
        with self._lock:
            if self._server is not None and self._server.alive():
                return self._server
            if self._failure is not None and time.monotonic() - self._failed_at < _AGAIN_SECONDS:
                raise self._failure
            if self._server is not None:
                _end(self._server.process)  # frees its pipe
                self._server = None
            try:
                self._server = self._start()
                self._failure = None
                return self._server
            except CannotStart as failure:
                self._failure, self._failed_at = failure, time.monotonic()
                raise

    def stop(self):
        with self._lock:
            server, self._server = self._server, None
        if server is not None:
            _end(server.process)

    def _start(self):
        remote = self._source.remote()
        if remote is not None:
            raise CannotStart(
                f"{remote} is not on this machine: only local directories can be shown."
            )
        if not self._source.directories:
            raise CannotStart("TensorBoard was started without --logdir: there is nothing to show.")
        binary = find_binary()
        secret = secrets.token_urlsafe(32)
        command = [binary, "serve", *self._source.arguments()]
        command += ["--host", "127.0.0.1", "--port", "0", "--exit-with-parent"]
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                # By environment, not as an argument: others can list a process's arguments.
                env=child_environment(secret),
                start_new_session=True,  # Ctrl-C is TensorBoard's; the pipe ends the child
            )
        except OSError as error:
            raise CannotStart(f"{binary} cannot be run.", str(error)) from error
        port, tail = _await_address(process)
        if port is None:
            _end(process)
            raise CannotStart(
                f"{binary} did not start (exit status {process.returncode}).", "\n".join(tail)
            )
        return Server(process, port, secret)


def _await_address(process):
    """(port or None, last lines printed). A thread reads on: a full pipe would stop the child."""
    tail = collections.deque(maxlen=_TAIL_LINES)
    ready = threading.Event()
    port = None

    def read():
        nonlocal port
        with process.stdout:
            for line in process.stdout:
                tail.append(line.rstrip())
                match = _ADDRESS.search(line) if port is None else None
                if match:
                    port = int(match.group(1))
                    ready.set()
        ready.set()

    threading.Thread(target=read, name="traceglass-output", daemon=True).start()
    ready.wait(_START_SECONDS)
    return port, list(tail)


def _end(process):
    """Closes the pipe, asks, then insists."""
    if process.stdin is not None:
        with contextlib.suppress(OSError):
            process.stdin.close()
    if process.poll() is None:
        process.terminate()
    try:
        process.wait(2)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
