import type { ServerResponse } from 'node:http';

/** The progress of one response, updated while it is sent. */
export interface Delivery {
  readonly status: number | null;
  readonly eventsSent: number;
  readonly finished: boolean;
  readonly clientLeft: boolean;
  /** Aborts if the connection closes before the response is complete. */
  readonly left: AbortSignal;
  answered(status: number): void;
  countEvent(count?: number): void;
  /** From now on the simulator itself closes the connection. */
  giveUp(): void;
  /** Ends the connection in the middle of the response. */
  cut(response: ServerResponse): void;
}

/** Watches the response. Calls `onLeft` once if the client disconnects early. */
export function watchDelivery(response: ServerResponse, onLeft: () => void): Delivery {
  const leaving = new AbortController();
  const state = {
    status: null as number | null,
    eventsSent: 0,
    finished: false,
    clientLeft: false,
  };
  let gaveUp = false;
  response.once('finish', () => {
    state.finished = true;
  });
  response.once('close', () => {
    if (state.finished || gaveUp) return;
    state.clientLeft = true;
    onLeft();
    leaving.abort();
  });
  const giveUp = () => {
    gaveUp = true;
  };
  return {
    get status() {
      return state.status;
    },
    get eventsSent() {
      return state.eventsSent;
    },
    get finished() {
      return state.finished;
    },
    get clientLeft() {
      return state.clientLeft;
    },
    left: leaving.signal,
    answered(status) {
      state.status = status;
    },
    countEvent(count = 1) {
      state.eventsSent += count;
    },
    giveUp,
    cut(target) {
      giveUp();
      target.socket?.destroy();
    },
  };
}
