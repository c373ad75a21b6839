"""Stand-ins for plotting libraries that are not installed: scripts draw for readers, which changes no number."""

import importlib.util
import sys
import types


class Anything:
    """Takes every call, attribute and index, and gives itself; two where a call is unpacked."""

    def __call__(self, *args, **options):
        return self

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __getitem__(self, key):
        return self

    def __setitem__(self, key, value):
        pass

    def __iter__(self):
        return iter((self, self))

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False


def install():
    """Puts a module in the place of each library that is not there."""
    for name in ("matplotlib", "matplotlib.pyplot", "seaborn", "missingno", "plotly", "plotly.express", "plotly.graph_objects"):
        root = name.split(".")[0]
        if root not in sys.modules and importlib.util.find_spec(root) is not None:
            continue
        if root in sys.modules and not getattr(sys.modules[root], "stands_in", False):
            continue
        module = types.ModuleType(name)
        module.stands_in = True
        module.__path__ = []
        module.__getattr__ = lambda attribute: Anything()
        sys.modules[name] = module
        if name != root:
            setattr(sys.modules[root], name.split(".")[1], module)
