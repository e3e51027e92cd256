#!/usr/bin/env python3
"""Checks that the project's licence is said the same everywhere, and that what the page bundles may
be shipped with it. Packages for building and testing only are not shipped."""

import json
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
OURS = "Apache-2.0"
PERMISSIVE = {"MIT", "ISC", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0", "0BSD"}
# Bundled although a development dependency: its runtime is compiled into the page.
COMPILED_IN = ["svelte"]


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


def findings():
    text = read("LICENSE")
    if "Apache License" not in text or "Version 2.0, January 2004" not in text:
        yield "LICENSE is not the text of the Apache License 2.0"
    if not re.search(rf'^license = "{re.escape(OURS)}"$', read("pyproject.toml"), re.M):
        yield f"pyproject.toml does not say {OURS}"
    page = json.loads(read("web_frontend", "package.json"))
    if page.get("license") != OURS:
        yield f"web_frontend/package.json does not say {OURS}"
    locked = json.loads(read("web_frontend", "package-lock.json"))["packages"]
    shipped, todo = set(), [*page.get("dependencies", {}), *COMPILED_IN]
    while todo:
        name = todo.pop()
        if name in shipped:
            continue
        shipped.add(name)
        entry = locked.get(f"node_modules/{name}")
        if entry is None:
            yield f"{name} is not in package-lock.json"
            continue
        licence = entry.get("license") or ""
        # Of "(A OR B)" we choose.
        if PERMISSIVE.isdisjoint(licence.strip("()").split(" OR ")):
            yield f"{name} has licence {licence}, which is not among {sorted(PERMISSIVE)}"
        todo += entry.get("dependencies", {})


def main():
    found = list(findings())
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
