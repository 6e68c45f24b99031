/**
 * The client's side of an exchange, as the relay drives it. `http` makes one over a Node response; callbacks
 * rather than promises because this runs for every chunk.
 */
export interface ClientResponse {
  /** Sends status and head. Our own headers (`x-request-id`) are already on it. Once. */
  start(status: number, headers: Readonly<Record<string, string>>): void;
  /** Returns false when the socket's buffer is full: wait for `onDrain` before writing more. */
  write(bytes: Buffer | string): boolean;
  /** Ends the body, with last bytes if given. */
  end(bytes?: Buffer | string): void;
  readonly headSent: boolean;
  /** The client closed its connection before the end of the response. A half-closed client has not left. */
  readonly left: boolean;
  /**
   * The client has closed its sending side. Whether it still reads does not follow from that: a closed socket looks
   * the same until something is written to it.
   */
  readonly halfClosed: boolean;
  /** At most one listener; called once, also when it had already left. */
  onLeave(listener: () => void): void;
  onDrain(listener: () => void): void;
}
