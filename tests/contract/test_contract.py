"""Every operation, for every trace, answers what openapi.yaml says; errors do too."""

import glob
import gzip
import json
import os
import struct
import tempfile
import unittest
from urllib.parse import quote, urlencode

import small_logdir
from contract import ROOT, Contract
from server import Server

SHARED = os.environ.get("TRACEGLASS_SHARED", os.path.join(os.path.dirname(ROOT), "shared"))
FIXTURES = os.path.join(SHARED, "fixtures")
LARGEST_FIXTURE = 3_000_000  # bytes; the larger ones say nothing more about the contract


def tiles_of(body):
    """The headers of tiles one after another, by TILE_FORMAT.md."""
    at, tiles = 0, []
    while at < len(body):
        magic, version, k, i, group, count, rows, size = struct.unpack_from("<IHHqIIII", body, at)
        assert (magic, version) == (0x314C5447, 1), "tile header"
        assert size >= 64 and size % 8 == 0, "tile size"
        tiles.append({"k": k, "i": i, "group": group, "n": count, "rows": rows})
        at += size
    assert at == len(body), "bytes after the last tile"
    return tiles


class Asked:
    """Asks operations of one server and holds every answer against the contract."""

    def __init__(self, server, contract):
        self.server = server
        self.contract = contract
        self.operations = set()

    def __call__(self, operation_id, headers=None, path=None, body=None, **query):
        template, _ = self.contract.operations[operation_id]
        for name, value in (path or {}).items():
            template = template.replace("{" + name + "}", quote(str(value), safe=""))
        given = {key: value for key, value in query.items() if value is not None}
        target = f"{template}?{urlencode(given)}" if given else template
        method = self.contract.methods[operation_id]
        if method == "GET":
            answer = self.server.ask(target, **(headers or {}))
        else:
            answer = self.server.write(target, body, method, **(headers or {}))
        try:
            self.contract.check(operation_id, answer)
        except AssertionError as error:
            raise AssertionError(f"{method} {target}: {error}") from None
        self.operations.add(operation_id)
        return answer


def settled(ask, operation, **query):
    """The answer about all ranks of a run, once each of them was read."""
    while (answer := ask(operation, **query)).status == 202:
        assert answer.json()["ranks_done"] <= answer.json()["ranks_total"]
    return answer.json()


def ask_everything(ask, trace):
    """Every operation about one loaded trace, with arguments that the trace itself names."""
    path = {"id": trace}
    meta = ask("getMeta", path=path).json()
    ask("getSummary", path=path)
    steps = [None] + (["0"] if meta["steps"] else []) + (["0-1"] if len(meta["steps"]) > 1 else [])
    for chosen in steps:
        overview = ask("getOverview", path=path, steps=chosen).json()
        for group in ("name", "shape", "stack"):
            for kind in ("op", "annotation"):
                ask("getOperators", path=path, steps=chosen, group=group, kind=kind)
        idle = ask("getIdle", path=path, steps=chosen).json()
        for device in idle["devices"]:
            assert sum(cause["ns"] for cause in device["causes"]) == device["idle_ns"], "idle"
        critical = ask("getCriticalPath", path=path, steps=chosen).json()
        assert sum(part["ns"] for part in critical["parts"]) == critical["mean_step_ns"], "parts"
        tiles = critical["path"]
        assert all(a["end_ns"] == b["start_ns"] for a, b in zip(tiles, tiles[1:])), "path"
        ranks = settled(ask, "getCriticalPathRanks", path=path, steps=chosen)
        assert len(ranks["waits"]) <= ranks["collectives"] and ranks["sentence"], "path over ranks"
        for group in ("name", "launch"):
            ask("getKernels", path=path, steps=chosen, group=group)
        memory = ask("getMemory", path=path, steps=chosen, points=64).json()
        ask_modules(ask, path, chosen)
        for group in ("operator", "kernel"):
            roofline = ask("getRoofline", path=path, steps=chosen, group=group).json()
            assert roofline["known_ns"] == sum(row["ns"] for row in roofline["rows"]), "known"
            keys = {(r["name"], r.get("input_shapes"), r["precision"]) for r in roofline["rows"]}
            assert len(keys) == len(roofline["rows"]), "rows are told apart"
            assert roofline["far_below_ns"] <= roofline["roofed_ns"] <= roofline["known_ns"]
    for row in overview["top_operators"][:2] + overview["top_host"][:2]:
        if not row["name"].startswith("("):  # (no launch), (no operator): rows that are no operator
            ask("getOperator", path=path, name=row["name"])
    for device in memory["devices"]:
        ask("getMemoryBlocks", path=path, type=device["type"], device=device["id"], limit=50)
    names = ask("getNames", path=path).json()
    assert len(names["names"]) == meta["name_count"], "name_count"
    ask("getNames", path=path, **{"from": len(names["names"])})
    ask_timeline(ask, path, meta, names["names"])


