"""Hooks for pipelines of others: scripts are checked on this machine before anything runs them.

:mod:`.adk` has callbacks for agents of Google's Agent Development Kit, :mod:`.mle_star` guards the evaluation of its
MLE-STAR sample, and :mod:`.aide` the interpreter of AIDE.
"""
