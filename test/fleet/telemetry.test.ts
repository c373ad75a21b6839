import { describe, expect, it } from 'vitest';
import { loadTelemetry, tracesWanted } from '../../src/fleet/telemetry.js';

describe('telemetry', () => {
  it.each([
    [{}, false],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' }, true],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: '' }, false],
    [{ OTEL_TRACES_EXPORTER: 'none', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://x' }, false],
    [{ OTEL_TRACES_EXPORTER: 'otlp', OTEL_SDK_DISABLED: 'true' }, false],
  ])('with %j traces are wanted: %s', (environment, wanted) => {
    expect(tracesWanted(environment)).toBe(wanted);
  });

  it('is not loaded if no traces are wanted', async () => {
    expect(await loadTelemetry({})).toBeUndefined();
  });
});
