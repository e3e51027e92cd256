"""`traceglass report`: a page whose answers are the API's, hostile text that stays text in page and
Markdown, and a bounded size."""

import base64
import gzip
import html.parser
import json
import os
import re
import subprocess
import tempfile
import unittest

import small_logdir
from server import BINARY

NAME = "</script><script>alert(1)</script><!--|`@somebody`\n# head\x00 [a](javascript:b)"
FILE = "&lt;b>|`x`.pt.trace.json"
PAGE = (
    "<title><!--report:title--></title><noscript><pre><!--report:text--></pre></noscript>\n"
    "<!--report:parts-->\n"
)


def run(*arguments):
    done = subprocess.run([BINARY, "report", *arguments], capture_output=True, timeout=60)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


class Elements(html.parser.HTMLParser):
    """What a browser would make of a page: its elements, and the text in each kind."""

    def __init__(self):
        super().__init__()
        self.names, self.text, self.open = [], {}, []

    def handle_starttag(self, tag, attrs):
        self.names.append(tag)
        self.open.append(tag)

    def handle_endtag(self, tag):
        self.open.pop()

    def handle_data(self, data):
        if self.open:
            self.text[self.open[-1]] = self.text.get(self.open[-1], "") + data


def answers(page):
    found = {}
    for part in re.findall(
        r'<script type="text/plain" data-report="answers">([^<]*)</script>', page
    ):
        made = json.loads(gzip.decompress(base64.b64decode(part)))
        assert made["format"] == 1
        for answer in made["answers"]:
            for key in answer["at"]:
                found[key] = answer["body"]
    return found


class ReportCommandTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        small_logdir.make(folder.name)
        cls.folder = folder.name
        cls.out = os.path.join(folder.name, "page.html")
        run_folder = os.path.join(folder.name, "run")
        name = min(n for n in os.listdir(run_folder) if n.startswith("node_0"))
        cls.file = os.path.join(run_folder, name)
        cls.web = os.path.join(folder.name, "web")
        os.mkdir(cls.web)
        with open(os.path.join(cls.web, "report.html"), "w") as file:
            file.write(PAGE)
        made = small_logdir.trace(0)
        for row in made["traceEvents"]:
            if row["name"] in ("aten::linear", small_logdir.GEMM):
                row["name"] = NAME
        cls.hostile = os.path.join(folder.name, FILE)
        os.makedirs(os.path.dirname(cls.hostile), exist_ok=True)
        with open(cls.hostile, "w") as file:
            json.dump(made, file)

    def page(self, path, *more):
        status, _, wrong = run(path, "-o", self.out, "--web-dir", self.web, *more)
        self.assertEqual((status, wrong), (0, ""))
        with open(self.out, encoding="utf-8") as file:
            return file.read()

    def test_the_answers_of_every_view(self):
        found = answers(self.page(self.file))
        (trace,) = [
            span["id"]
            for run_ in found["/api/runs"]["runs"]
            for worker in run_["workers"]
            for span in worker["spans"]
        ]
        top = f"/api/traces/{trace}/"
        meta = found[top + "meta"]
        self.assertEqual(meta["file"], os.path.basename(self.file))
        views = {"overview", "operators", "kernels", "memory", "modules", "roofline", "trace"}
        self.assertEqual(set(meta["views"]), views)
        for key in (
            "overview",
            "idle",
            "operators",
            "operators\ngroup=name\nkind=op",
            "operators\ngroup=shape\nkind=op",
            "kernels",
            "kernels\ngroup=launch",
            "modules",
            "roofline\ngroup=operator",
            "memory",
            "memory/blocks\ndevice=0\nlimit=2000\ntype=cuda",
            "critical-path",
            "counters",
            "names",
            "operator\nkind=op\nname=aten::mm",
        ):
            self.assertIn(top + key, found)
        self.assertEqual(found["/api/runs"]["logdir"], "run")
        verdicts = found[top + "overview"]["verdicts"]
        for event in (e for verdict in verdicts for e in verdict["events"]):
            self.assertIn(f"{top}events/{event}", found)
        self.assertIn("missing_views", meta)
        self.assertIn("distributed", [one["view"] for one in meta["missing_views"]])

    def test_hostile_text_is_text(self):
        page = self.page(self.hostile)
        elements = Elements()
        elements.feed(page)
        scripts = elements.names.count("script")
        self.assertEqual(set(elements.names), {"title", "noscript", "pre", "script"})
        self.assertEqual(scripts, page.count("<script"))
        self.assertEqual(elements.names.count("title"), 1)
        self.assertIn(FILE, elements.text["title"])
        names = next(v for k, v in answers(page).items() if "/names" in k)["names"]
        self.assertIn(NAME, names)

    def test_markdown(self):
        status, text, wrong = run(self.hostile, "--top", "3")
        self.assertEqual((status, wrong), (0, ""))
        self.assertNotIn("<script", re.sub(r"`[^`\n]*`", "", text))
        self.assertNotIn("<b>", re.sub(r"`[^`\n]*`", "", text))
        self.assertNotIn("\n# head", text)
        for row in (line for line in text.splitlines() if "alert(1)" in line):
            self.assertTrue(row.startswith("| `</script>"), row)
            self.assertEqual(row.count("`"), 2)
            self.assertEqual(row.count("|"), 7)
        self.assertRegex(text, r"(?m)^A step takes \*\*990 µs\*\* \(σ 0 ns, 3 steps\)\.")
        self.assertRegex(text, r"(?m)^\| \*\*low utilization\*\* \| 339 µs \| 34\.3 % \|")
        self.assertRegex(text, r"(?m)^\| Kernel time \| 0\.210 \| 21\.2 % \|$")
        self.assertRegex(text, r"(?m)^\| \*\*all\*\* \| \*\*0\.990\*\* \| \|$")
        self.assertRegex(text, r"(?m)^Trust A: nothing lost")

    def test_size(self):
        """What is worth least is left out, and views without their answer are not offered."""
        whole = self.page(self.file)
        self.assertLess(len(whole), 3_000_000)
        blank = "x" * 995_000
        with open(os.path.join(self.web, "report.html"), "w") as file:
            file.write(PAGE + blank)
        try:
            small = self.page(self.file, "--max-mb", "1")
        finally:
            with open(os.path.join(self.web, "report.html"), "w") as file:
                file.write(PAGE)
        self.assertLess(len(small), 1_010_000)
        found = answers(small)
        meta = next(v for k, v in found.items() if k.endswith("/meta"))
        self.assertIn("overview", meta["views"])
        self.assertNotIn("trace", meta["views"])
        reasons = {one["view"]: one["reason"] for one in meta["missing_views"]}
        self.assertIn("traceglass serve", reasons["trace"])

    def test_again_is_the_same(self):
        self.assertEqual(self.page(self.file), self.page(self.file))

    def test_wrong_asks(self):
        for arguments, word in (
            ((self.file + ".none", "-o", self.out), "none"),
            ((self.file, "-o", self.out, "--web-dir", self.folder), "not built"),
            ((self.file, "--format", "html"), "-o page.html"),
            ((self.file, "-o", "/proc/nowhere/page.md"), "written"),
            ((self.folder, "-o", self.out), "several workers"),
        ):
            status, said, wrong = run(*arguments)
            self.assertEqual((status, said), (1, ""), arguments)
            self.assertIn(word, wrong)


if __name__ == "__main__":
    unittest.main()
