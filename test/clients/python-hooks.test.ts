import { readdirSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packagePath } from '../../src/package-root.js';
import { testProgram } from '../support/programs.js';
import { withPythonClient } from '../support/python-client.js';
import { hasPython, runPython, type Said } from './python-program.js';

const withPython = await hasPython();
const EXAMPLES = packagePath('examples', 'hooks');
const HOOKS = packagePath('clients', 'python', 'src', 'solution_fleet', 'hooks');

/** Runs a program among the stand-ins of the hosts. */
async function runAmongHosts(script: string): Promise<Said> {
  const paths = [withPythonClient().PYTHONPATH, packagePath('test', 'clients', 'hosts'), EXAMPLES];
  const scripts = `
import asyncio
from pathlib import Path
SCALER = Path(${JSON.stringify(packagePath('examples', 'scripts', 'leaky_scaler.py'))}).read_text()
BLEND = Path(${JSON.stringify(packagePath('examples', 'scripts', 'leaky_blend_weights.py'))}).read_text()
`;
  return runPython('http://127.0.0.1:1', scripts + script, {
    PYTHONPATH: paths.join(delimiter),
    PYTHONDONTWRITEBYTECODE: '1',
    FLEET_CLI: testProgram('src/cli/main'),
  });
}

describe.skipIf(!withPython)('hooks for pipelines of others', () => {
  it('MLE-STAR: a script is corrected before it is read and run, and one that cannot be corrected is not run', async () => {
    const said = await runAmongHosts(`
import mle_star
from types import SimpleNamespace
from machine_learning_engineering.agent import coder, debugger, planner
from machine_learning_engineering.shared_libraries import code_util

async def main():
    first, second = {}, {}
    await asyncio.gather(coder.respond(first, "\`\`\`python\\n" + SCALER + "\`\`\`"), debugger.respond(second, BLEND))
    chunk = SimpleNamespace(partial=True, content=SimpleNamespace(parts=[SimpleNamespace(text=SCALER)]))
    for response in (chunk, SimpleNamespace(partial=None, content=None)):
        await mle_star.correct(callback_context=None, llm_response=response)
    assert chunk.content.parts[0].text == SCALER
    return first, second, await planner.respond({}, SCALER) == SCALER

first, second, planned = asyncio.run(main())
say(ran=len(code_util.ran), corrected="fit_transform(X_train)" in code_util.ran[0], same=first["code"] == code_util.ran[0],
    score=first["result"]["score"], refused=second["result"]["score"], why=second["result"]["stderr"], planned=planned)
`);
    expect(said).toMatchObject({ corrected: true, same: true, score: 0.5, refused: 1e9, planned: true });
    expect(said.ran).toBe(1);
    expect(said.why).toMatch(/^The script was not run: because of data leakage.*\n- line \d+: [\w-]+: /);
  });

  it('an agent’s tool gets the corrected script, or is not called and answers why', async () => {
    const said = await runAmongHosts(`
import adk_tool
ran = []
adk_tool.root_agent.tools["run_experiment"] = lambda code: ran.append(code) or {"status": "success"}

async def main():
    call = adk_tool.root_agent.call_tool
    return await asyncio.gather(*(call({}, "run_experiment", {"code": code}) for code in (SCALER, BLEND, "def f(:\\n")))

corrected, refused, broken = asyncio.run(main())
say(corrected=corrected, refused=refused, ran=["fit_transform(X_train)" in each for each in ran], broken=broken["status"])
`);
    expect(said).toMatchObject({
      corrected: { status: 'success' },
      refused: { status: 'error' },
      ran: [true],
    });
    expect(said.refused.error_message).toContain('data leakage');
  });

  it('AIDE: a leaky script is a buggy node with the reason, and is not run', async () => {
    const said = await runAmongHosts(`
import aide, contextlib, runpy
sys.argv = ["aide_run.py", "data", "maximize accuracy"]
aide.drafts[:] = [SCALER, "print(1)\\n"]
with contextlib.redirect_stdout(sys.stderr):
    runpy.run_path(${JSON.stringify(join(EXAMPLES, 'aide_run.py'))})
interpreter = aide.experiments[0].interpreter
say(buggy=[node.is_buggy for node in aide.nodes], why=aide.nodes[0].term_out, ran=interpreter.ran, cleaned=interpreter.cleaned)
`);
    expect(said).toMatchObject({ buggy: [true, false], ran: [['print(1)\n', true]], cleaned: true });
    expect(said.why).toEqual([expect.stringContaining('line 41: scaling: ')]);
  });

  it('each hook and each example has less than 60 lines, apart from the rules that they have in common', () => {
    const files = [HOOKS, EXAMPLES].flatMap((folder) =>
      readdirSync(folder).map((file) => join(folder, file)),
    );
    const long = files
      .filter((file) => file.endsWith('.py') && !file.endsWith('decision.py'))
      .filter((file) => readFileSync(file, 'utf8').split('\n').length > 60);
    expect(long).toEqual([]);
  });
});
