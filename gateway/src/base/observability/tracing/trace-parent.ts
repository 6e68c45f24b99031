import { createTraceState, type SpanContext } from '@opentelemetry/api';

/** https://www.w3.org/TR/trace-context/#traceparent-header; later versions may append to it. */
const traceparentForm =
  /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** The specification requires everybody to carry this many characters; longer values are dropped. */
const longestTracestate = 512;

/**
 * The span that the client names as parent; null if there is none or it is malformed. `tracestate` counts only beside a
 * valid `traceparent`.
 */
export function parseTraceparent(
  traceparent: string | readonly string[] | undefined,
  tracestate: string | readonly string[] | undefined,
): SpanContext | null {
  if (typeof traceparent !== 'string' || traceparent.length > 200) return null;
  const [, version, traceId, spanId, flags = '', rest] = traceparentForm.exec(traceparent) ?? [];
  if (traceId === undefined || spanId === undefined) return null;
  if (version === '00' && rest !== undefined) return null;
  const state = typeof tracestate === 'string' && tracestate.length <= longestTracestate;
  return {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16) & 1,
    isRemote: true,
    ...(state ? { traceState: createTraceState(tracestate) } : {}),
  };
}
