import type { GatewayError } from '#errors/index.ts';

/**
 * The client's side of an exchange, as the relay uses it. `http` makes one over a Node response. It uses callbacks
 * instead of promises because it runs for every chunk.
 */
export interface ClientResponse {
  /** Sends status and head; called once. The gateway's own headers (`x-request-id`) are already set. */
  start(status: number, headers: Readonly<Record<string, string>>): void;
  /** Returns false when the socket's buffer is full: wait for `onDrain` before writing more. */
  write(bytes: Buffer | string): boolean;
  /**
   * Answers with an error before the exchange has ended. From then on the client counts as one that has left. Does nothing
   * if a response has begun.
   */
  fail(error: GatewayError): void;
  /** The error that it was answered with by `fail`; null: none. */
  readonly failedWith: GatewayError | null;
  /** Ends the body, after these last bytes if given. */
  end(bytes?: Buffer | string): void;
  readonly headSent: boolean;
  /** The client closed its connection before the end of the response. A half-closed client has not left. */
  readonly disconnected: boolean;
  /**
   * The client has closed its sending side. It may still be reading: only a write shows whether the socket is closed
   * altogether.
   */
  readonly halfClosed: boolean;
  /** Sets the only listener. It is called once, at once if the client has already left. */
  onDisconnect(listener: () => void): void;
  onDrain(listener: () => void): void;
}

/** Writes a whole JSON body, and ends the response. */
export function writeJson(
  client: Pick<ClientResponse, 'start' | 'end'>,
  body: Buffer | string,
  headers: Readonly<Record<string, string>>,
): void {
  client.start(200, {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    ...headers,
  });
  client.end(body);
}

/** The client left before anything was done that it would have to pay for. */
export class ClientGone extends Error {}
