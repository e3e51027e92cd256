"""Notes by the wire: followed live and without loss, kept whatever happens to the server or its
disk, and refused to whoever may not write: an attack list."""

import http.client
import json
import os
import resource
import signal
import sqlite3
import tempfile
import threading
import unittest

from contract import Contract
from server import Server
from small_logdir import trace, write
from test_contract import Asked, spans_of

WRITER = "writer-0123456789"
READER = "reader-0123456789"
RUN = {"kind": "run", "run": "."}


def note(text="x", anchor=None, **more):
    return {"text": text, "author": "Ann", "anchor": anchor or RUN, **more}


class Follower:
    """A connection to the events that stays open. `until` reads on to the event of that id."""

    def __init__(self, server, after=0, **headers):
        self.connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
        self.connection.request("GET", f"/api/notes/events?after={after}", headers=headers)
        self.response = self.connection.getresponse()
        self.ids = []

    def until(self, last):
        while last not in self.ids:
            line = self.response.readline().decode()
            if not line:
                raise AssertionError(f"the stream ended after {self.ids}")
            if line.startswith("id: "):
                self.ids.append(int(line[4:]))
        return self.ids

    def close(self):
        self.response.close()
        self.connection.close()


class NotesTest(unittest.TestCase):
    def folder(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return folder.name

    def serve(self, root, *options, **more):
        server = Server(root, *options, **more)
        self.addCleanup(server.close)
        return server

    def total(self, server):
        return server.ask("/api/notes?state=all").json()["total"]


class LiveTest(NotesTest):
    def test_everybody_sees_each_note_and_misses_none(self):
        server = self.serve(self.folder())
        followers = [Follower(server) for _ in range(20)]
        for follower in followers:
            self.addCleanup(follower.close)
            self.assertEqual(follower.response.getheader("content-type"), "text/event-stream")
        for number in range(1, 6):
            self.assertEqual(server.write("/api/notes", note(str(number))).status, 201)
        for follower in followers:
            self.assertEqual(follower.until(5), [1, 2, 3, 4, 5])
        again = Follower(server, **{"Last-Event-ID": "3"})  # a browser that comes back
        self.addCleanup(again.close)
        self.assertEqual(again.until(5), [4, 5])

    def test_another_server_on_the_same_notes(self):
        root = self.folder()
        one, other = self.serve(root), self.serve(root)
        follower = Follower(one)
        self.addCleanup(follower.close)
        other.write("/api/notes", note("from the other"))
        self.assertEqual(follower.until(1), [1])
        self.assertEqual(self.total(one), 1)

    def test_too_many_followers_are_told_to_ask(self):
        server = self.serve(self.folder())
        followers = [Follower(server) for _ in range(256)]
        try:
            self.assertTrue(all(one.response.status == 200 for one in followers))
            refused = Follower(server)
            self.assertEqual(refused.response.status, 503)
            self.assertEqual(json.loads(refused.response.read())["code"], "too_many")
            refused.close()
            server.write("/api/notes", note())  # everything else goes on
            self.assertEqual(len(server.ask("/api/notes/changes").json()["changes"]), 1)
        finally:
            for one in followers:
                one.close()


class KeptTest(NotesTest):
    def test_no_note_is_lost_to_kill_9(self):
        root = self.folder()
        answered = []
        for turn in range(3):
            server = Server(root)
            stop = threading.Event()

            def write_on(server=server, stop=stop, turn=turn):
                number = 0
                while not stop.is_set():
                    text = f"{turn}-{number}"
                    try:
                        answer = server.write("/api/notes", note(text))
                    except (OSError, http.client.HTTPException):
                        return
                    if answer.status == 201:
                        answered.append(text)
                    number += 1

            threads = [threading.Thread(target=write_on) for _ in range(2)]
            for thread in threads:
                thread.start()
            follower = Follower(server, after=len(answered))
            follower.until(len(answered) + 20)  # it is in the midst of writing
            os.kill(server.process.pid, signal.SIGKILL)
            server.process.wait()
            stop.set()
            for thread in threads:
                thread.join()
            follower.close()
            server.process.stdin.close()
            server._reader.join()
            server.process.stdout.close()
        server = self.serve(root)
        exported = server.ask("/api/notes/export?format=json").json()["threads"]
        kept = {thread["notes"][0]["text"] for thread in exported}
        self.assertEqual(set(answered) - kept, set(), "answered and not there")
        database = sqlite3.connect(os.path.join(root, ".traceglass", "notes.db"))
        self.assertEqual(database.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
        database.close()

    def test_a_full_disk_is_said_and_the_rest_goes_on(self):
        root = self.folder()
        path = os.path.join(self.folder(), "run", "w.pt.trace.json")
        write(path, json.dumps(trace(0)).encode(), 1_700_000_000)
        largest = 400 << 10

        def small_disk():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))

        server = self.serve(
            os.path.dirname(os.path.dirname(path)),
            "--notes",
            os.path.join(root, "n.db"),
            preexec_fn=small_disk,
        )
        written = 0
        while (answer := server.write("/api/notes", note("x" * 60_000))).status == 201:
            written += 1
            self.assertLess(written, 100)
        self.assertEqual(answer.status, 507)
        self.assertEqual(answer.json()["code"], "full")
        self.assertEqual(self.total(server), written)
        ((_, _, span),) = spans_of(server.ask("/api/runs").json())
        self.assertEqual(server.loaded(span["id"])["phase"], "ready")

    def test_a_locked_file_is_said_and_the_rest_goes_on(self):
        root = self.folder()
        server = self.serve(root)
        server.write("/api/notes", note())
        other = sqlite3.connect(os.path.join(root, ".traceglass", "notes.db"))
        other.execute("BEGIN IMMEDIATE")
        answer = server.write("/api/notes", note())
        self.assertEqual((answer.status, answer.json()["code"]), (503, "locked"))
        self.assertEqual(self.total(server), 1)
        self.assertEqual(server.ask("/api/runs").status, 200)
        other.close()
        self.assertEqual(server.write("/api/notes", note()).status, 201)

    def test_what_is_no_notes_file_is_said_and_left(self):
        root = self.folder()
        path = os.path.join(root, "notes.db")
        with open(path, "wb") as file:
            file.write(b"no database" * 100)
        server = self.serve(root, "--notes", path)
        answer = server.write("/api/notes", note())
        self.assertEqual((answer.status, answer.json()["code"]), (500, "broken"))
        self.assertFalse(server.ask("/api/session").json()["may_write"])
        self.assertEqual(server.ask("/api/runs").status, 200)
        with open(path, "rb") as file:
            self.assertEqual(file.read(), b"no database" * 100)


