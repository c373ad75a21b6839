/**
 * Options of the processes that run tests. Most code of a test runs a few times only: compiling what V8 takes for hot was a
 * quarter of all processor time, and collecting what is young another part. There are more of these processes than cores, so
 * threads that help to collect take their time from others.
 */
export const V8_FLAGS = ['--interrupt-budget=1000000', '--max-semi-space-size=64', '--single-threaded-gc'];
