#!/usr/bin/env python3
"""Checks the direction of includes and imports against the design, by an explicit allow-list.

    check_imports.py [ROOT]     prints `file:line: what and why`, exits 1 when anything is found

A folder may use itself, the standard library, and what stands beside it in ALLOWED; a third-party
library has one home, in HOMES. A new folder or library is an error until it has a line here.
"""

import ast
import fnmatch
import os
import re
import sys

SELF = "scripts/check_imports.py"

# C++ and the wire formats: module -> modules it may include. The data flows the other way.
ALLOWED = {
    "proto": [],
    "model": ["proto"],
    "averages": ["model"],
    "record": ["model"],
    "cupti": ["record", "model"],
    "torch": ["record", "model"],
    "nvtx": ["record", "model", "handler/session"],
    "handler/writers": ["averages", "model", "proto"],
    "handler/session": ["record", "averages", "handler/writers", "model"],
    "logdir": [],
    "review": [],
    "metrics": ["proto"],
    "ingest": ["model", "proto"],
    "index": ["model"],
    "analysis": ["model"],
    "timeline": ["model"],
    "api": ["logdir", "review", "metrics", "ingest", "index", "analysis", "timeline", "averages"]
    + ["handler/writers", "model"],
    "main": ["api", "logdir", "ingest", "index", "analysis", "averages", "metrics", "model"],
    "examples": ["record", "torch", "handler/session", "handler/writers", "averages", "model"],
}

# First match wins; paths are relative to the root. Public headers belong to the folder that
# implements them: an unlisted one is the model's.
MODULES = [
    ("proto/*", "proto"),
    ("libtrace/include/libtrace/profile.h", "record"),
    ("libtrace/include/libtrace/schedule.h", "record"),
    ("libtrace/include/libtrace/record_function.h", "record"),
    ("libtrace/include/libtrace/range.h", "record"),
    ("libtrace/include/libtrace/memory_tags.h", "record"),
    ("libtrace/include/libtrace/key_averages.h", "averages"),
    ("libtrace/include/libtrace/supported_activities.h", "record"),
    ("libtrace/include/libtrace/results.h", "handler/session"),
    ("libtrace/include/libtrace/exports.h", "handler/writers"),
    ("libtrace/include/libtrace/libtrace.h", "handler/session"),
    ("libtrace/include/libtrace/tensorboard_trace_handler.h", "handler/session"),
    ("libtrace/include/libtrace/torch.h", "torch"),
    ("libtrace/include/libtrace/*", "model"),
    ("libtrace/model/*", "model"),
    ("libtrace/record/*", "record"),
    ("libtrace/cupti/*", "cupti"),
    ("libtrace/averages/*", "averages"),
    ("libtrace/torch/*", "torch"),
    ("libtrace/nvtx/*", "nvtx"),
    ("handler/tensorboard_trace_handler*", "handler/session"),
    ("handler/results*", "handler/session"),
    ("handler/*", "handler/writers"),
    ("tb_backend/main.cc", "main"),
    *[
        (f"tb_backend/{name}/*", name)
        for name in ("logdir review metrics ingest index analysis timeline api".split())
    ],
    ("examples/*", "examples"),
    ("tests/*", "tests"),  # may see everything
]

# Third-party headers -> files that may include them.
HOMES = {
    "cupti*": ["libtrace/cupti/*"],
    "simdjson*": ["tb_backend/ingest/tokenizer*"],
    "httplib.h": ["tb_backend/api/http_server*"],
    "nlohmann/*": ["tb_backend/api/*"],
    "isa-l/*": ["tb_backend/ingest/inflate*", "handler/gzip_sink*"],
    "libdeflate.h": ["tb_backend/ingest/inflate*", "tb_backend/api/encoding*"],
    "re2/re2.h": ["tb_backend/timeline/name_pattern*"],
    "zlib.h": ["tb_backend/ingest/inflate*", "handler/gzip_sink*", "tb_backend/api/encoding*"],
    "CLI/*": ["tb_backend/main.cc"],
    "fmt/*": ["tb_backend/api/*", "tb_backend/ingest/perfetto*", "tb_backend/main.cc"],
    "sqlite3.h": ["tb_backend/review/*"],
    "xxhash.h": ["tb_backend/index/hash*"],
    "google/protobuf/*": ["proto/*"],
    "ATen/*": ["libtrace/torch/*"],
    "c10/*": ["libtrace/torch/*"],
    "torch/*": ["libtrace/torch/*", "examples/libtorch_resnet/*"],
    "nvtx3/*": [],
    "gtest/*": [],
    "gmock/*": [],
    "benchmark/*": [],
}
# Headers of the operating system and of the compiler, in no folder's way but the public ones'.
SYSTEM = [
    *("*intrin.h cpuid.h cxxabi.h dirent.h dlfcn.h elf.h errno.h execinfo.h fcntl.h ftw.h").split(),
    *(
        "limits.h link.h netdb.h poll.h pthread.h sched.h signal.h spawn.h stdint.h string.h"
    ).split(),
    *("time.h ucontext.h unistd.h arpa/* linux/* netinet/* sys/*").split(),
]

# TypeScript: folder of web_frontend/src -> folders it may import. Views see no other view.
WEB_ALLOWED = {
    "lib": [],
    "api": ["lib"],
    "timeline": ["lib", "api"],
    "widgets": ["lib", "api"],
    "views": ["lib", "api", "timeline", "widgets"],
    "app": ["lib", "api", "timeline", "widgets", "views"],
}
WEB_PACKAGES = {  # package -> folders; anything unlisted is for tests only
    "svelte": ["widgets", "views", "app"],
    "uplot": ["widgets", "views"],
    "@tanstack/virtual-core": ["widgets"],
    "dompurify": ["widgets"],
    "marked": ["widgets"],
}

