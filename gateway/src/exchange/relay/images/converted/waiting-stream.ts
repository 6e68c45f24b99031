import type { GatewayError } from '#errors/index.ts';
import type { Protocol } from '#protocols/index.ts';
import type { ClientResponse } from '../../exchange/client-response.ts';
import type { Ticker, TickRegistration } from '../../exchange/ticker.ts';
import type { TextInput } from '../../text/input.ts';
import { createFraming } from '../../streams/framing.ts';
import { StreamSink } from '../../streams/stream-sink.ts';

/** As for text: until then an error can still have a status of its own. */
const headHoldMs = 10_000;

export interface WaitingStreamOptions {
  readonly client: ClientResponse;
  readonly framing: TextInput['framing'];
  readonly protocol: Pick<Protocol, 'keepAlive' | 'encodeStreamError'>;
  readonly ticker: Ticker;
  readonly monotonic: () => number;
  /** Milliseconds of silence between two comments. */
  readonly keepAliveMs: number;
}

/** A stream that is written all at once, when its pictures are there. Until then the connection is kept alive. */
export class WaitingStream {
  readonly #sink: StreamSink;
  readonly #options: WaitingStreamOptions;
  readonly #ticks: TickRegistration;

  constructor(options: WaitingStreamOptions) {
    const { client, protocol, framing, monotonic, ticker, keepAliveMs } = options;
    const sink = new StreamSink(client, protocol, createFraming(framing), monotonic);
    const openAt = monotonic() + headHoldMs;
    this.#options = options;
    this.#sink = sink;
    this.#ticks = ticker.add({
      tick(now) {
        if (now >= openAt) sink.open({});
        sink.keepAlive(now, keepAliveMs);
      },
      // The attempt under way ends the exchange.
      end: () => {},
    });
  }

  /** Whether the client already has its status, so that an error has to go into the stream. */
  get opened(): boolean {
    return this.#sink.opened;
  }

  /** @param body all of the stream, framed */
  end(body: Buffer, headers: Readonly<Record<string, string>>): void {
    this.#ticks.end();
    this.#sink.open(headers);
    this.#options.client.end(body);
  }

  fail(error: GatewayError, requestId: string): void {
    this.#ticks.end();
    this.#sink.end([this.#options.protocol.encodeStreamError(error, requestId, null)]);
  }

  /** Nothing more is written. */
  stop(): void {
    this.#ticks.end();
  }
}
