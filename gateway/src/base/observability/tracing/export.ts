import { setTimeout as wait } from 'node:timers/promises';
import { diag, DiagLogLevel, type Tracer } from '@opentelemetry/api';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  type SpanExporter,
} from '@opentelemetry/sdk-trace-base';
import type { Logger } from '../logger.ts';

/* The only file that loads the SDK, which reads the standard variables of the process itself. */

/** Where spans go. */
export interface Tracing {
  /** Null: tracing is off. */
  readonly tracer: Tracer | null;
  /** Sends the last spans, for two seconds at most. */
  close(): Promise<void>;
}

type Log = Pick<Logger, 'info' | 'warn'>;

const component = 'traces';

/** Milliseconds for which the last spans may hold up the end of the process. */
const closeTimeout = 2_000;

const exporters = { 'http/protobuf': ProtobufExporter, 'http/json': JsonExporter };

/**
 * Sends spans in batches, in the background. The SDK keeps at most `OTEL_BSP_MAX_QUEUE_SIZE` of them (2048) and drops
 * what comes beyond, so a collector that is slow or down costs spans and nothing else.
 */
export function openExport(protocol: string, log: Log): Tracing {
  if (!(protocol in exporters)) {
    const detail = `OTEL_EXPORTER_OTLP_PROTOCOL is ${protocol}: only http/protobuf and http/json are spoken`;
    log.warn('traces are off', { component, detail });
    return { tracer: null, close: async () => {} };
  }
  // While the variables are read the SDK says which of them it cannot use. Later it would repeat every failure.
  const warn = (message: string): void =>
    log.warn('a variable of OpenTelemetry is not usable', { component, detail: message });
  const silent = (): void => {};
  const logger = { error: warn, warn, info: silent, debug: silent, verbose: silent };
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  const Exporter = exporters[protocol as keyof typeof exporters];
  const exporter = reportFailures(new Exporter(), log);
  const provider = new BasicTracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': 'sluice' }))
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(exporter)],
  });
  diag.disable();
  return {
    tracer: provider.getTracer('sluice'),
    async close() {
      // It fails as the last batch does, which is reported.
      const sent = provider.shutdown().catch(() => {});
      await Promise.race([sent, wait(closeTimeout, undefined, { ref: false })]);
    },
  };
}

/** Reports the first failure in a row, and its end. */
function reportFailures(exporter: SpanExporter, log: Log): SpanExporter {
  let lost = 0;
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const { error } = result;
        if (error === undefined) {
          if (lost > 0) log.info('the collector takes spans again', { component, count: lost });
          lost = 0;
        } else {
          if (lost === 0) {
            log.warn('the collector takes no spans', { component, detail: describe(error) });
          }
          lost += spans.length;
        }
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => exporter.forceFlush?.(),
  };
}

/** Its text, code or status. A refused connection to a name with several addresses has only a code. */
function describe({ message, code = '' }: Error & { readonly code?: unknown }): string {
  return [message, ...(message.includes(String(code)) ? [] : [String(code)])].join(' ').trim();
}
