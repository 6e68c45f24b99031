import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** How often the limit's time is checked. */
const looks = 4;

/**
 * Cuts off a client that accepts nothing of its waiting data for `limit` milliseconds, give or take one check. It uses
 * the socket's own time-out, because only that restarts whenever the system accepts something. A single time-out of the
 * full limit could take up to twice as long.
 */
export class WriteStall {
  readonly #socket: Socket;
  /** Milliseconds between checks. */
  readonly #interval: number;
  /** Consecutive checks without progress. */
  #idle = 0;
  #lookedAt = Number.NEGATIVE_INFINITY;

  /** @param limit milliseconds */
  constructor(response: ServerResponse, socket: Socket, limit: number) {
    this.#socket = socket;
    this.#interval = Math.ceil(limit / looks);
    const calm = (): void => this.#calm();
    socket.on('drain', calm);
    response.on('timeout', () => this.#look());
    response.once('close', () => {
      socket.off('drain', calm);
      calm();
    });
  }

  /** Data waits for the client. */
  begin(): void {
    if (this.#socket.timeout === this.#interval) return;
    this.#idle = 0;
    this.#socket.setTimeout(this.#interval);
  }

  #look(): void {
    const now = performance.now();
    // A time-out that was restarted in between comes later.
    const isNext = now - this.#lookedAt < 1.5 * this.#interval;
    this.#lookedAt = now;
    this.#idle = isNext ? this.#idle + 1 : 1;
    if (this.#idle >= looks) this.#socket.destroy();
    else this.#socket.setTimeout(this.#interval);
  }

  #calm(): void {
    // After the end of a response, the server has its own time-out for a kept connection.
    if (this.#socket.timeout === this.#interval) this.#socket.setTimeout(0);
  }
}
