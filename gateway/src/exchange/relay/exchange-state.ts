import { judgeUsage, surchargedLines, tokenLines, type Hold } from '#billing/index.ts';
import type { Loss } from '#canonical/index.ts';
import type { Model } from '#catalogue/index.ts';
import { lossCodes, type AnswerLosses } from '#conversion/index.ts';
import { GatewayError } from '#errors/index.ts';
import type {
  AttemptRecord,
  ChargeRecord,
  ExchangeRecord,
  Outcome,
  StateRecord,
} from '#usage/index.ts';
import type { FinishedExchange } from '#observability/index.ts';
import { mayBeRetried, retryCountOf } from './client-retries.ts';
import type { ExchangeInput } from './exchange.ts';
import type { ExchangeUsage } from './exchange-usage.ts';
import type { RelayParts } from './parts.ts';
import { noSurcharges, type SurchargeFacts } from '#vendors/index.ts';
import { chargedSurcharges } from './surcharges.ts';

/** What is known of an exchange so far; becomes its usage row. */
export interface ExchangeState {
  readonly input: ExchangeInput;
  model: string;
  /** The catalogue's entry of it; null while it is not known, or when the catalogue has none. */
  catalogueModel: Model | null;
  /** How many answers were asked for. */
  choices: number;
  /** What was asked for that changes the price; what its upstream charges for besides tokens. */
  terms: readonly string[];
  surcharges: SurchargeFacts;
  /** Money set aside; null before that, and when nothing is billed. */
  hold: Hold | null;
  stream: boolean;
  upstreamModel: string | null;
  channel: string | null;
  readonly attempts: AttemptRecord[];
  rewrites: readonly string[];
  /** Of converting the request for the channel asked last. */
  losses: readonly Loss[];
  /** Of converting the answer; null when nothing was converted. */
  answerLosses: Pick<AnswerLosses, 'all'> | null;
  /** What the answer named that its upstream keeps; null when it named nothing. */
  upstreamState: StateRecord | null;
  /** Milliseconds from arrival to the first content; null when none came. */
  ttftMs: number | null;
  /** How often the client says it has sent this before. */
  readonly retryCount: number;
  /** What tells this body from others; null while nobody wants to know. */
  readonly bodyDigest: string | null;
}

export function createExchangeState(
  { digestBody }: Pick<RelayParts, 'digestBody'>,
  input: ExchangeInput,
): ExchangeState {
  const retryCount = retryCountOf(input);
  return {
    input,
    model: input.pathModel ?? '',
    catalogueModel: null,
    choices: 1,
    terms: [],
    surcharges: noSurcharges,
    hold: null,
    stream: input.pathStream ?? false,
    upstreamModel: null,
    channel: null,
    attempts: [],
    rewrites: [],
    losses: [],
    answerLosses: null,
    upstreamState: null,
    ttftMs: null,
    retryCount,
    // Now: once an answer is shown the body is gone.
    bodyDigest: retryCount > 0 ? digestBody(input.body) : null,
  };
}

export interface Ending {
  readonly outcome: Outcome;
  readonly status: number;
  readonly error: GatewayError | null;
  readonly usage: ExchangeUsage;
}

/** Settings get mixed up: a key in the place of a model's name must not be kept. No model is called like this. */
function withoutKeys(text: string): string {
  return text.includes('sk-')
    ? text.replaceAll(/(?<![a-z0-9])sk-[\x21-\x7e]{16,}/gi, 'sk-…')
    : text;
}

/** The exchange's one row. */
export function recordOf(
  state: ExchangeState,
  ending: Ending,
  charge: ChargeRecord | null,
  durationMs: number,
): ExchangeRecord {
  const { input } = state;
  const userAgent = input.headers['user-agent'];
  return {
    id: input.id,
    time: input.arrivedAt,
    keyId: input.caller.keyId,
    userId: input.caller.userId,
    teamId: input.caller.teamId,
    group: input.caller.group,
    model: withoutKeys(state.model).slice(0, 200),
    upstreamModel: state.upstreamModel,
    channel: state.channel,
    protocol: input.protocol,
    operation: input.operation,
    stream: state.stream,
    outcome: ending.outcome,
    status: ending.status,
    error: ending.error?.errorName ?? null,
    attempts: state.attempts,
    tokens: ending.usage.tokens,
    usageSource: sourceOf(state, ending.usage),
    ttftMs: state.ttftMs === null ? null : Math.round(state.ttftMs),
    durationMs: Math.round(durationMs),
    rewrites: state.rewrites,
    losses: lossCodes([...state.losses, ...(state.answerLosses?.all() ?? [])]),
    userAgent: typeof userAgent === 'string' ? withoutKeys(userAgent).slice(0, 200) : null,
    charge,
    ...(state.upstreamState !== null && { upstreamState: state.upstreamState }),
  };
}

