"""docs/guide.md against what it speaks of: an anchor for each verdict, pictures that are there and
small, cases that exist and take as long as it says, the thresholds of the program."""

import os
import re
import struct
import unittest

import plants
import support

DOCS = os.path.join(support.ROOT, "docs")
THRESHOLDS = os.path.join(support.ROOT, "tb_backend", "analysis", "thresholds.h")
LARGEST_PICTURE = 150_000


def text_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def anchors(markdown):
    """Those that code hosts and our page make of headings."""
    for heading in re.findall(r"^#+ (.+)$", markdown, re.M):
        yield re.sub(r"[^\w\s-]", "", heading.lower()).strip().replace(" ", "-")


def constants(header):
    """{name: (value, as written)} of `inline constexpr TYPE kName = VALUE;`."""
    found = re.findall(r"inline constexpr [\w:]+ (k\w+) = ([^;]+);", header)
    return {name: float(value.replace("'", "")) for name, value in found}


class GuideTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.guide = text_of(os.path.join(DOCS, "guide.md"))

    def test_each_verdict_has_an_anchor(self):
        verdicts = {verdict for case in plants.CASES.values() for verdict in case.verdicts}
        wanted = {verdict.replace("_", "-") for verdict in verdicts}
        self.assertLessEqual(wanted, set(anchors(self.guide)))

    def test_pictures_are_there_and_small(self):
        named = re.findall(r"!\[[^\]]+\]\((pictures/[^)]+)\)", self.guide)
        there = os.path.join(DOCS, "pictures")
        listed = [f"pictures/{name}" for name in os.listdir(there)] if os.path.isdir(there) else []
        self.assertEqual(sorted(named), sorted(listed))
        for name in named:
            with self.subTest(name):
                with open(os.path.join(DOCS, name), "rb") as file:
                    data = file.read()
                self.assertLessEqual(len(data), LARGEST_PICTURE)
                width = struct.unpack(">I", data[16:20])[0]
                self.assertTrue(1000 <= width <= 1400, width)

    def test_its_commands_name_cases(self):
        commands = re.findall(r"generate\.py \S+ --plant (\w+) --strength (\w+)", self.guide)
        self.assertGreaterEqual(len(commands), 7)
        for plant, strength in commands:
            self.assertIn(f"{plant}-{strength}", plants.CASES)

    def test_steps_are_as_long_as_it_says(self):
        said = re.findall(
            r"`([a-z_]+-[a-z]+)`: ([\d.]+) ms a\s+step, ([\d.]+)\s+without", self.guide
        )
        self.assertEqual(len(said), 7)
        for name, planted, clean in said:
            truth = support.truth(plants.CASES[name])
            self.assertEqual(f"{truth['planted_step_ns'] / 1e6:.1f}", planted, name)
            self.assertEqual(f"{truth['clean_step_ns'] / 1e6:.1f}", clean, name)

    def test_thresholds_are_those_of_the_program(self):
        table = self.guide.partition("## Thresholds")[2].partition("\n## ")[0]
        rows = re.findall(r"^\| `(k\w+)` \| ([\d.,]+)", table, re.M)
        said = {name: float(value.replace(",", "")) for name, value in rows}
        wanted = constants(text_of(THRESHOLDS))
        self.assertEqual(said, {name: wanted.get(name) for name in said})
        self.assertEqual(sorted(said), sorted(wanted), "each is in the table")


if __name__ == "__main__":
    unittest.main()
