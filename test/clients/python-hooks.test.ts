import { readdirSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { packagePath } from '../../src/package-root.js';
import { testProgram } from '../support/programs.js';
import { withPythonClient } from '../support/python-client.js';
import { PythonProgram, pythonOfFile, type Said } from './python-program.js';

const withPython = await pythonOfFile();
const EXAMPLES = packagePath('examples', 'hooks');
const HOOKS = packagePath('clients', 'python', 'src', 'solution_fleet', 'hooks');

/** What is done among the stand-ins of the hosts. */
const PROGRAM = `
import asyncio
from pathlib import Path
SCALER = Path(${JSON.stringify(packagePath('examples', 'scripts', 'leaky_scaler.py'))}).read_text()
BLEND = Path(${JSON.stringify(packagePath('examples', 'scripts', 'leaky_blend_weights.py'))}).read_text()

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

import adk_tool
ran = []
adk_tool.root_agent.tools["run_experiment"] = lambda code: ran.append(code) or {"status": "success"}

async def call_tools():
    call = adk_tool.root_agent.call_tool
    return await asyncio.gather(*(call({}, "run_experiment", {"code": code}) for code in (SCALER, BLEND, "def f(:\\n", "x = '\\ud83d'\\n", SCALER.splitlines())))

corrected, refused, broken, surrogate, lines = asyncio.run(call_tools())
say(corrected=corrected, refused=refused, ran=["fit_transform(X_train)" in each for each in ran], broken=broken["status"],
    surrogate=surrogate["error_message"], lines=lines["error_message"])

import aide, contextlib, runpy
sys.argv = ["aide_run.py", "data", "maximize accuracy"]
aide.drafts[:] = [SCALER, "print(1)\\n"]
with contextlib.redirect_stdout(sys.stderr):
    runpy.run_path(${JSON.stringify(join(EXAMPLES, 'aide_run.py'))})
interpreter = aide.experiments[0].interpreter
say(buggy=[node.is_buggy for node in aide.nodes], why=aide.nodes[0].term_out, ran=interpreter.ran, cleaned=interpreter.cleaned)
`;

describe.skipIf(!withPython)('hooks for pipelines of others', () => {
  let mleStar: Said;
  let tool: Said;
  let aide: Said;
  // One program, so that the interpreter starts once and no script is checked twice.
  beforeAll(async () => {
    const paths = [withPythonClient().PYTHONPATH, packagePath('test', 'clients', 'hosts'), EXAMPLES];
    const program = new PythonProgram('http://127.0.0.1:1', PROGRAM, {
      PYTHONPATH: paths.join(delimiter),
      PYTHONDONTWRITEBYTECODE: '1',
      FLEET_CLI: testProgram('src/cli/main'),
    });
    mleStar = await program.said();
    tool = await program.said();
    aide = await program.said();
    expect(await program.end()).toMatchObject({ code: 0 });
  });

  it('MLE-STAR: a script is corrected before it is read and run, and one that cannot be corrected is not run', () => {
    expect(mleStar).toMatchObject({ corrected: true, same: true, score: 0.5, refused: 1e9, planned: true });
    expect(mleStar.ran).toBe(1);
    expect(mleStar.why).toMatch(/^The script was not run: because of data leakage.*\n- line \d+: [\w-]+: /);
  });

  it('an agent’s tool gets the corrected script, or is not called and answers why', () => {
    expect(tool).toMatchObject({
      corrected: { status: 'success' },
      refused: { status: 'error' },
      ran: [true],
    });
    expect(tool.surrogate).toContain('could not be checked for data leakage');
    expect(tool.lines).toBe('The tool was not called: code must be one text.');
    expect(tool.refused.error_message).toContain('data leakage');
  });

  it('AIDE: a leaky script is a buggy node with the reason, and is not run', () => {
    expect(aide).toMatchObject({ buggy: [true, false], ran: [['print(1)\n', true]], cleaned: true });
    expect(aide.why).toEqual([expect.stringContaining('line 41: scaling: ')]);
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