/** What of the relay's parts an end takes. */
export type SettlingParts = Pick<RelayParts, 'billing' | 'clock' | 'digestBody'> & {
  readonly journal: Pick<RelayParts['journal'], 'append'>;
  readonly observer: Pick<RelayParts['observer'], 'finished'>;
};

/** Makes the exchange's row durable. Everything that tells the client of an end waits for this. */
export function settle(parts: SettlingParts, state: ExchangeState, ending: Ending): Promise<void> {
  const durationMs = parts.clock.monotonic() - state.input.startedAt;
  const { hold } = state;
  const charge = hold === null || !isOwed(ending) ? null : chargeFor(parts, state, hold, ending);
  const record = recordOf(state, ending, charge, durationMs);
  return parts.journal.append(record).then(
    () => {
      if (hold !== null) parts.billing.commitHold(hold, charge);
      parts.observer.finished(observed(parts, state, record));
    },
    (error: unknown) => {
      if (hold !== null) parts.billing.commitHold(hold, null);
      parts.observer.finished(observed(parts, state, withoutRow(record)));
      throw error;
    },
  );
}

/** @throws what billing throws; then nothing is held any more. */
function chargeFor(
  { billing }: SettlingParts,
  state: ExchangeState,
  hold: Hold,
  { usage }: Ending,
): ChargeRecord {
  try {
    const { catalogueModel: model, surcharges: facts } = state;
    const told = usage.surcharges;
    const surcharges =
      told === undefined || model === null ? undefined : chargedSurcharges(told, model, facts);
    const lines = (rates: Hold['rates']) =>
      surchargedLines(rates, tokenLines(rates, usage.tokens), surcharges);
    return billing.charge(hold, lines, sourceOf(state, usage));
  } catch (error) {
    billing.commitHold(hold, null);
    throw error;
  }
}

/** Failures are nobody's debt but the operator's; who leaves an answer owes for what there is of it. */
function isOwed({ outcome, usage }: Ending): boolean {
  return (outcome === 'completed' || outcome === 'client-left') && usage.source !== 'none';
}

/** Reported numbers that cannot be true are marked: they bound nothing, the hold does. */
function sourceOf(
  { catalogueModel, choices }: ExchangeState,
  { tokens, source, implausible }: ExchangeUsage,
): ExchangeRecord['usageSource'] {
  if (source === 'none' || catalogueModel === null) return source;
  const judged = judgeUsage({ tokens, implausible }, catalogueModel, choices);
  return judged === 'quarantined' ? judged : source;
}

/** What became of an exchange whose row is lost: a finished answer is not shown, a failure is told all the same. */
function withoutRow(record: ExchangeRecord): ExchangeRecord {
  if (record.outcome !== 'completed') return record;
  return { ...record, outcome: 'failed', status: 503, error: 'unavailable' };
}

function observed(
  parts: Pick<RelayParts, 'digestBody'>,
  state: ExchangeState,
  record: ExchangeRecord,
): FinishedExchange {
  const { input, catalogueModel, retryCount } = state;
  const modelId = catalogueModel?.id ?? null;
  const { traceparent, tracestate } = input.headers;
  return {
    record,
    keyName: input.caller.keyName,
    modelId,
    retryCount,
    bodyDigest: bodyDigestOf(parts, state, record),
    traceparent,
    tracestate,
  };
}

/** Of requests that may come again, and of those that did; the others are not worth the time. */
function bodyDigestOf(
  { digestBody }: Pick<RelayParts, 'digestBody'>,
  { input, bodyDigest }: ExchangeState,
  { status }: ExchangeRecord,
): string | null {
  if (bodyDigest !== null || !mayBeRetried(status) || input.body.length === 0) return bodyDigest;
  return digestBody(input.body);
}
