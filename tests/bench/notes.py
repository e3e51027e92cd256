"""Notes with many looking and many kept: how soon a new one reaches everybody, what following costs
the server, and how long a list of a hundred thousand takes. One JSON object.

    notes.py BINARY
"""

import http.client
import json
import os
import re
import selectors
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time

FOLLOWERS = 50
NOTES = 40
MANY = 100_000
TICKS = os.sysconf("SC_CLK_TCK")


def serve(binary, logdir):
    process = subprocess.Popen(
        [binary, "serve", logdir, "--port", "0", "--exit-with-parent"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    return process, int(re.search(r":(\d+)/", process.stdout.readline()).group(1))


def ask(port, path, body=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    headers = {"Content-Type": "application/json", "X-Traceglass-Write": "1"}
    data = None if body is None else json.dumps(body)
    connection.request("GET" if body is None else "POST", path, data, headers if data else {})
    answer = connection.getresponse().read()
    connection.close()
    return answer


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def note(number):
    place = {"kind": "run", "run": f"run {number % 50}"}
    return {"text": f"note {number} on the slow kernel", "author": "Ann", "anchor": place}


def follow(port, received, ready):
    """One thread reads all connections, so that waiting for it is not what is measured."""
    chooser = selectors.DefaultSelector()
    for _ in range(FOLLOWERS):
        one = socket.create_connection(("127.0.0.1", port))
        one.sendall(b"GET /api/notes/events?after=0 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        while b"retry:" not in one.recv(4096):
            pass
        chooser.register(one, selectors.EVENT_READ)
    ready.set()
    left = FOLLOWERS * NOTES
    while left > 0:
        for key, _ in chooser.select(10):
            now = time.monotonic()
            for number in re.findall(rb"\nid: (\d+)|^id: (\d+)", key.fileobj.recv(1 << 16)):
                received[int(number[0] or number[1])].append(now)
                left -= 1


def live(binary):
    with tempfile.TemporaryDirectory() as logdir:
        process, port = serve(binary, logdir)
        received = {number: [] for number in range(1, NOTES + 1)}
        ready = threading.Event()
        reader = threading.Thread(target=follow, args=(port, received, ready))
        reader.start()
        ready.wait()
        before, began = cpu_seconds(process.pid), time.monotonic()
        sent = {}
        for number in range(1, NOTES + 1):
            sent[number] = time.monotonic()
            ask(port, "/api/notes", note(number))
            time.sleep(0.25)  # four notes a second: more than people write
        reader.join(30)
        took = time.monotonic() - began
        share = (cpu_seconds(process.pid) - before) / took
        process.stdin.close()
        process.wait()
    last = [max(received[n]) - sent[n] for n in sent]
    return {"worst_ms": 1e3 * max(last), "median_ms": 1e3 * statistics.median(last), "core": share}


def many(binary):
    with tempfile.TemporaryDirectory() as logdir:
        process, port = serve(binary, logdir)
        ask(port, "/api/notes", note(0))
        # Through the tables: each by the API would wait for the disk.
        path = os.path.join(logdir, ".traceglass", "notes.db")
        database = sqlite3.connect(path)
        with database:
            columns = [row[1] for row in database.execute("PRAGMA table_info(threads)")]
            (first,) = database.execute("SELECT * FROM threads")
            for number in range(2, MANY + 1):
                row = dict(zip(columns, first))
                row |= {"id": number, "changed": number, "run": f"run {number % 50}"}
                row["resolved_ms"] = 1 if number % 3 == 0 else None
                row["label"] = f"aten::op_{number % 997}"
                marks = ",".join("?" * len(columns))
                database.execute(f"INSERT INTO threads VALUES({marks})", [row[c] for c in columns])
                text = f"note {number} on the slow kernel"
                database.execute(
                    "INSERT INTO notes(id,thread,author,verified,text,created_ms) "
                    "VALUES(?,?,?,0,?,1)",
                    (number, number, f"person {number % 20}", text),
                )
                database.execute(
                    "INSERT INTO found(rowid,text,author,label) VALUES(?,?,?,?)",
                    (number, text, f"person {number % 20}", row["label"]),
                )
                database.execute(
                    "INSERT INTO changes(thread,note,what,who,at_ms) VALUES(?,?,'started','',1)",
                    (number, number),
                )
        database.close()
        questions = {
            "newest": "limit=50",
            "open": "state=open&limit=50",
            "run": "run=run%207&limit=50",
            "deep": "before=500&limit=50",
            "author": "author=person%203&limit=50",
            "rare word": "q=op_991&limit=50",
            "every word": "q=slow%20kernel&limit=50",
        }
        times = {}
        for name, query in questions.items():
            for _ in range(9):
                began = time.monotonic()
                answer = json.loads(ask(port, f"/api/notes?{query}"))
                times.setdefault(name, []).append(1e3 * (time.monotonic() - began))
                assert answer["threads"], name
        size = os.path.getsize(path)
        process.stdin.close()
        process.wait()
    return {"list_ms": {name: statistics.median(t) for name, t in times.items()}, "bytes": size}


if __name__ == "__main__":
    print(json.dumps({"live": live(sys.argv[1]), "many": many(sys.argv[1])}))
