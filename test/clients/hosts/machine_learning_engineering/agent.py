"""The tree of agents; those that write code have the same callback."""

import functools

from google.adk.agents import Agent

from .shared_libraries import debug_util

coder = Agent(
    name="model_eval_1_1",
    after_model_callback=functools.partial(debug_util.get_code_from_response, do_eval=True),
)
debugger = Agent(name="model_eval_debug_agent_1_1", after_model_callback=debug_util.get_code_from_response)
planner = Agent(name="plan_1", after_model_callback=lambda callback_context, llm_response: None)
root_agent = Agent(name="root", sub_agents=[planner, Agent(name="loop", sub_agents=[coder, debugger])])
