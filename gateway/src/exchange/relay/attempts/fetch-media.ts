import { CollectedBody, joinInTurns } from '#bodies/index.ts';
import { type FetchedMedia, type FetchMedia, MediaRefused } from '#conversion/index.ts';
import { GatewayError } from '#errors/index.ts';
import { FetchRefused, type GuardedFetch, type MediaOrder } from '#upstream/index.ts';
import { ClientGone, type ExchangeInput, type RequestMemory } from '../exchange.ts';
import type { Ticker } from '../ticker.ts';
import { clientDeadline } from './deadlines.ts';

/** What may be fetched, and for how long. */
export interface MediaBounds extends Pick<MediaOrder, 'timeout' | 'maxBytes'> {
  /** Whether a client that leaves ends it: not if the images are paid for. */
  readonly isForClient: boolean;
}

/** Media of a text request. */
export const askedMedia: MediaBounds = Object.freeze({
  timeout: 10_000,
  maxBytes: 20 * 1024 * 1024,
  isForClient: true,
});

/** Images that image models work from: larger than what people send in chats. */
export const sourceImages: MediaBounds = Object.freeze({
  timeout: 15_000,
  maxBytes: 30 * 1024 * 1024,
  isForClient: true,
});

/** Images of a response, which the upstream has charged for. */
export const drawnImages: MediaBounds = Object.freeze({ ...sourceImages, isForClient: false });

/** Memory for each byte that is fetched: itself, in Base64 (4/3), and what is sent (4/3). */
const perByte = 4;
/** Bytes that are claimed at first for media of unknown length; afterwards twice what has come. */
const leastClaim = 64 * 1024;

type Input = Pick<ExchangeInput, 'caller' | 'client' | 'headers' | 'startedAt' | 'memory'>;

export interface FetchingParts {
  readonly fetchMedia: GuardedFetch;
  readonly ticker: Pick<Ticker, 'add'>;
}

/**
 * Fetches media for an exchange. Each is claimed in the memory for bodies before it is read, and stays claimed with the
 * request: a client sends a few bytes for each. The fetching ends with the first failure, with the client's patience,
 * and when another key has waited too long for this memory.
 * @param work uses the function that it is given, and not after its end
 * @throws what `work` throws; GatewayError, ClientGone
 */
export async function fetchingMedia<Result>(
  { fetchMedia, ticker }: FetchingParts,
  input: Input,
  bounds: MediaBounds,
  work: (fetchMedia: FetchMedia) => Promise<Result>,
): Promise<Result> {
  const { client, memory } = input;
  const abort = new AbortController();
  const { signal } = abort;
  const end = (error: GatewayError): void => abort.abort(error);
  const deadline = bounds.isForClient ? clientDeadline(input) : Number.POSITIVE_INFINITY;
  const ticks = ticker.add({
    tick(now) {
      if (bounds.isForClient && client.disconnected) abort.abort(new ClientGone());
      else if (now >= deadline) end(new GatewayError('unavailable'));
    },
    end,
  });
  const endReading = (): void => memory?.endReading?.();
  if (bounds.isForClient) {
    memory?.startReading?.((refusal) => {
      endReading();
      end(refusal);
    });
  }
  const running = new Set<Promise<FetchedMedia>>();
  try {
    return await work((url) => {
      const order = { ...bounds, url, keyId: input.caller.keyId, signal };
      const fetching = fetchWithin(memory, fetchMedia, order);
      running.add(fetching);
      return fetching;
    });
  } catch (error) {
    abort.abort(error);
    throw error;
  } finally {
    // Nothing is claimed for the request afterwards.
    await Promise.allSettled(running);
    endReading();
    ticks.end();
  }
}

/** @throws MediaRefused, GatewayError `overloaded`, or the reason of the order's signal */
async function fetchWithin(
  memory: RequestMemory | undefined,
  fetchMedia: GuardedFetch,
  order: MediaOrder,
): Promise<FetchedMedia> {
  let heldBytes = 0;
  const claim = (bytes: number): void => {
    if (memory === undefined) return;
    const more = perByte * bytes - heldBytes;
    if (!memory.tryMore(more)) throw memory.refuse();
    heldBytes += more;
  };
  try {
    return await fetchMedia(order, async ({ mime, length, pieces }) => {
      claim(length ?? leastClaim);
      const body = new CollectedBody();
      for await (const piece of pieces) {
        const size = body.length + piece.length;
        if (perByte * size > heldBytes) claim(Math.min(2 * size, order.maxBytes));
        body.add(piece);
      }
      const bytes = await joinInTurns(body.pieces());
      claim(bytes.length);
      return { mime, bytes };
    });
  } catch (error) {
    memory?.tryMore(-heldBytes);
    throw error instanceof FetchRefused ? new MediaRefused(error.message, error) : error;
  }
}
