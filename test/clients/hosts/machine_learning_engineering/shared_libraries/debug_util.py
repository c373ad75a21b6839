"""Where the sample takes a script out of a response."""

from . import code_util


def get_code_from_response(callback_context, llm_response, do_eval=True):
    text = "".join(part.text or "" for part in llm_response.content.parts)
    callback_context.state["code"] = text.replace("```python", "").replace("```", "")
    if do_eval:
        code_util.evaluate_code(callback_context=callback_context)
