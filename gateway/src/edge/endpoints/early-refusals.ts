import type { FastifyRequest } from 'fastify';
import { noTokens, type OperationName, type ProtocolName } from '#canonical/index.ts';
import { type ErrorName, GatewayError } from '#errors/index.ts';
import type { ExchangeRecord } from '#usage/index.ts';

/** Refusals of a key that is known, before anything of a request is read. */
const noted: ReadonlySet<ErrorName> = new Set([
  'rate_limited',
  'invalid_key',
  'team_disabled',
  'ip_not_allowed',
]);

/** What the path of a call says about it; the first match counts. */
const calls: readonly (readonly [
  path: RegExp,
  protocol: ProtocolName,
  operation: OperationName,
])[] = [
  [/^\/v1\/chat\/completions$/, 'chat', 'generate'],
  [/^\/v1\/responses\/compact$/, 'responses', 'compact'],
  [/^\/v1\/responses$/, 'responses', 'generate'],
  [/^\/v1\/messages\/count_tokens$/, 'messages', 'count-tokens'],
  [/^\/v1\/messages$/, 'messages', 'generate'],
  [/^\/v1\/embeddings$/, 'embeddings', 'embed'],
  [/^\/v1\/images\//, 'images', 'generate'],
  [/^\/v1(?:beta)?\/models\/.*:countTokens$/, 'generate-content', 'count-tokens'],
  [/^\/v1(?:beta)?\/models\/.*:/, 'generate-content', 'generate'],
  [/\/services\//, 'video-synthesis', 'generate'],
  [/^\/api\/v3\//, 'video-contents', 'generate'],
];

/**
 * The row of a request that was refused before it was read; its model is not known. Null: it leaves none, because no key
 * is known, or because it calls no model. Nothing in it is chosen by the client but the client's own name.
 */
export function earlyRefusalOf(
  request: Pick<FastifyRequest, 'id' | 'url' | 'method' | 'arrivedAt' | 'startedAt' | 'caller'> & {
    readonly refusedCaller: FastifyRequest['refusedCaller'];
  },
  error: Error,
): ExchangeRecord | null {
  const caller = request.caller ?? request.refusedCaller;
  if (caller === null || !(error instanceof GatewayError) || !noted.has(error.errorName)) {
    return null;
  }
  const path = request.url.split('?', 1)[0] ?? '';
  const call =
    request.method === 'POST' ? calls.find(([pattern]) => pattern.test(path)) : undefined;
  if (call === undefined) return null;
  const [, protocol, operation] = call;
  const { keyId, userId, teamId, group } = caller;
  return {
    id: request.id,
    time: request.arrivedAt,
    keyId,
    userId,
    teamId,
    group,
    model: '',
    upstreamModel: null,
    channel: null,
    protocol,
    operation,
    stream: false,
    outcome: 'refused',
    status: error.entry.status,
    error: error.errorName,
    attempts: [],
    tokens: noTokens,
    usageSource: 'none',
    ttftMs: null,
    durationMs: performance.now() - request.startedAt,
    rewrites: [],
    losses: [],
    userAgent: null,
    charge: null,
  };
}
