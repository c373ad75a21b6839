"""Google's MLE-STAR sample with every evaluation guarded: `adk run` a folder that has this file as its agent.py."""

import functools

from machine_learning_engineering.agent import root_agent
from machine_learning_engineering.shared_libraries import code_util, debug_util
from solution_fleet.hooks.adk import correct_response
from solution_fleet.hooks.mle_star import guard_run

correct = correct_response(timeout_s=60)


def reads_code(callback):
    function = callback.func if isinstance(callback, functools.partial) else callback
    return function is debug_util.get_code_from_response


def guard(agent):
    """Scripts of all coding agents below this one are corrected before the sample reads and runs them."""
    for each in agent.sub_agents:
        guard(each)
    callback = getattr(agent, "after_model_callback", None)
    if reads_code(callback):
        agent.after_model_callback = [correct, callback]


guard(root_agent)
# What no callback has seen in one piece, such as a script with a new block in it, is checked when it is to run.
code_util.run_python_code = guard_run(code_util.run_python_code, timeout_s=60)
