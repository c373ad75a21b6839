import { type Telemetry, TelemetryAttributes } from 'bullmq';

/** Writes BullMQ's spans; the type of the context depends on the OpenTelemetry library. */
// biome-ignore lint/suspicious/noExplicitAny: BullMQ leaves the type of the context open
export type FleetTelemetry = Telemetry<any>;

/** OpenTelemetry's variables that turn on traces. */
const TRACE_VARIABLES = [
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
  'OTEL_TRACES_EXPORTER',
];

/** Whether OpenTelemetry's variables ask for traces. */
export function tracesWanted(environment: Readonly<Record<string, string | undefined>>): boolean {
  if (environment.OTEL_SDK_DISABLED?.toLowerCase() === 'true') return false;
  if (environment.OTEL_TRACES_EXPORTER?.trim() === 'none') return false;
  return TRACE_VARIABLES.some((name) => (environment[name] ?? '') !== '');
}

/**
 * Telemetry for BullMQ's queues and workers, if traces are wanted. The spans go to the OpenTelemetry SDK that the process
 * was started with (`node --import …/register`); without one they are dropped.
 */
export async function loadTelemetry(
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Promise<FleetTelemetry | undefined> {
  if (!tracesWanted(environment)) return undefined;
  const { BullMQOtel } = await import('bullmq-otel');
  return withoutResults(new BullMQOtel({ tracerName: 'solution-fleet' }));
}

/**
 * The same telemetry without the results of jobs: BullMQ writes these into an event of the job's span. They contain users'
 * scripts, which must not go to the collector of traces.
 */
function withoutResults(telemetry: FleetTelemetry): FleetTelemetry {
  return {
    contextManager: telemetry.contextManager,
    tracer: {
      startSpan: (name, options, context) => {
        const span = telemetry.tracer.startSpan(name, options, context);
        const addEvent = span.addEvent.bind(span);
        span.addEvent = (event, attributes) => {
          const { [TelemetryAttributes.JobResult]: _result, ...others } = attributes ?? {};
          addEvent(event, others);
        };
        return span;
      },
    },
  };
}
