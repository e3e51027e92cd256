"""Saved indexes as a user meets them: made ahead or by a server, mapped the next time, never in the
way: killed while writing, broken, without room, shared by two servers."""

import os
import shutil
import signal
import subprocess
import tempfile
import threading
import unittest

from server import BINARY, Server

EVENTS = 60_000
ROW = (
    '{{"ph":"X","cat":"cpu_op","name":"aten::op{}","pid":1,"tid":1,"ts":{},"dur":2,'
    '"args":{{"n":{}}}}}'
)


def write_trace(path, events=EVENTS, first=0):
    rows = ",\n".join(ROW.format(i % 50, 3 * i + first, i) for i in range(events))
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'{{"traceEvents":[\n{rows}\n]}}\n')


class IndexTest(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.root)
        self.index = os.path.join(self.root, "cache", "index")
        self.logdir = os.path.join(self.root, "logdir")
        os.mkdir(self.logdir)
        self.trace = os.path.join(self.logdir, "w.pt.trace.json")
        write_trace(self.trace)

    def run_index(self, *paths, **options):
        return subprocess.run(
            [BINARY, "index", *(paths or [self.logdir]), "--index", self.index],
            capture_output=True,
            text=True,
            **options,
        )

    def saved(self):
        """(whole ones, others)"""
        names = sorted(os.listdir(self.index)) if os.path.isdir(self.index) else []
        whole = [name for name in names if name.endswith(".tgix")]
        return whole, [name for name in names if name not in whole]

    def serve(self, *arguments):
        """A server and where its errors go."""
        log = self.enterContext(
            open(os.path.join(self.root, "log"), "a+", encoding="utf-8")  # noqa: SIM115
        )
        server = Server(self.logdir, *(arguments or ["--index", self.index]), stderr=log)
        return server, log

    def answers(self, server):
        """What a server says of the trace, and whether it says so from an index."""
        (run,) = server.ask("/api/runs").json()["runs"]
        trace = run["workers"][0]["spans"][0]["id"]
        self.assertEqual(server.loaded(trace)["phase"], "ready")
        views = ("meta", "summary", "overview", "operators", "names", "events/77", "download")
        bodies = [server.ask(f"/api/traces/{trace}/{view}").body for view in views]
        with open(f"/proc/{server.process.pid}/maps", encoding="utf-8") as maps:
            return bodies, ".tgix" in maps.read()

    def wait_until_saved(self):
        waited = threading.Event()  # never set: only its timeout is used, between two looks
        for _ in range(3000):
            if self.saved()[0]:
                return
            waited.wait(0.02)
        self.fail("nothing was saved within a minute")

    def visit(self, *arguments, until_saved=False):
        """(answers, from an index, lines of the log) of a server that has ended."""
        server, log = self.serve(*arguments)
        try:
            bodies, mapped = self.answers(server)
            if until_saved:
                self.wait_until_saved()
        finally:
            server.close()
        log.seek(0)
        lines = log.read().splitlines()
        log.truncate(0)
        return bodies, mapped, lines

    def test_a_line_a_file(self):
        write_trace(os.path.join(self.logdir, "v.pt.trace.json"), 10)
        with open(os.path.join(self.logdir, "bad.json"), "w", encoding="utf-8") as file:
            file.write("no trace")
        done = self.run_index()
        self.assertEqual(done.returncode, 1)
        self.assertEqual(len(done.stdout.splitlines()), 2)
        self.assertEqual(len(done.stderr.splitlines()), 1)
        self.assertIn("bad.json", done.stderr)
        self.assertIn(f"w.pt.trace.json  indexed, {EVENTS} events", done.stdout)
        again = self.run_index(self.trace)
        self.assertEqual(again.returncode, 0)
        self.assertEqual(again.stdout, f"{self.trace}  indexed before, {EVENTS} events\n")
        self.assertEqual(len(self.saved()[0]), 2)

    def test_a_server_opens_what_was_indexed(self):
        plain, mapped, _ = self.visit("--no-index")
        self.assertFalse(mapped)
        self.run_index()
        bodies, mapped, log = self.visit()
        self.assertTrue(mapped)
        self.assertEqual(bodies, plain)
        self.assertEqual(log, [])

    def test_a_server_saves_what_it_loaded(self):
        first, mapped, _ = self.visit(until_saved=True)
        self.assertFalse(mapped)
        second, mapped, log = self.visit()
        self.assertTrue(mapped)
        self.assertEqual(second, first)
        self.assertEqual(log, [])

    def test_a_changed_file_is_read_anew(self):
        self.run_index()
        write_trace(self.trace, first=1)  # as long
        plain, _, _ = self.visit("--no-index")
        bodies, mapped, log = self.visit()
        self.assertFalse(mapped)
        self.assertEqual(bodies, plain)
        self.assertEqual(log, [])

    def test_killed_while_writing(self):
        plain, _, _ = self.visit("--no-index")
        # By the size of what it has written: nothing, some, much.
        for part in (0, 100_000, 1_000_000, 3_000_000):
            process = subprocess.Popen(
                [BINARY, "index", self.trace, "--index", self.index], stdout=subprocess.DEVNULL
            )
            while process.poll() is None:
                others = [os.path.join(self.index, name) for name in self.saved()[1]]
                if any(self.size(path) >= part for path in others):
                    process.send_signal(signal.SIGKILL)
                    break
            process.wait()
            for name in self.saved()[0]:  # it was faster
                os.remove(os.path.join(self.index, name))
            bodies, mapped, log = self.visit("--index", self.index)
            self.assertFalse(mapped)
            self.assertEqual(bodies, plain)
            self.assertEqual(log, [])
            for name in self.saved()[0]:
                os.remove(os.path.join(self.index, name))

    @staticmethod
    def size(path):
        try:
            return os.stat(path).st_blocks * 512
        except FileNotFoundError:
            return -1

    def test_a_broken_one_is_said_and_made_anew(self):
        plain, _, _ = self.visit("--no-index")
        self.run_index()
        (name,) = self.saved()[0]
        path = os.path.join(self.index, name)
        with open(path, "rb") as file:
            whole = file.read()
        changed = bytearray(whole)
        changed[len(whole) // 2] ^= 4
        for bytes_ in (whole[: len(whole) // 2], bytes(changed), b"", b"\0" * len(whole)):
            os.remove(path)
            with open(path, "wb") as file:
                file.write(bytes_)
            os.chmod(path, 0o400)
            bodies, mapped, log = self.visit()
            self.assertFalse(mapped)
            self.assertEqual(bodies, plain)
            self.assertEqual(len(log), 1, log)
            self.assertIn("made anew", log[0])

    def test_without_room_a_load_goes_on(self):
        plain, _, _ = self.visit("--no-index")
        done = self.run_index(preexec_fn=lambda: limit_files(1_000_000))
        self.assertEqual(done.returncode, 1)
        self.assertIn("No index was saved", done.stderr)
        self.assertEqual(self.saved(), ([], []))
        occupied = os.path.join(self.root, "occupied")
        with open(occupied, "w", encoding="utf-8") as file:
            file.write("a file in the folder's place")
        for _ in range(2):
            bodies, mapped, log = self.visit("--index", os.path.join(occupied, "index"))
            self.assertFalse(mapped)
            self.assertEqual(bodies, plain)
            self.assertLessEqual(len(log), 1, log)

    def test_two_servers_at_once(self):
        plain, _, _ = self.visit("--no-index")
        one, _ = self.serve()
        other, _ = self.serve()
        try:
            self.assertEqual(self.answers(one)[0], plain)
            self.assertEqual(self.answers(other)[0], plain)
            self.wait_until_saved()
        finally:
            one.close()
            other.close()
        bodies, mapped, log = self.visit()
        self.assertTrue(mapped)
        self.assertEqual(bodies, plain)
        self.assertEqual(log, [])


def limit_files(size):
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


if __name__ == "__main__":
    unittest.main()
