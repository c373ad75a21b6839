import { beforeEach, describe, expect, it } from 'vitest';
import { gatewayOfTest, type TestGateway } from '../gateway/gateway-fixture.js';
import { leaks, runnerFor } from '../support/agent-answers.js';
import type { TestFleet } from '../support/fleet.js';
import { errorReply, startMessagesApi } from '../support/messages-api.js';
import { redisOfFile } from '../support/redis.js';
import { pythonOfFile, runPython } from './python-program.js';

const withPython = await pythonOfFile();
const redis = redisOfFile();
let test: TestFleet;
let gateway: TestGateway;

beforeEach(async () => {
  ({ test, gateway } = await gatewayOfTest(redis, 'python-operations'));
});

describe.skipIf(!withPython)('known solutions of the Python client', () => {
  it('are added once each, read, and forgotten one by one or all', async () => {
    const said = await runPython(
      gateway.url,
      `
case = "case/1 ü?"
added = [fleet.known.add(case, "print(1)\\n", language="python", added_to_training="2026-01-02T03:04:05Z"),
         fleet.known.add(case, "print(1)\\n"), fleet.known.add(case, "print(2)\\n")]
known = sorted(fleet.known.of(case), key=lambda each: each["solution"])
removed = [fleet.known.remove(case, known[0]["hash"]), fleet.known.remove(case)]
say(added=added, solutions=[each["solution"] for each in known], language=known[0]["language"],
    since=known[0]["addedToTraining"], removed=removed, left=fleet.known.of(case))
`,
    );
    expect(said).toEqual({
      added: [true, false, true],
      solutions: ['print(1)\n', 'print(2)\n'],
      language: 'python',
      since: '2026-01-02T03:04:05Z',
      removed: [1, 1],
      left: [],
    });
  });
});

describe.skipIf(!withPython)('dead letters of the Python client', () => {
  it('are listed by a filter, shown with payload and calls, run again, and dropped', async () => {
    let repaired = false;
    const api = await startMessagesApi({
      reply: ({ text }) => (repaired && !text.includes('broken') ? leaks() : errorReply(401)),
    });
    await test.worker(runnerFor(api));
    const submit = `
def submit(content, run):
    return fleet.submit("solution-check", {"solution": {"content": content}, "tags": {"run": run}})
`;
    const said = await runPython(
      gateway.url,
      `${submit}
jobs = [submit("x = 1\\n", "one"), submit("broken = 1\\n", "two")]
for job in jobs:
    job.wait(timeout_s=60)
listed = fleet.dead_letters.find(run="one", code="unauthorized")
letter = fleet.dead_letters.show(jobs[0].id)
try:
    fleet.dead_letters.drop()
except ApiError as error:
    refused = error.status
try:
    fleet.dead_letters.find(runs="one")
except TypeError as error:
    misspelled = str(error)
say(listed=[job["id"] for job in listed] == [jobs[0].id], payload=letter["payload"]["solution"]["content"],
    calls=[call["state"] for call in letter["calls"]], refused=refused, misspelled=misspelled, ids=[job.id for job in jobs])
`,
    );
    expect(said).toMatchObject({ listed: true, payload: 'x = 1\n', calls: ['failed'], refused: 400 });
    expect(said.misspelled).toContain("'runs' is not a filter");
    repaired = true;
    const [first, second] = said.ids as string[];
    const after = await runPython(
      gateway.url,
      `
done = fleet.dead_letters.retry(ids=["${first}"])["done"]
status = fleet.wait("${first}", timeout_s=60)["state"]
dropped = fleet.dead_letters.drop(run="two", older_than_s=0)["done"]
say(done=done, status=status, dropped=dropped, left=fleet.dead_letters.find())
`,
    );
    expect(after).toEqual({ done: [first], status: 'completed', dropped: [second], left: [] });
    await api.close();
  });
});
