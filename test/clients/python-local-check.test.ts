import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packagePath } from '../../src/package-root.js';
import type { Recording } from '../../src/recordings/recording.js';
import { runRecording } from '../../src/recordings/run-recording.js';
import { testProgram } from '../support/programs.js';
import { pythonOfFile, runPython, type Said } from './python-program.js';

const withPython = await pythonOfFile();
const SCRIPTS = packagePath('examples', 'scripts');
const SCALER = readFileSync(packagePath('examples', 'scripts', 'leaky_scaler.py'), 'utf8');

const run = (script: string, env: Readonly<Record<string, string>> = {}): Promise<Said> =>
  runPython(
    'http://127.0.0.1:1',
    `import asyncio\nfrom pathlib import Path\nfrom solution_fleet import aio\n${script}`,
    {
      FLEET_CLI: testProgram('src/cli/main'),
      ...env,
    },
  );

describe.skipIf(!withPython)('checks of the Python package without a server', () => {
  it('a text is checked with the result of a solution-check, and the lines of its findings', async () => {
    const said = await run(
      `
result = check(Path("${SCRIPTS}/leaky_scaler.py").read_text())
say(**result)`,
      // What is exported must not matter: nothing is sent.
      { ANTHROPIC_API_KEY: 'sk-ant-none', FLEET_REDIS_URL: 'redis://127.0.0.1:1' },
    );
    expect(said).toMatchObject({
      file: '-',
      status: 'corrected',
      agent: { runner: 'offline' },
      findings: [{ kind: 'scaling', severity: 'low', outcome: 'corrected', startLine: 41, endLine: 46 }],
    });
    expect(said.solution.content).toContain('scaler.fit_transform(X_train)');
    expect(said.solution.content).not.toBe(SCALER);
  });

  it('files are checked each for itself, also by asyncio, and a notebook in its cells', async () => {
    const said = await run(`
import tempfile
os.chdir(tempfile.mkdtemp())
cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": each}
         for each in Path("${SCRIPTS}/leaky_scaler.py").read_text().split("\\n\\n")]
Path("leaky.ipynb").write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}))
Path("-").write_text("x = 1\\n")
Path("hidden.py").write_text("import sklearn\\nexec(code)\\nprint(model.score(X, y))\\n")

async def both():
    return await asyncio.gather(aio.check_files(["leaky.ipynb", "none.py", "${SCRIPTS}/clean_pipeline.py", "hidden.py"]), aio.check_file("-"))

(notebook, missing, clean, hidden), dash = asyncio.run(both())
say(cell=notebook["findings"][0]["cell"], missing=[type(missing).__name__, missing.file, missing.code], clean=clean["status"],
    hidden=["notAnalyzed" in hidden, hidden["error"]["code"]], dash=dash["file"], none=check_files([]))`);
    expect(said).toMatchObject({
      missing: ['CheckFailed', 'none.py', 'unreadable-input'],
      clean: 'clean',
      hidden: [true, 'cannot-analyze'],
      dash: './-',
      none: [],
    });
    expect(said.cell).toBeGreaterThan(1);
  });

  it('the command of a checkout is not run', async () => {
    const said = await run(
      `
import tempfile
from solution_fleet.command import words_of
os.environ["PATH"] = os.pathsep.join(["node_modules/.bin", os.path.dirname(sys.executable)])
os.chdir(tempfile.mkdtemp())
for folder in (".", "node_modules/solution-fleet"):
    Path(folder, "dist/cli").mkdir(parents=True)
    Path(folder, "dist/cli/main.js").touch()
    Path(folder, "package.json").write_text('{"name": "solution-fleet"}')
Path("node_modules/.bin").mkdir()
Path("node_modules/.bin/fleet").symlink_to("../solution-fleet/dist/cli/main.js")
Path("node_modules/.bin/fleet").chmod(0o755)
try:
    say(found=words_of(None))
except CommandNotFound as error:
    say(error=str(error))`,
      { FLEET_CLI: '' },
    );
    expect(said.error).toMatch(
      /^the fleet command was not found: install the npm package solution-fleet globally/,
    );
  });

  it('what cannot be checked is a typed error, and a check that is cancelled or too late is stopped', async () => {
    const said = await run(`
def error(call):
    try:
        call()
    except Exception as error:
        return [type(error).__name__, str(error)]

# As npx does, it starts what works in a process of its own.
sleep = ["sh", "-c", 'sleep 600 & echo $$ $! >> "$PIDS"; wait']
os.environ["PIDS"] = os.path.join(os.environ["TMPDIR"], f"pids-{os.getpid()}")
pids = lambda: Path(os.environ["PIDS"]).read_text().split() if os.path.exists(os.environ["PIDS"]) else []

async def cancelled(moment):
    task = asyncio.create_task(aio.check("x\\n", command=sleep))
    await moment()
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        return "cancelled"

async def works():
    while len(pids()) < 1:
        await asyncio.sleep(0.01)

def starts(rounds):
    async def moment():
        for _ in range(rounds):
            await asyncio.sleep(0)
    return moment

def alive(pid):
    try:
        os.kill(int(pid), 0)
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False

ended = [asyncio.run(cancelled(moment)) for moment in (works, *map(starts, range(8)))]
late = [error(lambda: check("x\\n", command=sleep, timeout_s=0.5)), error(lambda: asyncio.run(aio.check("x\\n", command=sleep, timeout_s=0.5)))]
deadline = time.monotonic() + 30
while any(map(alive, pids())) and time.monotonic() < deadline:
    time.sleep(0.01)
say(ended=ended, late=late, started=len(pids()), alive=[pid for pid in pids() if alive(pid)], errors=[error(call) for call in (
    lambda: check("solution.py"), lambda: check(os.getcwd()), lambda: check(3), lambda: check_files("x.py"), lambda: check_file("none.py"),
    lambda: check("x = '\\ud83d'\\n"),
    lambda: check("x\\n", command="/none/fleet"), lambda: check("x\\n", command=["/none/fleet"]), lambda: asyncio.run(aio.check("x\\n", command=["/none/fleet"])),
    lambda: check("x\\n", command=[sys.executable, "-c", "print('usage: fleet', file=__import__('sys').stderr)"]),
)])`);
    expect(said).toMatchObject({ ended: Array(9).fill('cancelled'), alive: [] });
    expect(said.started).toBeGreaterThan(0);
    expect(said.late).toEqual(Array(2).fill(['CheckTimeout', 'the check has not ended within 0.5 s']));
    expect(said.errors).toEqual([
      [
        'ValueError',
        "'solution.py' is a path and no script: pass pathlib.Path('solution.py'), or call check_file",
      ],
      ['ValueError', expect.stringContaining('is a path and no script')],
      ['TypeError', 'script is a str or a path, and not int'],
      ['TypeError', 'paths is a list of paths; call check_file for one'],
      ['CheckFailed', '[unreadable-input] none.py does not exist'],
      [
        'CheckFailed',
        expect.stringContaining('[unreadable-input] the script holds a surrogate at character 5'),
      ],
      ['CommandNotFound', expect.stringMatching(/^there is no file '\/none\/fleet' .*FLEET_CLI/)],
      ['CommandNotFound', '/none/fleet could not be started: No such file or directory'],
      ['CommandNotFound', '/none/fleet could not be started: No such file or directory'],
      ['CheckFailed', '[command-failed] usage: fleet'],
    ]);
  });

  it('a recorded job is a test, which fails with a diff', async () => {
    const recording: Recording = {
      recording: 1,
      writtenBy: '0.0.0',
      kind: 'solution-check',
      jobId: 'solution-check-1',
      payload: { solution: { content: SCALER } },
      settings: { runner: 'offline', opinion: 'both', maxTokens: 100, prices: {} },
      calls: [],
      requests: [],
      end: { result: {} },
    };
    const { end } = await runRecording(recording);
    const folder = mkdtempSync(join(tmpdir(), 'fleet-recordings-'));
    writeFileSync(join(folder, 'leaky.json'), JSON.stringify({ ...recording, end }));
    writeFileSync(join(folder, 'other.json'), JSON.stringify(recording));
    writeFileSync(join(folder, 'wrong.json'), '{}');
    const said = await run(`
import tempfile
from solution_fleet.testing import expect_replay, recordings

def end_of(path):
    try:
        return expect_replay(path, same_requests=True)["same"]
    except Exception as error:
        return [type(error).__name__, str(error)]

try:
    recordings(tempfile.mkdtemp())
except FileNotFoundError as error:
    none = str(error)
say(ends=[end_of(path) for path in recordings("${folder}")], none=none)`);
    expect(said.ends).toEqual([
      true,
      [
        'AssertionError',
        expect.stringMatching(
          /another result than recorded: result\.status: nothing was recorded, now "corrected"/,
        ),
      ],
      ['CheckFailed', expect.stringContaining('is no recording of a job')],
    ]);
    expect(said.none).toContain('there is no recording in');
  });
});