class PlaceTest(NotesTest):
    def test_found_again_in_a_newer_profile_or_lost(self):
        root = self.folder()
        first = trace(0)
        second = trace(0)
        second["baseTimeNanoseconds"] += 60_000_000_000
        # The newer one has another step name, other times, and one op more in its first step.
        for row in second["traceEvents"]:
            row["name"] = row["name"].replace("ProfilerStep#1", "ProfilerStep#11")
            if "dur" in row and row["name"] == "aten::mm":
                row["dur"] += 3
        extra = next(r for r in second["traceEvents"] if r["name"] == "aten::add_")
        second["traceEvents"].append({**extra, "ts": extra["ts"] + 21})
        for number, made in ((1, first), (2, second)):
            name = f"w.170000000000000000{number}.pt.trace.json"
            write(os.path.join(root, "run", name), json.dumps(made).encode(), 1_700_000_000)
        server = self.serve(root)
        ask = Asked(server, Contract())
        spans = [span for _, _, span in spans_of(ask("getRuns").json())]
        one, two = (span["id"] for span in sorted(spans, key=lambda span: span["index"]))
        for id in (one, two):
            self.assertEqual(server.loaded(id)["phase"], "ready")
        names = {}
        for name in ("aten::mm", "aten::add_"):
            hit = ask("search", path={"id": one}, q=name).json()["hit"]
            place = {"kind": "event", "trace": one, "event": hit["id"]}
            names[ask("startThread", body=note("here", place)).json()["id"]] = name
        for place in (
            {"kind": "range", "trace": one, "start_ns": 5, "end_ns": 900_000, "label": "range"},
            {"kind": "row", "trace": one, "table": "operators", "name": "aten::linear"},
            {"kind": "row", "trace": one, "table": "kernels", "name": "no such kernel"},
            {"kind": "view", "trace": one, "view": "memory"},
            {"kind": "run", "run": "run", "label": "run"},
        ):
            thread = ask("startThread", body=note("here", place)).json()
            names[thread["id"]] = thread["anchor"]["label"]
        self.assertEqual(len(names), 7)
        states = {}
        for id in (one, two):
            found = ask("getNoteAnchors", id=id).json()["anchors"]
            states[id] = {names[a["thread"]]: a for a in found}
        self.assertEqual({a["state"] for a in states[one].values()}, {"here"})
        newer = {name: a["state"] for name, a in states[two].items()}
        self.assertEqual(
            newer,
            {
                "aten::mm": "found",
                "aten::add_": "lost",
                "range": "lost",
                "aten::linear": "found",
                "no such kernel": "lost",
                "memory": "found",
                "run": "here",
            },
        )
        event = ask("getEvent", path={"id": two, "event": states[two]["aten::mm"]["event"]}).json()
        self.assertEqual((event["name"], event["step"]), ("aten::mm", "ProfilerStep#11"))
        self.assertIn("1 alike", states[two]["aten::add_"]["reason"])
        self.assertIn("here are 2", states[two]["aten::add_"]["reason"])

    def test_wrong_places(self):
        root = self.folder()
        write(os.path.join(root, "w.pt.trace.json"), json.dumps(trace(0)).encode(), 1_700_000_000)
        server = self.serve(root)
        ((_, _, span),) = spans_of(server.ask("/api/runs").json())
        server.loaded(span["id"])
        ok = {"kind": "event", "trace": span["id"], "event": 1}
        for wrong, status in (
            ({**ok, "event": 10**9}, 422),
            ({**ok, "event": "1"}, 422),
            ({**ok, "event": None}, 422),
            ({**ok, "kind": "table"}, 422),
            ({**ok, "kind": ["event"]}, 422),
            ({**ok, "trace": "../../etc/passwd"}, 404),
            ({**ok, "trace": 7}, 422),
            ({**ok, "generation": "stale"}, 409),
            ({**ok, "label": "x" * 5000}, 422),
            ({"kind": "range", "trace": span["id"], "start_ns": 5, "end_ns": 1}, 422),
            ({"kind": "row", "trace": span["id"]}, 422),
            ({"kind": "view", "trace": span["id"]}, 422),
            ({"kind": "run"}, 422),
        ):
            with self.subTest(wrong):
                answer = server.write("/api/notes", note("x", wrong))
                self.assertEqual(answer.status, status)
                self.assertTrue(answer.json()["detail"])
        for wrong in ([], {}, note(""), note(" \n"), note(7), note("\0"), note(author=""), "x"):
            with self.subTest(wrong):
                self.assertEqual(server.write("/api/notes", wrong).status, 422)
        self.assertEqual(server.write("/api/notes", b"{").status, 422)
        self.assertEqual(server.write("/api/notes", b'{"text": "\xff"}').status, 422)
        self.assertEqual(server.write("/api/notes", b"[" * 100_000).status, 422)
        self.assertEqual(self.total(server), 0)


