"""What TensorBoard sees of Traceglass: a name, a tab, one wildcard route.

Nothing here may raise while TensorBoard loads its plugins, and nothing is started until the tab is
opened: a user who never looks at a profile pays for one directory scan.
"""

import logging

from tensorboard.plugins import base_plugin

from traceglass_tb import backend, guard, logdir, proxy

logger = logging.getLogger("traceglass")


class TraceglassPlugin(base_plugin.TBPlugin):
    """The TensorBoard plugin "traceglass", tab "PyTorch Profiler"."""

    plugin_name = "traceglass"

    def __init__(self, context):
        super().__init__(context)
        self._source = logdir.Source.of_context(context)
        self._backend = backend.Backend(self._source)
        self._app = guard.guarded(
            proxy.Proxy(self._backend, f"/data/plugin/{self.plugin_name}"),
            guard.Hosts.of_flags(getattr(context, "flags", None)),
        )

    def get_plugin_apps(self):
        # index.js by name too: TensorBoard wants the entry module among the routes.
        return {"/index.js": self._app, "/*": self._app}

    def is_active(self):
        try:
            return self._source.holds_profiles()
        except Exception:  # shown as inactive by TensorBoard otherwise, with no reason given
            logger.exception("Cannot look for profiles in %s", self._source)
            return True

    def frontend_metadata(self):
        return base_plugin.FrontendMetadata(
            es_module_path="/index.js", tab_name="PyTorch Profiler", disable_reload=True
        )
