import { lossCodes } from '#conversion/index.ts';
import type { GatewayError } from '#errors/index.ts';
import { unitsOf, type ChargeRecord, type ExchangeRecord, type Outcome } from '#usage/index.ts';
import type { Exchange } from './exchange.ts';
import type { ExchangeInput } from './input.ts';
import type { Measured } from './measured.ts';
import type { Tried } from './tried.ts';

/** So many names of channels stay below 1 KiB. */
const maxPassed = 8;

/** How an exchange ended. */
export interface Ending {
  readonly outcome: Outcome;
  /** The HTTP status the client got. */
  readonly status: number;
  readonly error: GatewayError | null;
  readonly measured: Measured;
  readonly tried: Tried;
}

/** Makes the one row of the exchange. */
export function recordOf(
  { input, model, stream }: Exchange,
  { outcome, status, error, measured, tried }: Ending,
  charge: ChargeRecord | null,
  durationMs: number,
): ExchangeRecord {
  const { caller } = input;
  const { attempts, sent, passed } = tried;
  const { upstreamState = null, ttftMs = null, losses = [], responseLosses = null } = sent ?? {};
  const lost = responseLosses === null ? losses : [...losses, ...responseLosses.all()];
  const units = unitsOf(measured.units, measured.tokens);
  return {
    id: input.id,
    time: input.arrivedAt,
    keyId: caller.keyId,
    userId: caller.userId,
    teamId: caller.teamId,
    group: caller.group,
    model: withoutKeys(model).slice(0, 200),
    upstreamModel: sent?.upstreamModel ?? null,
    channel: sent?.channel ?? null,
    protocol: input.protocol,
    operation: input.operation,
    stream,
    outcome,
    status,
    error: error?.errorName ?? null,
    attempts,
    tokens: measured.tokens,
    usageSource: measured.source,
    ttftMs: ttftMs === null ? null : Math.round(ttftMs),
    durationMs: Math.round(durationMs),
    rewrites: sent?.rewrites ?? [],
    losses: lost.length === 0 ? [] : lossCodes(lost),
    userAgent: userAgentOf(input),
    charge,
    ...(passed !== undefined && passed.length > 0 && { route: passed.slice(0, maxPassed) }),
    ...(units !== null && { units }),
    ...(measured.unread !== undefined && { usageUnread: measured.unread }),
    ...(upstreamState !== null && { upstreamState }),
  };
}

/** The client's own name, as rows have it; null: it gave none. */
export function userAgentOf({ headers }: Pick<ExchangeInput, 'headers'>): string | null {
  const text = headers['user-agent'];
  return typeof text === 'string' ? withoutKeys(text).slice(0, 200) : null;
}

/** Somebody may configure the key as the model's name, and a key must not be stored. No model is named like a key. */
function withoutKeys(text: string): string {
  return text.includes('sk-')
    ? text.replaceAll(/(?<![a-z0-9])sk-[\x21-\x7e]{16,}/gi, 'sk-…')
    : text;
}
