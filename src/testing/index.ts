/** For tests of pipelines: scripted agents, a fleet in the process of the test, a clock, and recorded jobs. */

export type { Recording } from '../recordings/recording.js';
export { type Replay, readRecording, replay } from '../recordings/replay.js';
export { type ExpectReplayOptions, expectReplay, testRecordings } from './recordings.js';
export {
  type AgentScript,
  type ScriptedAgents,
  type ScriptedAnswer,
  type ScriptedRequest,
  scriptedAgents,
} from './scripted-agents.js';
export { TestClock } from './test-clock.js';
export { type SubmittedJob, startTestFleet, type TestFleet, type TestFleetOptions } from './test-fleet.js';