# Python that TensorBoard loads: the standard library, itself, and the base class in one file.
PLUGIN = "tb_backend/tensorboard_plugin/traceglass_tb"
PLUGIN_HOMES = {"tensorboard": [f"{PLUGIN}/plugin.py"]}

SKIPPED_FOLDERS = {".git", "build", "dist", "node_modules", "__pycache__", ".cache", "coverage"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
IMPORT = re.compile(
    r"""(?:\bfrom\s*|\bimport\s*\(?\s*)(['"])(?P<what>[^'"\n]+)\1"""
    r"""|\bnew\s+URL\(\s*(['"])(?P<url>[^'"\n]+)\3\s*,\s*import\.meta\.url"""
)


def module_of(path):
    return next((module for pattern, module in MODULES if fnmatch.fnmatch(path, pattern)), None)


def matches(path, patterns):
    return any(fnmatch.fnmatch(path, pattern) for pattern in patterns)


def project_file(root, path, include):
    """The project's file behind an include, relative to the root; None for anything else."""
    places = [include, f"libtrace/include/{include}", f"{os.path.dirname(path)}/{include}"]
    for place in map(os.path.normpath, places):
        # Generated headers (x.pb.h) stand for the .proto beside which they would lie.
        source = re.sub(r"\.pb\.h$", ".proto", place)
        if os.path.isfile(os.path.join(root, source)):
            return place
    return None


def check_cpp(root, path, lines):
    module = module_of(path)
    if module is None:
        yield 1, f"is in no module: give its folder a line in {SELF}"
        return
    public = path.startswith("libtrace/include/")
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        quoted, include = match.group(1) == '"', match.group(2)
        target = project_file(root, path, include)
        if target is not None:
            other = module_of(target)
            if module not in ("tests", other) and other not in ALLOWED[module]:
                yield number, f"{module} must not see {other} ({include})"
            continue
        home = next(
            (HOMES[pattern] for pattern in HOMES if fnmatch.fnmatch(include, pattern)), None
        )
        if home is not None:
            if module != "tests" and not matches(path, home):
                yield number, f"{include} has its home in {', '.join(home) or 'tests'}"
        elif quoted:
            yield number, f"{include} is not a file of the project"
        elif ("." in include or "/" in include) and (public or not matches(include, SYSTEM)):
            # What has neither is a header of the standard library.
            yield number, f"{include} has no home yet: give it a line in {SELF}"


def check_web(path, text):
    folders = path.removeprefix("web_frontend/src/").split("/")
    test = re.search(r"\.(test|bench)\.", folders[-1]) or folders[-1].startswith("test_")
    if len(folders) == 1 or folders[0] not in WEB_ALLOWED:
        if not test and not path.endswith(".d.ts"):
            yield 1, f"is in no folder of web_frontend/src that has a line in {SELF}"
        return
    own = folders[0]
    for match in IMPORT.finditer(text):
        what = match.group("what") or match.group("url")
        number = text.count("\n", 0, match.start()) + 1
        if what.startswith("."):
            target = os.path.normpath(os.path.join("/".join(folders[:-1]), what)).split("/")
            if test or target[0] not in WEB_ALLOWED:
                continue
            if target[0] != own and target[0] not in WEB_ALLOWED[own]:
                yield number, f"{own} must not see {target[0]} ({what})"
            elif own == target[0] == "views" and len(target) > 2 and folders[1:2] != target[1:2]:
                yield number, f"a view must not see another view ({what})"
        elif not test:
            package = "/".join(what.split("/")[: 2 if what.startswith("@") else 1])
            if own not in WEB_PACKAGES.get(package, []):
                yield number, f"{own} must not see the package {package}"
    if path.endswith(".svelte") and "svelte" in WEB_PACKAGES and own not in WEB_PACKAGES["svelte"]:
        yield 1, f"{own} knows no UI framework"


def check_plugin(path, text):
    for node in ast.walk(ast.parse(text, path)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or "traceglass_tb"]
        else:
            continue
        for top in (name.partition(".")[0] for name in names):
            if top in sys.stdlib_module_names or top == "traceglass_tb":
                continue
            if path not in PLUGIN_HOMES.get(top, []):
                yield node.lineno, f"the plugin must not import {top}"


def files_of(root):
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(set(folders) - SKIPPED_FOLDERS)
        for name in sorted(names):
            yield os.path.relpath(os.path.join(folder, name), root)


def check(root):
    """All findings as (path, line, sentence)."""
    for path in files_of(root):
        cpp = path.endswith((".cc", ".h", ".proto"))
        web = path.startswith("web_frontend/src/") and path.endswith((".ts", ".svelte"))
        plugin = path.startswith(PLUGIN) and path.endswith(".py")
        if not (cpp or web or plugin):
            continue
        with open(os.path.join(root, path), encoding="utf-8") as file:
            text = file.read()
        if cpp:
            found = check_cpp(root, path, text.splitlines())
        else:
            found = check_web(path, text) if web else check_plugin(path, text)
        for number, sentence in found:
            yield path, number, sentence


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.dirname(__file__))
    findings = list(check(os.path.abspath(root or ".")))
    for path, number, sentence in findings:
        print(f"{path}:{number}: {sentence}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
