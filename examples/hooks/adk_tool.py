"""An agent of Google's Agent Development Kit whose tool runs no leaky script."""

from google.adk.agents import Agent
from solution_fleet.hooks.adk import guard_tool


def run_experiment(code: str) -> dict:
    """Runs a training script and returns what it prints."""
    import subprocess
    import sys

    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600)
    return {"status": "success" if ended.returncode == 0 else "error", "output": ended.stdout + ended.stderr}


root_agent = Agent(
    name="experimenter",
    model="gemini-2.5-flash",
    instruction="Improve the validation score of the script. Run each candidate by run_experiment.",
    tools=[run_experiment],
    before_tool_callback=guard_tool("code", timeout_s=60),
)