def ask_modules(ask, path, steps):
    modules = ask("getModules", path=path, steps=steps).json()
    rows = modules["rows"]
    assert modules["device_ns"] == modules["no_module"]["device_ns"] + sum(
        row["device_self_ns"] + row["backward_device_self_ns"] for row in rows
    ), "device work is shared out"
    before = set()
    for row in rows:
        assert ("parent" not in row) == (row["depth"] == 0), row
        assert row.get("parent") in {None, *before}, "a parent stands before its rows"
        before.add(row["id"])
    for row in [row for row in rows if row["calls"] > 0][:3]:
        detail = ask("getModule", path=path, steps=steps, module=row["id"]).json()
        assert detail["row"] == row, "the row opened is the row of the table"
        assert len(detail["path"]) == row["depth"] + 1, "path"
        if detail["instance_count"] == len(detail["instances"]):
            total = sum(instance["device_ns"] for instance in detail["instances"])
            assert total == row["device_total_ns"], "instances sum to the row"


def ask_timeline(ask, path, meta, names):
    start, end = meta["range"]["start_ns"], meta["range"]["end_ns"]
    groups = [group["id"] for group in meta["groups"]]
    k = max(0, (max(1, end - start) // 1024).bit_length())
    wanted = ",".join(map(str, groups))
    events = []
    if groups:
        query = {"k": k, "i": "0-1", "g": wanted, "gen": meta["generation"]}
        binary = ask("getTiles", path=path, **query)
        parsed = ask("getTiles", path=path, **query, format="json").json()
        headers = [(t["k"], t["i"], t["group"], t["n"], t["rows"]) for t in tiles_of(binary.body)]
        told = [(t["k"], t["i"], t["group"], len(t["start"]), t["rows"]) for t in parsed]
        assert headers == told, "binary and JSON tiles differ"
        assert [h[1:3] for h in headers] == [(i, g) for g in groups for i in (0, 1)], "tile order"
        events = [event for tile in parsed for event in tile["id"]][:40:8]
        stale = ask("getTiles", path=path, **{**query, "gen": "stale"})
        assert stale.status == 409, f"another generation answers {stale.status}"
    ask("getCounters", path=path, t0=start, t1=max(end, start + 1), n=100)
    for event in events:
        ask("getEvent", path={**path, "event": event})
        for direction in (
            "next",
            "prev",
            "parent",
            "flow_in",
            "flow_out",
            "next_same",
            "prev_same",
        ):
            ask("getNeighbour", path={**path, "event": event}, dir=direction)
    assert meta["group_count"] >= len(groups), "groups"
    ask("getGroups", path=path, q="stream", n=3)
    if groups:
        listed = ask("getGroups", path=path, ids=f"{groups[0]}-{groups[-1]}").json()["groups"]
        assert listed == meta["groups"] or meta["group_count"] > len(groups), "groups by their ids"
    busy = ask("getBusy", path=path, n=100).json()
    for lane in (busy["host"], busy["device"]):
        assert lane is None or len(lane["share"]) == len(lane["kind"]) == 100, "parts"
    few = ask("getNames", path=path, **{"from": 1}, n=2).json()["names"]
    assert few == ask("getNames", path=path).json()["names"][1:3], "a part of the names"
    ask("search", path=path, q="/^aten::.*m$/")
    hits = ask("search", path=path, q=names[0][:8] if names and names[0] else "aten").json()
    if hits["hit"]:
        for direction in ("next", "prev"):
            ask("search", path=path, q="a", after=hits["hit"]["id"], dir=direction)
    for query in ({}, {"t0": start, "t1": start + max(1, (end - start) // 4)}):
        part = ask("download", path=path, **query)
        assert "traceEvents" in json.loads(gzip.decompress(part.body)), "a part of the trace"
    assert ask("download", path=path, t0=5, t1=5).status == 422
    for by in ("name", "kind", "track"):
        ask("getArea", path=path, t0=start, t1=end, g=wanted or "0", by=by)


def ask_metrics(ask, trace):
    """Scalars of the same log directory; test_metrics.py looks at what they say."""
    (run,) = ask("getMetrics", near="run").json()["runs"]
    assert run["related"] and run["tags"], run
    ask("getMetricSeries", run=run["name"], tag=run["tags"][0]["tag"], smoothing=0.5)
    assert ask("getMetricMarks", run=run["name"]).json()["count"] > 0
    assert ask("getMetricsAt", id=trace).json()["rows"]


def ask_notes(ask, trace):
    """One thread through its life; test_notes.py looks at what is kept, seen and refused."""
    assert ask("getSession").json()["may_write"]
    place = {"kind": "event", "trace": trace, "event": 0}
    started = ask("startThread", body={"text": "slow", "author": "Ann", "anchor": place})
    thread = {"thread": started.json()["id"]}
    replied = ask("reply", path=thread, body={"text": "yes", "author": "Bob"}).json()
    assert [note["author"] for note in replied["notes"]] == ["Ann", "Bob"]
    note = {**thread, "note": replied["notes"][1]["id"]}
    ask("editNote", path=note, body={"text": "no", "author": "Bob"})
    assert ask("getNoteHistory", path=note).json()["edits"][0]["text"] == "yes"
    ask("resolveThread", path=thread, body={"resolved": True, "author": "Bob"})
    assert ask("getNotes", state="resolved", q="slow").json()["total"] == 1
    assert ask("getThread", path=thread).json()["resolved_by"] == "Bob"
    (found,) = ask("getNoteAnchors", id=trace).json()["anchors"]
    assert (found["state"], found["event"]) == ("here", 0), found
    ask("removeNote", path=note, author="Bob")
    changes = ask("getNoteChanges").json()["changes"]
    # Of a thread the newest change says what it is now.
    assert [change["seq"] for change in changes] == [5]
    for kind in ("markdown", "json"):
        assert b"slow" in ask("exportNotes", format=kind).body
    assert ask("signIn", body={"token": "x"}).status == 422, "no token is needed here"
    # An answer without an end: test_notes.py follows it.
    assert ask("followNotes", headers={"Sec_Fetch_Site": "cross-site"}).status == 403


def ask_comparison(ask, a, b):
    """The difference is the sum of its parts, and turns its sign when A and B are exchanged."""
    forth = ask("getComparison", a=a, b=b).json()
    back = ask("getComparison", a=b, b=a).json()
    assert forth["delta_ns"] == -back["delta_ns"], "exchanged"
    assert forth["delta_ns"] == forth["b"]["mean_ns"] - forth["a"]["mean_ns"], "difference"
    if forth["verdict"] == "nothing":
        assert forth["notes"], "nothing to compare, and no word of why"
        return
    for side in ("a", "b"):
        total = sum(part[f"{side}_ns"] for part in forth["parts"])
        assert total == forth[side]["mean_ns"], "parts"
    turned = {part["category"]: -part["delta_ns"] for part in back["parts"]}
    for part in forth["parts"]:
        assert part["delta_ns"] == turned[part["category"]], "a part exchanged"
        if "split" in part:
            split = part["split"]
            whole = split["calls_ns"] + split["per_call_ns"] + split["overlap_ns"]
            assert whole == part["delta_ns"], "split of a part"
    if a == b:
        assert forth["verdict"] == "equal" and not forth["blocks"], "a trace and itself"
        assert not any(row["delta_ns"] for row in forth["rows"]), "rows of a trace and itself"


def spans_of(runs):
    return [
        (run["name"], worker["name"], span)
        for run in runs["runs"]
        for worker in run["workers"]
        for span in worker["spans"]
    ]


class SmallLogdirTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.wrong = small_logdir.make(folder.name)
        page = tempfile.TemporaryDirectory()
        cls.addClassCleanup(page.cleanup)
        with open(os.path.join(page.name, "index.html"), "w", encoding="utf-8") as file:
            file.write("<!doctype html><title>page</title>")
        cls.server = Server(folder.name, "--web-dir", page.name)
        cls.addClassCleanup(cls.server.close)
        cls.contract = Contract()
        cls.ask = Asked(cls.server, cls.contract)
        cls.spans = {span["file"]: span for _, _, span in spans_of(cls.ask("getRuns").json())}
        cls.statuses = {}
        for file, span in cls.spans.items():
            cls.ask("getStatus", path={"id": span["id"]})
            cls.ask("getLoads")
            cls.statuses[file] = cls.server.loaded(span["id"])

    def good(self):
        return next(s["id"] for file, s in self.spans.items() if file.startswith("run/node_1"))

    def test_nothing_loads_in_the_end(self):
        self.assertEqual(self.ask("getLoads").json(), {"loads": []})

    def test_every_operation(self):
        for file, span in self.spans.items():
            if file in self.wrong:
                continue
            with self.subTest(file):
                self.assertEqual(self.statuses[file]["phase"], "ready", self.statuses[file])
                ask_everything(self.ask, span["id"])
        collectives = settled(self.ask, "getCollectives", run="run")["collectives"]
        self.assertTrue(collectives)
        for query in ({}, {"span": 1, "columns": "step"}, {"steps": "1-2"}, {"steps": "99"}):
            seen = settled(self.ask, "getDistributed", run="run", **query)
            self.assertEqual([r["rank"] for r in seen["ranks"]], [0, 1])
        self.assertEqual(seen["matched"], 0)
        self.check_path_over_ranks()
        ask_metrics(self.ask, self.good())
        ask_notes(self.ask, self.good())
        for a, b in self.pairs():
            with self.subTest(a=a, b=b):
                ask_comparison(self.ask, self.spans[a]["id"], self.spans[b]["id"])
        untried = set(self.contract.operations) - self.ask.operations
        self.assertFalse(untried, "operations without a case in this test")

    def check_path_over_ranks(self):
        """Rank 1 enters each all-reduce 20 us after rank 0, which waits for that long."""
        ids = {int(f.split("node_")[1][0]): s["id"] for f, s in self.spans.items() if "node_" in f}
        for rank in (0, 1):
            for position in range(3):
                answer = settled(
                    self.ask, "getCriticalPathRanks", path={"id": ids[rank]}, step=position
                )
                for wait in answer["waits"]:
                    self.assertEqual(
                        (rank, wait["late"]["rank"], wait["late"]["id"]), (0, 1, ids[1])
                    )
                    self.assertEqual(wait["wait_ns"], 20_000)
                    self.assertIn("Rank 1 comes 20.0 µs later", wait["sentence"])

    def pairs(self):
        """Each trace that loads against the next, and one against itself."""
        files = [file for file in self.spans if file not in self.wrong]
        return list(zip(files, files[1:] + files[:1])) + [(files[-1], files[-1])]

    def test_wrong_files_are_named(self):
        for file, code in self.wrong.items():
            with self.subTest(file):
                status = self.statuses[file]
                self.assertEqual(status["phase"], "error")
                self.assertEqual(status["error"]["code"], code)
                answer = self.ask("getMeta", path={"id": self.spans[file]["id"]})
                self.assertGreaterEqual(answer.status, 400)
                problem = answer.json()
                self.assertEqual(problem["code"], code)
                self.assertTrue(problem.get("detail"))

    def test_problems(self):
        good = {"id": self.good()}
        generation = self.ask("getMeta", path=good).json()["generation"]
        tiles = {"k": "3", "i": "0", "g": "0", "gen": generation}
        cases = [
            ("getMeta", 404, {"id": "0" * 16}, {}),
            ("getMeta", 404, {"id": "../../etc/passwd"}, {}),
            ("getOverview", 422, good, {"steps": "x"}),
            ("getOverview", 422, good, {"steps": "7-2"}),
            ("getOperators", 422, good, {"group": "none"}),
            ("getOperators", 422, good, {"kind": "none"}),
            ("getOperator", 422, good, {}),
            ("getOperator", 404, good, {"name": "no such operator"}),
            ("getKernels", 422, good, {"group": "none"}),
            ("getMemory", 422, good, {"points": "1"}),
            ("getMemoryBlocks", 422, good, {"type": "cuda", "device": "x"}),
            ("getRoofline", 422, good, {"group": "module"}),
            ("getModules", 422, good, {"steps": "x"}),
            ("getModule", 404, good, {"module": "4000000000"}),
            ("getModule", 422, good, {"module": "x"}),
            ("getNames", 422, good, {"from": "-1"}),
            ("getTiles", 422, good, {**tiles, "k": "99"}),
            ("getTiles", 422, good, {**tiles, "i": "5-3"}),
            ("getTiles", 422, good, {**tiles, "i": "0-999999999"}),
            ("getTiles", 422, good, {**tiles, "g": "a"}),
            ("getTiles", 422, good, {**tiles, "format": "xml"}),
            ("getCounters", 422, good, {"t0": "0", "t1": "1", "n": "0"}),
            ("getCounters", 422, good, {"t0": "99999999999999999999", "t1": "1"}),
            ("getEvent", 404, {**good, "event": 99999999}, {}),
            ("getEvent", 404, {**good, "event": "x"}, {}),
            ("getNeighbour", 422, {**good, "event": 0}, {"dir": "up"}),
            ("search", 422, good, {"q": ""}),
            ("search", 422, good, {"q": "/(/"}),
            ("getGroups", 422, good, {"ids": "5-2"}),
            ("getBusy", 422, good, {"n": 0}),
            ("search", 422, good, {"q": "a", "dir": "up"}),
            ("getArea", 422, good, {"t0": "0", "t1": "x", "g": "0"}),
            ("getCollectives", 404, {}, {"run": "no such run"}),
            ("getCollectives", 422, {}, {}),
            ("getDistributed", 404, {}, {"run": "no such run"}),
            ("getDistributed", 404, {}, {"run": "run", "span": "7"}),
            ("getDistributed", 422, {}, {"run": "run", "steps": "5-3"}),
            ("getDistributed", 422, {}, {"run": "run", "columns": "rank"}),
            ("getCriticalPathRanks", 404, {"id": "0" * 16}, {}),
            ("getCriticalPathRanks", 422, good, {"step": "99"}),
            ("getComparison", 422, {}, {"a": good["id"]}),
            ("getComparison", 422, {}, {"b": good["id"]}),
            ("getComparison", 404, {}, {"a": good["id"], "b": "0" * 16}),
            ("getComparison", 404, {}, {"a": "../../etc/passwd", "b": good["id"]}),
            ("getComparison", 422, {}, {"a": good["id"], "b": good["id"], "steps_a": "x"}),
            ("getComparison", 422, {}, {"a": good["id"], "b": good["id"], "steps_b": "99"}),
        ]
        for operation, status, path, query in cases:
            with self.subTest(operation, **query):
                answer = self.ask(operation, path=path, **query)
                self.assertEqual(answer.status, status)
                self.assertEqual(answer.json()["status"], answer.status)
                self.assertTrue(answer.json()["title"])

    def test_unknown_paths_and_methods(self):
        for path in ("/api/none", "/api/traces", "/api/traces/%2e%2e/meta", "/api/%00"):
            answer = self.server.ask(path)
            self.assertIn(answer.status, (400, 404), path)
        for method in ("POST", "PUT", "DELETE"):
            self.assertEqual(self.server.ask("/api/runs", method).status, 403, method)
            self.assertEqual(self.server.write("/api/runs", {}, method).status, 405, method)

    def test_etag_and_gzip(self):
        path = {"id": self.good()}
        event = {**path, "event": 0}
        for operation, at, query in (
            ("getMeta", path, {}),
            ("getOverview", path, {}),
            ("getOperators", path, {}),
            ("getOperator", path, {"name": "aten::mm"}),
            ("getKernels", path, {}),
            ("getMemoryBlocks", path, {"type": "cuda", "device": 0}),
            ("getNames", path, {}),
            ("getCounters", path, {"t0": 0, "t1": 1000}),
            ("getEvent", event, {}),
            ("getNeighbour", event, {"dir": "next"}),
            ("search", path, {"q": "aten"}),
            ("getArea", path, {"t0": 0, "t1": 1000, "g": "0"}),
            ("getComparison", {}, {"a": path["id"], "b": path["id"], "steps_a": "0"}),
        ):
            with self.subTest(operation):
                first = self.ask(operation, path=at, **query)
                self.assertEqual(first.status, 200)
                etag = first.headers["etag"]
                again = self.ask(operation, path=at, headers={"If_None_Match": etag}, **query)
                self.assertEqual(again.status, 304)
                packed = self.ask(operation, path=at, headers={"Accept_Encoding": "gzip"}, **query)
                if packed.headers.get("content-encoding") == "gzip":
                    self.assertEqual(packed.json(), first.json())
        big = self.server.ask(f"/api/traces/{path['id']}/meta", Accept_Encoding="gzip")
        self.assertEqual(big.headers.get("content-encoding"), "gzip")

    def test_page_and_its_policy(self):
        answer = self.server.ask("/")
        self.assertEqual(answer.status, 200)
        self.assertIn("default-src", answer.headers["content-security-policy"])
        self.assertNotIn("unsafe-eval", answer.headers["content-security-policy"])

    def test_foreign_host_is_refused(self):
        self.assertEqual(self.server.ask("/api/runs", Host="evil.example").status, 403)
        self.assertEqual(
            self.server.ask("/api/runs", Host=f"localhost:{self.server.port}").status, 200
        )


class SecretTest(unittest.TestCase):
    def test_secret_is_needed(self):
        with tempfile.TemporaryDirectory() as folder:
            server = Server(folder, env={"TRACEGLASS_SECRET": "s3cret"})
            try:
                self.assertEqual(server.ask("/api/runs").status, 403)
                self.assertEqual(server.ask("/api/runs", X_Traceglass_Secret="other").status, 403)
                self.assertEqual(server.ask("/api/runs", X_Traceglass_Secret="s3cret").status, 200)
            finally:
                server.close()


class EmptyLogdirTest(unittest.TestCase):
    def test_empty_and_absent_directories_say_what_to_do(self):
        with tempfile.TemporaryDirectory() as folder:
            for directory in (folder, os.path.join(folder, "absent")):
                server = Server(directory)
                try:
                    runs = Asked(server, Contract())("getRuns").json()
                    self.assertEqual(runs["runs"], [])
                    self.assertTrue(runs["message"])
                finally:
                    server.close()


@unittest.skipUnless(os.path.isdir(FIXTURES), f"no {FIXTURES}")
class FixturesTest(unittest.TestCase):
    def test_every_operation(self):
        for folder in sorted(glob.glob(os.path.join(FIXTURES, "*", ""))):
            server = Server(folder)
            self.addCleanup(server.close)
            ask = Asked(server, Contract())
            for _, _, span in spans_of(ask("getRuns").json()):
                if span["bytes"] > LARGEST_FIXTURE:
                    continue
                with self.subTest(os.path.join(folder, span["file"])):
                    status = server.loaded(span["id"])
                    if status["phase"] == "ready":
                        ask_everything(ask, span["id"])
                    else:
                        self.assertTrue(status["error"]["detail"])


if __name__ == "__main__":
    unittest.main()
