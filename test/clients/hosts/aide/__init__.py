"""An experiment whose agent writes scripts of a list."""

from types import SimpleNamespace

from .interpreter import Interpreter

drafts, nodes, experiments = [], [], []


class Experiment:
    def __init__(self, data_dir, goal, eval=None):
        self.interpreter = Interpreter("workspace")
        experiments.append(self)

    def run(self, steps):
        for code in drafts[:steps]:
            result = self.interpreter.run(code, True)
            nodes.append(SimpleNamespace(code=code, is_buggy=result.exc_type is not None, term_out=result.term_out))
        self.interpreter.cleanup_session()
        return SimpleNamespace(code=next(each.code for each in nodes if not each.is_buggy), valid_metric=0.5)