class AttackTest(NotesTest):
    """Each of the ways in that a stranger would try."""

    def tokens(self):
        path = os.path.join(self.folder(), "tokens")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"write {WRITER}\nread {READER}\n")
        os.chmod(path, 0o600)
        return path

    def test_a_form_or_page_of_another_site_writes_nothing(self):
        server = self.serve(self.folder())
        for own in (
            {"X_Traceglass_Write": None},
            {"Origin": "http://evil.example"},
            {"Origin": "null"},
            {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "cors"},
            {"Content_Type": "text/plain"},
            {"Content_Type": "application/x-www-form-urlencoded"},
            {"Content_Type": "multipart/form-data; boundary=x"},
        ):
            with self.subTest(own):
                answer = server.write("/api/notes", note(), **own)
                self.assertIn(answer.status, (403, 415))
        preflight = server.ask("/api/notes", "OPTIONS", Origin="http://evil.example")
        self.assertFalse([h for h in preflight.headers if h.startswith("access-control")])
        self.assertEqual(self.total(server), 0)

    def test_a_name_that_is_rebound_to_us_is_no_name_of_ours(self):
        server = self.serve(self.folder())
        for host in ("evil.example", "127.0.0.1.evil.example", "localhost.evil.example"):
            self.assertEqual(server.ask("/api/notes", Host=host).status, 403)
            self.assertEqual(server.write("/api/notes", note(), Host=host).status, 403)

    def test_paths_lead_nowhere_else(self):
        server = self.serve(self.folder())
        for path in (
            "/api/notes/../../etc/passwd",
            "/api/notes/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
            "/.traceglass/notes.db",
            "/api/notes/1/history",
            "/api/notes/-1",
            "/api/notes/1e3",
            "/api/notes/99999999999999999999",
            "/api/notes/1/2/history",
        ):
            answer = server.ask(path)
            self.assertIn(answer.status, (400, 404), path)
            self.assertNotIn(b"root:", answer.body)

    def test_tokens_are_needed_not_guessed_and_not_equal(self):
        server = self.serve(self.folder(), "--token-file", self.tokens())
        self.assertEqual(server.ask("/api/notes").status, 401)
        self.assertEqual(server.ask("/api/runs").status, 401)
        self.assertEqual(server.ask("/api/notes/events").status, 401)
        self.assertEqual(server.ask("/api/notes", X_Traceglass_Token=READER).status, 200)
        denied = server.write("/api/notes", note(), X_Traceglass_Token=READER)
        self.assertEqual((denied.status, denied.json()["code"]), (403, "may_not_write"))
        allowed = server.write("/api/notes", note(), X_Traceglass_Token=WRITER)
        self.assertEqual(allowed.status, 201)
        # A token in an address may have been seen by others: it does not write.
        seen = server.write(f"/api/notes?token={WRITER}", note())
        self.assertEqual(seen.status, 401)
        signed = server.write("/api/session", {"token": WRITER})
        cookie = signed.headers["set-cookie"]
        for part in ("HttpOnly", "SameSite=Strict", "Path=/"):
            self.assertIn(part, cookie)
        own = {"Cookie": cookie.partition(";")[0]}
        self.assertEqual(server.write("/api/notes", note(), **own).status, 201)
        # With the cookie sent along, another site still does not write.
        forged = server.write("/api/notes", note(), Origin="http://evil.example", **own)
        self.assertEqual(forged.status, 403)
        statuses = [server.write("/api/session", {"token": f"guess-{i}"}).status for i in range(30)]
        self.assertEqual(statuses[0], 401)
        self.assertEqual(statuses[-1], 429)
        self.assertLess(statuses.count(401), 15)

    def test_a_users_name_is_the_proxys_word_only_from_the_proxy(self):
        options = ["--user-header", "X-User", "--trusted-proxy"]
        trusted = self.serve(self.folder(), *options, "127.0.0.1")
        answer = trusted.write("/api/notes", note(), X_User="grace").json()
        by = (answer["notes"][0]["author"], answer["notes"][0]["verified"])
        self.assertEqual(by, ("grace", True))
        stranger = self.serve(self.folder(), *options, "10.9.8.7")
        answer = stranger.write("/api/notes", note(), X_User="grace").json()
        by = (answer["notes"][0]["author"], answer["notes"][0]["verified"])
        self.assertEqual(by, ("Ann", False))

    def test_a_huge_note_is_refused_and_the_server_lives(self):
        server = self.serve(self.folder())
        answer = server.write("/api/notes", note("x" * 70_000))
        self.assertEqual(answer.status, 422)
        self.assertIn("64 KiB", answer.json()["detail"])
        try:
            status = server.write("/api/notes", note("x" * (1 << 20))).status
        except (BrokenPipeError, ConnectionResetError):
            status = 413  # refused before all of it was sent
        self.assertEqual(status, 413)
        self.assertEqual(server.write("/api/notes", note("x" * (64 << 10))).status, 201)

    def test_hostile_text_stays_text(self):
        server = self.serve(self.folder())
        hostile = "<script>alert(1)</script>\n\nid: 99\nevent: reset\ndata: {}\n\n\u2028\u202e"
        author = "Eve\r\nSet-Cookie: a=b\x1b[31m"
        answer = server.write(
            "/api/notes", note(hostile, {"kind": "run", "run": hostile}, author=author)
        )
        self.assertEqual(answer.status, 201)
        self.assertEqual(answer.json()["notes"][0]["text"], hostile)
        self.assertEqual(answer.json()["notes"][0]["author"], "Eve Set-Cookie: a=b [31m")
        follower = Follower(server)
        self.addCleanup(follower.close)
        server.write("/api/notes", note("second"))
        self.assertEqual(follower.until(2), [1, 2])  # no event of its own making
        for query in ("q=%22%20OR%20%22", "q=a*%20NEAR(", "run=%27%20OR%201=1--", "author=%00"):
            self.assertEqual(server.ask(f"/api/notes?{query}").status, 200, query)
        markdown = server.ask("/api/notes/export").body.decode()
        self.assertNotIn("\n<script>", markdown)


if __name__ == "__main__":
    unittest.main()
