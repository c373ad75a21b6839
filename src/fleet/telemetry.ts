import { type Telemetry, TelemetryAttributes } from 'bullmq';

/** What BullMQ writes its spans with; the context is that of whichever OpenTelemetry library is in use. */
// biome-ignore lint/suspicious/noExplicitAny: BullMQ leaves the type of the context open
export type FleetTelemetry = Telemetry<any>;

/** Variables by which OpenTelemetry itself is told to send traces. */
const TRACE_VARIABLES = [
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
  'OTEL_TRACES_EXPORTER',
];

/** Whether OpenTelemetry's own variables ask for traces. */
export function tracesWanted(environment: Readonly<Record<string, string | undefined>>): boolean {
  if (environment.OTEL_SDK_DISABLED?.toLowerCase() === 'true') return false;
  if (environment.OTEL_TRACES_EXPORTER?.trim() === 'none') return false;
  return TRACE_VARIABLES.some((name) => (environment[name] ?? '') !== '');
}

/**
 * Telemetry for BullMQ's queues and workers, where traces are wanted. The spans go to the OpenTelemetry SDK that the
 * process was started with (`node --import …/register`); without one they go nowhere.
 */
export async function loadTelemetry(
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Promise<FleetTelemetry | undefined> {
  if (!tracesWanted(environment)) return undefined;
  const { BullMQOtel } = await import('bullmq-otel');
  return withoutResults(new BullMQOtel({ tracerName: 'solution-fleet' }));
}

/**
 * The same telemetry, but for what jobs return: BullMQ writes it into an event of the job's span, and it holds the
 * scripts of users, who did not ask for these to go to whoever collects traces.
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
