import { GatewayError } from '#errors/index.ts';
import {
  estimateOutputTokens,
  estimateTokens,
  type Protocol,
  type StreamTap,
} from '#protocols/index.ts';
import { answerHeaders } from './answer-headers.ts';
import { isError } from './attempts/error-body.ts';
import { attemptUntilAnswered } from './attempts/failover.ts';
import type { StreamSlot } from './attempts/tries.ts';
import { createTokenCounting, type TokenCount, type TokenCounting } from './counts/count-tokens.ts';
import type { ExchangeInput, Relay } from './exchange.ts';
import { createExchangeState, settle, type Ending, type ExchangeState } from './exchange-state.ts';
import { asReported, nothingUsed, usageOfAnswer, usageOfLeaving } from './exchange-usage.ts';
import { createFraming } from './streams/framing.ts';
import type { AttemptOutcome } from './attempts/outcome.ts';
import type { RelayParts } from './parts.ts';
import { ClientGone, largeBodyOf } from './large-body.ts';
import {
  checkLargeRequest,
  checkNames,
  checkRequest,
  findWays,
  holdMoney,
  type Prepared,
} from './prepare.ts';
import { StreamSink } from './streams/stream-sink.ts';

/** One exchange end to end: prepare once, attempt many, make the row durable, and only then end the answer. */
export function createRelay(parts: RelayParts): Relay {
  const counting = createTokenCounting(parts);
  return {
    async run(input) {
      const state = createExchangeState(parts, input);
      const prepared = await prepareOrRefuse(parts, state);
      if (prepared === null) return;
      const counts = input.operation === 'count-tokens';
      const kind = prepared.request.stream && !counts ? 'stream' : 'buffered';
      parts.observer.opened(kind);
      try {
        if (counts) await answerCount(parts, state, prepared, counting);
        else if (kind === 'stream') await answerStream(parts, state, prepared);
        else await answerBuffered(parts, state, prepared);
      } finally {
        parts.observer.closed(kind);
      }
    },
  };
}

/** Null when its client left before anything was done. */
async function prepareOrRefuse(parts: RelayParts, state: ExchangeState): Promise<Prepared | null> {
  const { undecided } = state.input;
  try {
    const large = largeBodyOf(parts, state.input);
    const checked = large?.isRead
      ? await checkLargeRequest(parts, state, large)
      : checkRequest(parts, state, large);
    let names = null;
    if (checked.request.named !== undefined) {
      // It may have to wait; a rate's refusal comes first.
      if (undecided !== null) await requireAdmission(undecided);
      names = await checkNames(parts, state, checked);
    }
    const held = holdMoney(parts, state, checked);
    // In memory it is there at once, and no turn of the event loop is spent on it.
    state.hold = held instanceof Promise ? await held : held;
    if (undecided !== null) await requireAdmission(undecided);
    return findWays(parts, state, checked, names);
  } catch (error) {
    const refused = undecided === null ? undefined : await undecided;
    if (refused !== undefined) {
      // As if nothing had been asked after the rates. There is money to give back when Redis has just failed, or when
      // the body took longer to come than Redis remembers the refusal.
      if (state.hold !== null) parts.billing.commitHold(state.hold, null);
      throw refused;
    }
    if (error instanceof ClientGone) {
      const ending = { outcome: 'client-left', status: 499, error: null } as const;
      await settleAnswer(parts, state, { ...ending, usage: nothingUsed });
      return null;
    }
    const refusal = toGatewayError(parts, state.input, error);
    await settleError(parts, state, refusal, 'refused');
    throw refusal;
  }
}

async function requireAdmission(undecided: Promise<Error | undefined>): Promise<void> {
  const refused = await undecided;
  if (refused !== undefined) throw refused;
}

