import { trace } from '@opentelemetry/api';
import { messageOf } from '../errors.js';
import type { Logger } from './logger.js';
import { tracesWanted } from './telemetry.js';

type Environment = Readonly<Record<string, string | undefined>>;

export interface TraceExporter {
  /** Sends the spans that still wait. It waits at most five seconds for the collector, and does not throw. */
  shutdown(): Promise<void>;
}

const NO_EXPORTER: TraceExporter = { shutdown: async () => undefined };
const SERVICE_NAME = 'solution-fleet';
/** Longest wait for the collector at the end of a command, in milliseconds. */
const LAST_SPANS_MS = 5_000;

/**
 * Sends the spans of this process to a collector by OTLP (HTTP with protobuf), if OpenTelemetry's variables ask for traces.
 * Does nothing in a process that was started with an OpenTelemetry SDK of its own (`node --import …/register`), and nothing
 * but a warning where the packages for it are not installed.
 */
export async function startTraceExporter(
  logger: Logger,
  environment: Environment = process.env,
): Promise<TraceExporter> {
  if (!tracesWanted(environment)) return NO_EXPORTER;
  const unknown = unknownExporter(environment);
  if (unknown !== undefined) {
    logger.warn(`no traces are sent: ${unknown}; start the process with an OpenTelemetry SDK that knows it`);
    return NO_EXPORTER;
  }
  try {
    return await registerExporter(logger);
  } catch (thrown) {
    logger.warn({ reason: messageOf(thrown) }, 'no traces are sent: the OpenTelemetry SDK cannot be loaded');
    return NO_EXPORTER;
  }
}

/** What of the variables asks for another exporter than ours. */
function unknownExporter(environment: Environment): string | undefined {
  const wanted: readonly (readonly [variable: string, value: string])[] = [
    ['OTEL_TRACES_EXPORTER', 'otlp'],
    ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'http/protobuf'],
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'http/protobuf'],
  ];
  for (const [variable, known] of wanted) {
    const value = environment[variable]?.trim() ?? '';
    if (value !== '' && value !== known) return `${variable} is ${JSON.stringify(value)}, not ${known}`;
  }
  return undefined;
}

async function registerExporter(logger: Logger): Promise<TraceExporter> {
  // Most processes write no traces, and these load a hundred modules.
  const [
    { OTLPTraceExporter },
    { defaultResource, detectResources, envDetector, resourceFromAttributes },
    sdk,
  ] = await Promise.all([
    import('@opentelemetry/exporter-trace-otlp-proto'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/sdk-trace-node'),
  ]);
  const named = resourceFromAttributes({ 'service.name': SERVICE_NAME });
  const provider = new sdk.NodeTracerProvider({
    resource: defaultResource()
      .merge(named)
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new sdk.BatchSpanProcessor(new OTLPTraceExporter())],
  });
  // False: the process has one already.
  if (!trace.setGlobalTracerProvider(provider)) {
    await provider.shutdown();
    return NO_EXPORTER;
  }
  // With its context manager and propagators.
  provider.register();
  return {
    shutdown: async () => {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(reject, LAST_SPANS_MS, new Error(`no answer within ${LAST_SPANS_MS} ms`));
      });
      try {
        await Promise.race([provider.shutdown(), late]);
      } catch (thrown) {
        logger.warn({ reason: messageOf(thrown) }, 'the last traces could not be sent');
      } finally {
        clearTimeout(timer);
      }
    },
  };
}
