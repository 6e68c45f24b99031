import type { RunningJob } from '#body-work/index.ts';
import { GatewayError } from '#errors/index.ts';
import { holdsMoreThan } from '#json/index.ts';
import { ClientGone } from '../exchange/client-response.ts';
import type { ExchangeInput } from '../exchange/input.ts';
import type { Ticker } from '../exchange/ticker.ts';
import { clientDeadline } from './deadlines.ts';

/** From this size on, reading a body takes longer than handing it to a thread. */
const readInThread = 1024 * 1024;

/**
 * A body with more members and values than this is read in a thread, however short. Each of them takes up to 2 µs to
 * convert or repair. An agent's 256 KiB hold a third as many.
 */
const mostValues = 10_000;

/** Complete responses of at least this many bytes are read in a thread. */
export const readInThreadFrom = 256 * 1024;

/** Whether a request's body is read in a thread. */
export function isReadInThread(body: Buffer): boolean {
  return body.length >= readInThread || holdsMoreThan(body, mostValues);
}

/**
 * Waits for a thread that works on a request's body, but no longer than the client does. The body is put back into the
 * request when the thread has finished, successfully or not.
 * @throws GatewayError, ClientGone
 */
export async function runOnBody<Value>(
  ticker: Pick<Ticker, 'add'>,
  input: Pick<ExchangeInput, 'body' | 'client' | 'headers' | 'startedAt'>,
  running: RunningJob<Value>,
): Promise<Value> {
  const deadline = clientDeadline(input);
  const ticks = ticker.add({
    tick(now) {
      if (input.client.disconnected) running.cancel(new ClientGone());
      else if (now >= deadline) running.abandon(new GatewayError('unavailable'));
    },
    end: (error) => running.abandon(error),
  });
  try {
    const { body, outcome } = await running.result;
    input.body = body;
    if ('error' in outcome) throw outcome.error;
    return outcome.value;
  } finally {
    ticks.end();
  }
}