async function answerBuffered(
  parts: RelayParts,
  state: ExchangeState,
  prepared: Prepared,
): Promise<void> {
  const { client } = state.input;
  let outcome;
  try {
    outcome = await attemptUntilAnswered(parts, state, prepared, null);
    if (outcome.kind === 'broken') throw new GatewayError('internal_error');
  } catch (error) {
    const failure = toGatewayError(parts, state.input, error);
    await settleError(parts, state, failure, failedOrRefused(state, failure));
    throw failure;
  }
  if (outcome.kind === 'left') {
    await settleAnswer(parts, state, leftEnding(state, prepared, outcome));
    return;
  }
  const { body } = outcome;
  // Protocols know one status of success, whatever the upstream calls it.
  const status = 200;
  const { outputTokens } = outcome;
  const usage = usageOfAnswer(
    outcome.usage,
    parts.missingUsage,
    prepared,
    () => outputTokens ?? estimateOutputTokens(parseAnswer(body)),
  );
  if (usage === null) {
    const failure = new GatewayError('upstream_abnormal');
    await settleError(parts, state, failure, 'failed');
    throw failure;
  }
  state.ttftMs = parts.clock.monotonic() - state.input.startedAt;
  await settleAnswer(parts, state, { outcome: 'completed', status, error: null, usage });
  client.start(status, {
    'content-type': 'application/json',
    'content-length': String(body.reduce((sum, part) => sum + Buffer.byteLength(part), 0)),
    ...answerHeaders(state.rewrites, state.losses),
  });
  client.end(body[0]);
}

/** Counting costs nothing, so its row has no tokens; what an upstream said of them is in the answer. */
async function answerCount(
  parts: RelayParts,
  state: ExchangeState,
  prepared: Prepared,
  counting: TokenCounting,
): Promise<void> {
  const { client } = state.input;
  let count: TokenCount | null;
  try {
    count = await counting.count(state, prepared);
  } catch (error) {
    const failure = toGatewayError(parts, state.input, error);
    await settleError(parts, state, failure, failedOrRefused(state, failure));
    throw failure;
  }
  const usage = nothingUsed;
  if (count === null) {
    await settleAnswer(parts, state, { outcome: 'client-left', status: 499, error: null, usage });
    return;
  }
  const { body, estimated } = count;
  await settleAnswer(parts, state, { outcome: 'completed', status: 200, error: null, usage });
  client.start(200, {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    ...answerHeaders(state.rewrites, state.losses),
    ...(estimated && { 'x-sluice-estimated': '1' }),
  });
  client.end(body);
}

async function answerStream(
  parts: RelayParts,
  state: ExchangeState,
  prepared: Prepared,
): Promise<void> {
  const { input } = state;
  const protocol = parts.protocols[input.protocol];
  const framing = createFraming(input.framing);
  const sink = new StreamSink(input.client, protocol, framing, parts.clock.monotonic);
  const slot: StreamSlot = { sink, attempt: null };
  input.client.onLeave(() => leaveAttempt(parts, input, slot));

  let outcome;
  try {
    outcome = await attemptUntilAnswered(parts, state, prepared, slot);
  } catch (error) {
    const failure = toGatewayError(parts, input, error);
    await settleError(parts, state, failure, failedOrRefused(state, failure));
    // Kept-alive while every channel failed: the status is out, so the error travels inside the stream.
    if (!sink.opened) throw failure;
    sink.end([protocol.encodeStreamError(failure, input.id, null)]);
    return;
  }

  switch (outcome.kind) {
    case 'complete': {
      const usage = usageOfAnswer(outcome.usage, parts.missingUsage, prepared, () =>
        estimateTokens(outcome.tap?.outputBytes ?? 0),
      );
      if (usage === null) {
        const failure = new GatewayError('upstream_abnormal');
        await settleError(parts, state, failure, 'failed', sink.opened ? 200 : undefined);
        if (!sink.opened) throw failure;
        sink.end([streamErrorOf(protocol, failure, input.id, outcome.tap)]);
        return;
      }
      const ending = { outcome: 'completed', status: 200, error: null, usage } as const;
      try {
        await settleAnswer(parts, state, ending);
      } catch (error) {
        if (!sink.opened || !(error instanceof GatewayError)) throw error;
        sink.end([protocol.encodeStreamError(error, input.id, null)]);
        return;
      }
      sink.open(answerHeaders(state.rewrites, state.losses));
      sink.end(outcome.body);
      return;
    }
    case 'broken': {
      if (outcome.heldUp) {
        const { usage, tap } = outcome;
        const used = usageOfLeaving(usage, prepared, tap.outputBytes, {
          terms: state.terms,
          webSearches: tap.webSearches,
        });
        const ending = { outcome: 'client-left', status: 499, error: outcome.error } as const;
        await settleAnswer(parts, state, { ...ending, usage: used });
      } else await settleError(parts, state, outcome.error, 'failed', 200);
      sink.end([streamErrorOf(protocol, outcome.error, input.id, outcome.tap)]);
      return;
    }
    case 'left': {
      await settleAnswer(parts, state, leftEnding(state, prepared, outcome));
    }
  }
}

