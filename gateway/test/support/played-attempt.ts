import { Attempt, type AttemptInput } from '#relay/attempts/attempt.ts';
import type { Receiver } from '#relay/attempts/receiver.ts';
import type { AttemptedRequest } from '#relay/attempts/request-plan.ts';
import type { DrainSlots } from '#relay/overload/concurrency-gate.ts';
import type { Ticker } from '#relay/ticker.ts';
import type { UpstreamClient, UpstreamListener, UpstreamRequest } from '#upstream/index.ts';

/** Where an attempt of a test runs, and how it reacts. */
export interface PlayedSetting
  extends
    Pick<AttemptInput, 'client'>,
    Omit<AttemptedRequest<never, never>, 'upstream' | 'receiver'> {
  readonly upstream: UpstreamClient;
  /** Absent: it never ticks. */
  readonly ticker?: Pick<Ticker, 'add'>;
  readonly drains: DrainSlots;
  readonly monotonic: () => number;
  readonly deadline: number;
  /** Absent: the client waits for ever. */
  readonly clientDeadline?: number;
  readonly onDefect: (error: unknown) => void;
}

const noTicks = { add: () => ({ end: () => {} }) };

/** Begins an attempt, of which only the receiver and the setting matter. */
export function startAttempt<Result, Seen>(
  receiver: Receiver<Result, Seen>,
  setting: PlayedSetting,
): Attempt<Result, Seen> {
  const { upstream, client, ticker = noTicks, drains, monotonic, onDefect, ...request } = setting;
  const parts = {
    upstream,
    ticker: { ...ticker, endAll: () => {}, close: () => {} },
    drains,
    clock: { now: () => 0, monotonic },
    onUnexpectedError: onDefect,
  };
  return new Attempt(
    parts,
    { id: 'r', client },
    { ...request, upstream: {} as UpstreamRequest, receiver },
    setting.deadline,
    setting.clientDeadline ?? Number.POSITIVE_INFINITY,
  );
}

/** A client of a stream whose sink a test watches. */
export function playClient() {
  const client = {
    headSent: false,
    halfClosed: false,
    disconnected: false,
    failedWith: null,
    fail: () => {},
    onDrain: () => {},
    onDisconnect: () => {},
    start: () => void (client.headSent = true),
    write: () => true,
    end: () => {},
  };
  return client;
}

/**
 * An upstream that takes one request; its events come from the test, through `listener`.
 * @param sent whether it has had the request
 */
export function playUpstream(sent = true) {
  let listener: UpstreamListener | null = null;
  const played = {
    isPaused: false,
    isAborted: false,
    client: {
      send(_request, given) {
        listener = given;
        return {
          isSent: sent,
          pause: () => void (played.isPaused = true),
          resume: () => void (played.isPaused = false),
          abort: () => void (played.isAborted = true),
        };
      },
      close: async () => {},
    } satisfies UpstreamClient as UpstreamClient,
    get listener(): UpstreamListener {
      if (listener === null) throw new Error('nothing was sent');
      return listener;
    },
  };
  return played;
}
