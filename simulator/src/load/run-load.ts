import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { measureRequest, type LoadResult } from './request.ts';
import { createSummary, type LoadSummary } from './summary.ts';

export interface LoadOptions {
  readonly url: string;
  /** Default POST. */
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** One body for every request, */
  readonly body?: string;
  /** or several that are used in turn. */
  readonly bodies?: readonly string[];
  readonly connections: number;
  /** Stop after this many requests, */
  readonly requests?: number;
  /** or after this time; requests under way are finished. */
  readonly durationMs?: number;
  /**
   * Requests per second, started on time regardless of responses (open loop). Without it, every
   * connection sends its next request after the last response (closed loop).
   */
  readonly rate?: number;
  readonly stream: boolean;
  /** Default 120 000. */
  readonly timeoutMs?: number;
  onResult?(result: LoadResult): void;
}

/** Loads one address and measures the responses. Throws without an end or a body. */
export async function runLoad(options: LoadOptions): Promise<LoadSummary> {
  const limit = options.requests ?? Number.POSITIVE_INFINITY;
  const duration = options.durationMs ?? Number.POSITIVE_INFINITY;
  if (limit === Number.POSITIVE_INFINITY && duration === Number.POSITIVE_INFINITY) {
    throw new RangeError('A load needs an end: requests or durationMs.');
  }
  const bodies = (options.bodies ?? [options.body ?? '']).map((body) => Buffer.from(body));
  const agent = new Agent({
    keepAlive: true,
    maxSockets: options.connections,
    maxFreeSockets: options.connections,
  });
  const { onResult, method = 'POST', timeoutMs = 120_000 } = options;
  const fixed = {
    url: new URL(options.url),
    method,
    headers: { 'content-type': 'application/json', ...options.headers },
    agent,
    stream: options.stream,
    timeoutMs,
  };
  const summary = createSummary();
  const start = performance.now();
  let sent = 0;
  const mayStart = () => sent < limit && performance.now() - start < duration;
  const send = async (due: number) => {
    const body = bodies[sent % bodies.length] ?? Buffer.alloc(0);
    sent += 1;
    const result = await measureRequest({ ...fixed, body, due });
    summary.add(result);
    onResult?.(result);
  };
  try {
    await (options.rate === undefined
      ? runClosed(options.connections, mayStart, send)
      : runOpen(options.rate, start, mayStart, send));
  } finally {
    agent.destroy();
  }
  return summary.finish(performance.now() - start);
}

async function runClosed(
  connections: number,
  mayStart: () => boolean,
  send: (due: number) => Promise<void>,
): Promise<void> {
  const work = async () => {
    while (mayStart()) await send(performance.now());
  };
  await Promise.all(Array.from({ length: connections }, work));
}

/** A late request is measured from when it was due, so that a stall is not hidden. */
async function runOpen(
  rate: number,
  start: number,
  mayStart: () => boolean,
  send: (due: number) => Promise<void>,
): Promise<void> {
  const open = new Set<Promise<void>>();
  for (let index = 0; mayStart(); index++) {
    const due = start + (index * 1000) / rate;
    const early = due - performance.now();
    if (early > 1) await sleep(early);
    if (!mayStart()) break;
    const sending = send(due).finally(() => open.delete(sending));
    open.add(sending);
  }
  await Promise.all(open);
}