/** Called by the client's connection, where an exception would be nobody's. */
function leaveAttempt(parts: RelayParts, input: ExchangeInput, { attempt }: StreamSlot): void {
  try {
    attempt?.clientLeft();
  } catch (error) {
    attempt?.end(toGatewayError(parts, input, error));
  }
}

/** The frames that end a broken answer: from whoever wrote what came before them. */
function streamErrorOf(
  protocol: Protocol,
  error: GatewayError,
  requestId: string,
  tap: StreamTap | null,
): string {
  return tap?.fail?.(error) ?? protocol.encodeStreamError(error, requestId, tap);
}

/** Who leaves pays for what the upstream had done by then: nothing when none had been asked, or it had refused. */
function leftEnding(
  { terms }: ExchangeState,
  prepared: Prepared,
  {
    asked,
    status,
    usage,
    whole,
    outputBytes,
    webSearches = 0,
  }: Extract<AttemptOutcome, { kind: 'left' }>,
): Ending {
  const used =
    !asked || (status !== null && isError(status))
      ? nothingUsed
      : whole && usage !== null && usage.missingSide === undefined
        ? asReported(usage)
        : usageOfLeaving(usage, prepared, outputBytes, { terms, webSearches });
  return { outcome: 'client-left', status: 499, error: null, usage: used };
}

/** The answer as it was given: it was read once already. */
function parseAnswer(body: readonly (Buffer | string)[]): unknown {
  return JSON.parse(body.map(String).join(''));
}

/** What could not be converted was refused before anybody was asked. */
function failedOrRefused({ attempts }: ExchangeState, error: GatewayError): 'failed' | 'refused' {
  const isRefusal = error.errorName === 'invalid_value' || error.errorName === 'too_complex';
  return attempts.length === 0 && isRefusal ? 'refused' : 'failed';
}

/** A finished answer is shown only once its row is safe; when it cannot be made so, the answer is an error. */
async function settleAnswer(
  parts: RelayParts,
  state: ExchangeState,
  ending: Ending,
): Promise<void> {
  try {
    await settle(parts, state, ending);
  } catch (error) {
    // A journal that takes nothing has said so itself, once for all the requests that it meets.
    if (!isJournalAway(error)) parts.onUnexpectedError(error, state.input.id);
    throw new GatewayError('unavailable', { cause: error });
  }
}

/** The row of a failure. Nothing is owed for it, so the client hears of the failure even when the row is lost. */
async function settleError(
  parts: RelayParts,
  state: ExchangeState,
  error: GatewayError,
  outcome: 'refused' | 'failed',
  status = error.entry.status,
): Promise<void> {
  try {
    await settle(parts, state, { outcome, status, error, usage: nothingUsed });
  } catch (journalError) {
    if (!isJournalAway(journalError)) parts.onUnexpectedError(journalError, state.input.id);
  }
}

function isJournalAway(error: unknown): boolean {
  return error instanceof GatewayError && error.errorName === 'unavailable';
}

function toGatewayError(parts: RelayParts, input: ExchangeInput, error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  parts.onUnexpectedError(error, input.id);
  return new GatewayError('internal_error', { cause: error });
}
