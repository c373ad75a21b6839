import { describe, expect, it } from 'vitest';
import { messageOf } from '../../src/errors.js';
import { MAX_FOLLOW_UP_DEPTH, MAX_FOLLOW_UPS } from '../../src/queues/follow-ups/contract.js';
import { BUILT_IN_CONTRACTS, KINDS } from '../../src/queues/registry.js';
import { checkFollowUps, parsePayload } from '../../src/queues/validate.js';

const testCase = { id: 't', name: 't', difficulty: 'easy' };
const solution = { content: 'x = 1\n' };
const contamination = {
  kind: 'contamination',
  payload: { testCase },
  from: { output: 'result.solution.content' },
};
const again = { kind: 'solution-check', from: { solution: 'result.solution' } };

/** The message with which follow-ups of a solution check are rejected; undefined if they are not. */
function rejection(...then: readonly unknown[]): string | undefined {
  try {
    const payload = parsePayload('solution-check', { solution, model: 'claude-test', then });
    checkFollowUps(BUILT_IN_CONTRACTS, KINDS['solution-check'], payload);
    return undefined;
  } catch (thrown) {
    return messageOf(thrown);
  }
}

const nested = (depth: number): object => (depth === 1 ? again : { ...again, then: [nested(depth - 1)] });

describe('declared follow-ups', () => {
  it.each<[string, object]>([
    ['a mapped field', contamination],
    ['a condition with a value', { ...contamination, when: { status: 'clean' } }],
    ['a condition with a list', { ...contamination, when: { status: ['clean', 'corrected'] } }],
    ['a field of the payload', { kind: 'solution-check', from: { solution: 'payload.solution' } }],
    ['a model of the payload', { ...again, from: { ...again.from, model: 'payload.model' } }],
    ['tags of their own', { ...again, payload: { tags: { round: '2' } } }],
    ['follow-ups of their own', nested(MAX_FOLLOW_UP_DEPTH)],
  ])('may have %s', (_name, followUp) => {
    expect(rejection(followUp)).toBeUndefined();
  });

  it.each<[string, object, string]>([
    ['an unknown kind', { ...again, kind: 'verify' }, 'then[0].kind: "verify" is not a kind of job'],
    [
      'the definition of a kind',
      { ...again, kind: KINDS.contamination },
      'then[0].kind: is the definition of a kind; use its name, "contamination"',
    ],
    ['an unknown key', { ...again, if: 1 }, 'then[0].if: unknown field'],
    ['an unknown field', { ...again, payload: { speed: 1 } }, 'then[0].payload.speed: unknown field'],
    ['a wrong value', { ...again, payload: { verify: 'x' } }, 'then[0].payload.verify: '],
    ['a contract version', { ...again, payload: { v: 9 } }, 'then[0].payload.v: is not set here'],
    [
      'follow-ups in its payload',
      { ...again, payload: { then: [] } },
      'then[0].payload.then: is not set here',
    ],
    [
      'a tag of the fleet',
      { ...again, payload: { tags: { run: 'other' } } },
      'then[0].payload.tags.run: is set by the fleet',
    ],
    [
      'a field twice',
      { ...again, payload: { solution } },
      'then[0].payload.solution: is in "payload" and in "from"',
    ],
    ['a missing field', { kind: 'contamination', payload: { testCase } }, 'then[0]: output of contamination'],
    [
      'an unknown field in its condition',
      { ...again, when: { state: 'clean' } },
      'then[0].when.state: a result of solution-check has no field "state"',
    ],
    [
      'a nested field in its condition',
      { ...again, when: { 'solution.content': 'x' } },
      'then[0].when.solution.content: a result of solution-check has no field',
    ],
    [
      'a value that the result never has',
      { ...again, when: { status: ['clean', 'claen'] } },
      'then[0].when.status: status is never "claen"; it is "clean" or "corrected"',
    ],
    [
      'more values in its condition than may be listed',
      { ...again, when: { status: Array(101).fill('clean') } },
      'then[0].when.status',
    ],
    [
      'a condition that zod would drop',
      { ...again, when: JSON.parse('{"__proto__": "clean"}') },
      'then[0].when.__proto__: is not the name of a field',
    ],
    [
      'more tags than the fleet leaves room for',
      {
        ...again,
        payload: { tags: Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`t${at}`, ''])) },
      },
      'then[0].payload.tags: a follow-up has at most 29 tags',
    ],
    ['an empty list in its condition', { ...again, when: { status: [] } }, 'then[0].when.status'],
    [
      'a source that is no field',
      { ...again, from: { solution: 'result.script' } },
      'then[0].from.solution: a result of solution-check has no field "script"',
    ],
    [
      'a source that is no path',
      { ...again, from: { solution: 'solution' } },
      'must be "result." or "payload."',
    ],
    [
      'a source of another type',
      { ...contamination, from: { output: 'result.findings' } },
      'then[0].from.output: result.findings is array of object',
    ],
    [
      'a list of other things than the target takes',
      {
        kind: 'extract',
        payload: { summary: 's' },
        from: { ...again.from, previousBlocks: 'result.findings' },
      },
      'then[0].from.previousBlocks: result.findings is array of object with leakageStatus,',
    ],
    [
      'an object with a field that the target does not take',
      { ...contamination, from: { ...contamination.from, config: 'result.solution' } },
      'then[0].from.config: result.solution is object with content, and config takes object',
    ],
    [
      'a queue that a field of another kind names',
      { kind: 'refinement-loop', from: { newBlock: 'payload.tags' } },
      'then[0].from.newBlock: may only be copied from "payload.newBlock"',
    ],
    [
      'a queue that the job does not name',
      { kind: 'refinement-loop', from: { newBlock: 'payload.newBlock' } },
      'then[0].from.newBlock: names a pipeline queue',
    ],
    [
      'an object without the fields of the target',
      { ...again, from: { solution: 'result.usage' } },
      'then[0].from.solution: result.usage is object with calls,',
    ],
    [
      'a model from a result',
      { ...again, from: { ...again.from, model: 'result.solutionDigest' } },
      'then[0].from.model: may only be copied from "payload.model"',
    ],
    [
      'a field that the payload does not have',
      { ...again, from: { ...again.from, workspace: 'payload.workspace' } },
      'then[0].from.workspace: the job has no payload.workspace',
    ],
    [
      'a value of the payload that the target does not take',
      { ...again, from: { ...again.from, verify: 'payload.solution.content' } },
      'then[0].from.verify: payload.solution.content is "x = 1\\n": ',
    ],
    [
      'a field that the payload of a follow-up does not have',
      { ...again, then: [{ ...again, from: { ...again.from, model: 'payload.model' } }] },
      'then[0].then[0].from.model: the job has no payload.model',
    ],
    [
      'an unknown kind below',
      { ...again, then: [{ ...again, kind: 'x' }] },
      'then[0].then[0].kind: "x" is not a kind',
    ],
    [
      'a field of the inherited object',
      { ...again, from: { solution: 'result.constructor' } },
      'has no field "constructor"',
    ],
  ])('are rejected with %s', (_name, followUp, message) => {
    expect(rejection(followUp)).toContain(message);
  });

  it('are rejected with the same name twice, nested too deep, or too many', () => {
    expect(rejection(again, again)).toContain('then[1].name: two follow-ups have the name "solution-check"');
    expect(rejection(nested(MAX_FOLLOW_UP_DEPTH + 1))).toContain(
      `nested at most ${MAX_FOLLOW_UP_DEPTH} deep`,
    );
    const many = Array.from({ length: MAX_FOLLOW_UPS + 1 }, (_, at) => ({ ...again, name: `n${at}` }));
    expect(rejection(...many)).toContain(`at most ${MAX_FOLLOW_UPS} follow-ups`);
  });

  it('are rejected if they contain themselves', () => {
    const cycle: { kind: string; then?: unknown[] } = { ...again };
    cycle.then = [cycle];
    expect(rejection(cycle)).toContain('nested at most');
  });
});
