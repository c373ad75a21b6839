"""Agents whose model is a function, with the callbacks of google/adk-python."""

import inspect
from types import SimpleNamespace


class Agent:
    def __init__(self, *, name, model="", instruction="", tools=(), sub_agents=(), **callbacks):
        self.name, self.tools, self.sub_agents = name, {each.__name__: each for each in tools}, list(sub_agents)
        self.after_model_callback = callbacks.pop("after_model_callback", None)
        self.before_tool_callback = callbacks.pop("before_tool_callback", None)
        assert not callbacks

    async def respond(self, state, text, partial=None):
        """What the host does with a response of the model."""
        parts = [SimpleNamespace(text=None, function_call=object()), SimpleNamespace(text=text)]
        response = SimpleNamespace(content=SimpleNamespace(role="model", parts=parts), partial=partial)
        context = SimpleNamespace(agent_name=self.name, state=state)
        replaced = await _first(self.after_model_callback, callback_context=context, llm_response=response)
        return (replaced or response).content.parts[1].text

    async def call_tool(self, state, name, args):
        tool = SimpleNamespace(name=name)
        context = SimpleNamespace(agent_name=self.name, state=state)
        answer = await _first(self.before_tool_callback, tool=tool, args=args, tool_context=context)
        return self.tools[name](**args) if answer is None else answer


async def _first(callbacks, **arguments):
    for callback in callbacks if isinstance(callbacks, list) else [callbacks] if callbacks else []:
        answer = callback(**arguments)
        answer = await answer if inspect.isawaitable(answer) else answer
        if answer:
            return answer
    return None
