import { trace } from '@opentelemetry/api';
import { pino } from 'pino';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { startTraceExporter } from '../../src/fleet/trace-exporter.js';
import { startTraceCollector } from '../support/trace-collector.js';

const warnings: string[] = [];
const logger = pino({}, { write: (line: string) => warnings.push(line) });

afterEach(() => {
  vi.unstubAllEnvs();
  warnings.length = 0;
  trace.disable();
});

describe('the exporter of traces', () => {
  it('is off unless the variables of OpenTelemetry ask for traces', async () => {
    await (await startTraceExporter(logger, {})).shutdown();
    trace.getTracer('test').startSpan('nobody sees it').end();
    expect(trace.getTracer('test').startSpan('x').isRecording()).toBe(false);
    expect(warnings).toEqual([]);
  });

  it('sends spans to the collector, with the name of the service, at the latest when it is shut down', async () => {
    const collector = await startTraceCollector();
    vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', collector.url);
    vi.stubEnv('OTEL_RESOURCE_ATTRIBUTES', 'deployment.environment=test');
    const traces = await startTraceExporter(logger);
    trace.getTracer('test').startSpan('a span of the test').end();
    // A second one leaves the first as it is.
    await (await startTraceExporter(logger)).shutdown();
    await traces.shutdown();
    collector.close();
    expect(collector.received).toEqual([
      {
        path: '/v1/traces',
        type: 'application/x-protobuf',
        body: expect.stringMatching(/deployment\.environment[\s\S]*solution-fleet[\s\S]*a span of the test/),
      },
    ]);
    expect(warnings).toEqual([]);
  });

  it('does not fail a command whose collector is not there', async () => {
    const collector = await startTraceCollector();
    collector.close();
    vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', collector.url);
    vi.stubEnv('OTEL_EXPORTER_OTLP_TIMEOUT', '200');
    const traces = await startTraceExporter(logger);
    trace.getTracer('test').startSpan('lost').end();
    await traces.shutdown();
  });

  it.each([
    ['OTEL_TRACES_EXPORTER', 'console'],
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc'],
  ])('says that it does not know %s=%s', async (variable, value) => {
    await startTraceExporter(logger, {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
      [variable]: value,
    });
    expect(warnings).toEqual([expect.stringContaining(`${variable} is \\"${value}\\"`)]);
    expect(trace.getTracer('test').startSpan('x').isRecording()).toBe(false);
  });
});
