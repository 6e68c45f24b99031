import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Reply } from './reply.ts';

/**
 * Keeps responses for repeated identical requests: a load test repeats a few bodies many thousand
 * times, and equal requests have equal responses.
 */
export type ReplyCache = (
  request: {
    readonly method: string;
    readonly headers: IncomingHttpHeaders;
    readonly body: Buffer | undefined;
  },
  target: string,
  fault: string,
  produce: () => Reply,
) => Reply;

const entryLimit = 256;
const bodyLimit = 64 * 1024;
/** A short request for many vectors or large pictures has a response of megabytes. */
const replyLimit = 16 * 2 ** 20;
const totalLimit = 64 * 2 ** 20;

/** The headers that can change a response. */
const decisive = [
  'authorization',
  'x-api-key',
  'x-goog-api-key',
  'anthropic-version',
  'anthropic-beta',
  'content-type',
  'host',
];

export function createReplyCache(): ReplyCache {
  const kept = new Map<string, Reply>();
  let total = 0;
  return (request, target, fault, produce) => {
    const { body, headers } = request;
    if (body === undefined || body.length > bodyLimit) return produce();
    const asked = decisive.map((name) => String(headers[name] ?? '-'));
    const key = [request.method, target, fault, ...asked, hash('sha1', body, 'base64')].join('\n');
    const known = kept.get(key);
    if (known) return known;
    const reply = produce();
    // A refused body may be accepted later (a stored response), so only successes are kept.
    const length = lengthOf(reply);
    if (reply.status !== 200 || length > replyLimit) return reply;
    kept.set(key, reply);
    total += length;
    for (const [oldest, entry] of kept) {
      if (kept.size <= entryLimit && total <= totalLimit) break;
      kept.delete(oldest);
      total -= lengthOf(entry);
    }
    return reply;
  };
}

function lengthOf({ body }: Reply): number {
  if (body.kind === 'whole') return body.bytes.length;
  return body.events.reduce((sum, event) => sum + event.data.length, 0);
}
