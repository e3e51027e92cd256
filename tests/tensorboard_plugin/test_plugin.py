import unittest
from unittest import mock

import support
from traceglass_tb import backend, launcher, plugin


class PluginTest(unittest.TestCase):
    def test_what_tensorboard_asks(self):
        made = plugin.TraceglassPlugin(support.context("/x"))
        metadata = made.frontend_metadata()
        self.assertEqual(made.plugin_name, "traceglass")
        self.assertEqual(metadata.tab_name, "PyTorch Profiler")
        self.assertIn(metadata.es_module_path, made.get_plugin_apps())
        self.assertFalse(made.is_active())

    def test_loads_with_an_odd_context(self):
        for context in (None, support.context(None, logdir_spec=None), object()):
            self.assertFalse(plugin.TraceglassPlugin(context).is_active())

    def test_nothing_is_started_before_a_request(self):
        made = plugin.TraceglassPlugin(support.context("/x"))
        made.is_active()
        self.assertIsNone(made._backend._server)


class BackendTest(unittest.TestCase):
    def test_the_server_gets_a_secret_and_no_token(self):
        shell = {"PATH": "/bin", "TRACEGLASS_TOKEN": "of-the-shell"}
        self.assertEqual(
            backend.child_environment("s", shell), {"PATH": "/bin", "TRACEGLASS_SECRET": "s"}
        )
        self.assertIn("TRACEGLASS_TOKEN", shell)


class LauncherTest(unittest.TestCase):
    def test_becomes_the_packaged_program(self):
        with mock.patch.object(backend, "packaged_binary", return_value=support.FAKE):
            arguments = ["traceglass", "serve", "/x"]
            with mock.patch("os.execv") as execv, mock.patch("sys.argv", arguments):
                launcher.main()
        execv.assert_called_once_with(support.FAKE, arguments)

    def test_missing_program_is_said(self):
        absent = mock.patch.object(backend, "packaged_binary", return_value="/no/such")
        with absent, self.assertRaisesRegex(SystemExit, "/no/such cannot be run"):
            launcher.main()


if __name__ == "__main__":
    unittest.main()
