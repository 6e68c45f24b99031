import { ProxyTracerProvider, trace, type Tracer } from '@opentelemetry/api';
import type { Logger } from '../logger.ts';
import type { Tracing } from './export.ts';

export type { Tracing } from './export.ts';

/**
 * An SDK that was loaded before the gateway has precedence. Otherwise the standard variables decide, and without
 * `OTEL_EXPORTER_OTLP_ENDPOINT` no SDK is loaded
 * (https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/).
 */
export async function openTracing(log: Pick<Logger, 'info' | 'warn'>): Promise<Tracing> {
  const loaded = loadedTracer();
  if (loaded !== null || !isWanted()) return { tracer: loaded, close: async () => {} };
  const { openExport } = await import('./export.ts');
  const protocol =
    variable('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL') || variable('OTEL_EXPORTER_OTLP_PROTOCOL');
  return openExport(protocol || 'http/protobuf', log);
}

/** The tracer of the SDK; null if no SDK has registered itself. */
function loadedTracer(): Tracer | null {
  const provider = trace.getTracerProvider();
  if (provider instanceof ProxyTracerProvider) return provider.getDelegateTracer('sluice') ?? null;
  return provider.getTracer('sluice');
}

function isWanted(): boolean {
  const endpoint =
    variable('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT') || variable('OTEL_EXPORTER_OTLP_ENDPOINT');
  return (
    endpoint !== '' &&
    variable('OTEL_SDK_DISABLED').toLowerCase() !== 'true' &&
    variable('OTEL_TRACES_EXPORTER').toLowerCase() !== 'none'
  );
}

function variable(name: string): string {
  // oxlint-disable-next-line node/no-process-env -- the SDK reads its other variables there too
  return process.env[name]?.trim() ?? '';
}
