"""A forbidden include or import is found, an allowed one is not: no check that cannot fail."""

import os
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "scripts"))
import check_imports  # noqa: E402

FILES = {
    "libtrace/include/libtrace/trace.h": "",
    "libtrace/include/libtrace/profile.h": "",
    "libtrace/record/lane.h": "",
    "handler/json_writer.h": "",
    "proto/event.proto": "",
    "tb_backend/ingest/tokenizer.h": "",
    "tb_backend/analysis/overview.h": "",
    "tb_backend/api/server.h": "",
    "web_frontend/src/lib/format.ts": "",
    "web_frontend/src/views/context.ts": "",
}


def findings(path, text):
    with tempfile.TemporaryDirectory() as root:
        for name, content in {**FILES, path: text}.items():
            os.makedirs(os.path.dirname(os.path.join(root, name)), exist_ok=True)
            with open(os.path.join(root, name), "w") as file:
                file.write(content)
        return [(where, line) for where, line, _ in check_imports.check(root)]


class CheckImportsTest(unittest.TestCase):
    def refused(self, path, line):
        with self.subTest(path, line=line):
            self.assertEqual(findings(path, f"// top\n{line}\n"), [(path, 2)])

    def allowed(self, path, line):
        with self.subTest(path, line=line):
            self.assertEqual(findings(path, f"// top\n{line}\n"), [])

    def test_cpp_folders(self):
        self.refused("tb_backend/ingest/x.cc", '#include "tb_backend/analysis/overview.h"')
        self.refused("tb_backend/analysis/x.cc", '#include "tb_backend/api/server.h"')
        self.refused("tb_backend/api/x.cc", '#include "libtrace/profile.h"')
        self.refused("tb_backend/api/x.cc", '#include "libtrace/record/lane.h"')
        self.refused("libtrace/record/x.cc", '#include "handler/json_writer.h"')
        self.refused("libtrace/model/x.cc", '#include "tb_backend/ingest/tokenizer.h"')
        self.refused("tb_backend/logdir/x.cc", '#include "libtrace/trace.h"')
        self.refused("handler/json_writer.cc", '#include "libtrace/profile.h"')
        self.allowed("handler/tensorboard_trace_handler.cc", '#include "libtrace/profile.h"')
        self.allowed("handler/event_writer.cc", '#include "proto/event.pb.h"')
        self.allowed("tb_backend/analysis/x.cc", '#include "libtrace/trace.h"')
        self.allowed("tb_backend/analysis/x.cc", '#include "overview.h"')
        self.allowed("tests/any_test.cc", '#include "libtrace/record/lane.h"')

    def test_cpp_libraries(self):
        self.refused("tb_backend/analysis/x.cc", "#include <nlohmann/json.hpp>")
        self.refused("tb_backend/ingest/x.cc", "#include <nlohmann/json.hpp>")
        self.refused("tb_backend/api/x.cc", "#include <simdjson.h>")
        self.refused("tb_backend/ingest/build.cc", "#include <simdjson.h>")
        self.refused("tb_backend/api/app.cc", "#include <httplib.h>")
        self.refused("tb_backend/timeline/x.cc", "#include <httplib.h>")
        self.refused("libtrace/record/x.cc", "#include <cupti.h>")
        self.refused("libtrace/record/x.cc", "#include <gtest/gtest.h>")
        self.refused("libtrace/include/libtrace/x.h", "#include <fmt/format.h>")
        self.refused("libtrace/include/libtrace/x.h", "#include <unistd.h>")
        self.refused("tb_backend/api/x.cc", "#include <boost/asio.hpp>")
        self.refused("tb_backend/api/x.cc", '#include "no_such_file.h"')
        self.allowed("tb_backend/ingest/tokenizer.cc", "#  include <simdjson.h>")
        self.allowed("tb_backend/api/x.cc", "#include <vector>")
        self.allowed("libtrace/record/x.cc", "#include <sys/syscall.h>")

    def test_new_folder_needs_a_line(self):
        self.assertEqual(findings("tb_backend/other/x.cc", ""), [("tb_backend/other/x.cc", 1)])
        self.assertEqual(
            findings("web_frontend/src/other/x.ts", ""), [("web_frontend/src/other/x.ts", 1)]
        )

    def test_web(self):
        web = "web_frontend/src/"
        self.refused(web + "lib/x.ts", "import { mount } from 'svelte';")
        self.refused(web + "timeline/x.ts", "const view = await import('svelte/store');")
        self.refused(web + "lib/x.ts", "import { get } from '../api/client';")
        self.refused(web + "timeline/x.ts", "export * from '../views/context';")
        self.refused(web + "views/a/x.ts", "import { b } from '../b/y';")
        self.refused(web + "timeline/x.ts", "new Worker(new URL('../app/w.ts', import.meta.url));")
        self.refused(web + "app/x.ts", "import _ from 'lodash';")
        self.allowed(web + "views/a/x.ts", "import { b } from './y'; import c from '../context';")
        self.allowed(web + "views/a/x.ts", "import { format } from '../../lib/format';")
        self.allowed(web + "app/x.ts", "fetch(new URL('index.html', document.baseURI));")
        self.allowed(web + "lib/x.test.ts", "import { it } from 'vitest';")
        self.assertEqual(findings(web + "timeline/X.svelte", ""), [(web + "timeline/X.svelte", 1)])

    def test_plugin(self):
        folder = check_imports.PLUGIN
        for text, found in (
            ("import numpy", True),
            ("from tensorboard.plugins import base_plugin", True),
            ("import os.path\nfrom traceglass_tb import guard", False),
        ):
            path = f"{folder}/proxy.py"
            self.assertEqual(findings(path, text), [(path, 1)] if found else [])
        path = f"{folder}/plugin.py"
        self.assertEqual(findings(path, "from tensorboard.plugins import base_plugin"), [])

    def test_the_project_itself(self):
        self.assertEqual(list(check_imports.check(ROOT)), [])


if __name__ == "__main__":
    unittest.main()
