import unittest

import support
from traceglass_tb import plugin


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


if __name__ == "__main__":
    unittest.main()
