import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** So often within the time it is looked whether the client has taken anything. */
const looks = 4;

/**
 * Cuts off a client that takes nothing of what waits for it for so long, give or take a look. The socket's own time-out
 * looks: it starts anew whenever the system has taken something, which nobody else is told of. One alone would let up to
 * twice its time go by.
 */
export class WriteStall {
  readonly #socket: Socket;
  /** Milliseconds from one look to the next. */
  readonly #interval: number;
  /** Looks in a row that found nothing taken. */
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

  /** Something waits for the client. */
  begin(): void {
    if (this.#socket.timeout === this.#interval) return;
    this.#idle = 0;
    this.#socket.setTimeout(this.#interval);
  }

  #look(): void {
    const now = performance.now();
    // A time-out that was started anew in between comes later.
    const isNext = now - this.#lookedAt < 1.5 * this.#interval;
    this.#lookedAt = now;
    this.#idle = isNext ? this.#idle + 1 : 1;
    if (this.#idle >= looks) this.#socket.destroy();
    else this.#socket.setTimeout(this.#interval);
  }

  #calm(): void {
    // After the end the server has a time-out of its own on a connection that is kept.
    if (this.#socket.timeout === this.#interval) this.#socket.setTimeout(0);
  }
}
