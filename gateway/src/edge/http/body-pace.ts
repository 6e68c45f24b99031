import type { IncomingMessage } from 'node:http';
import { GatewayError } from '#errors/index.ts';

/** The slowest that a body may arrive: so many bytes in every window of so many milliseconds. */
export interface SlowestPace {
  readonly bytes: number;
  readonly windowMs: number;
}

/** 1 KiB per second: any mobile network is faster, and the whole request has a time limit of its own. */
export const slowestPace: SlowestPace = Object.freeze({ bytes: 30 * 1024, windowMs: 30_000 });

/** A body that is being read. */
export interface PacedBody {
  readonly request: IncomingMessage;
  readonly refuse: (error: GatewayError) => void;
  /** Monotonic milliseconds: when its window began. */
  since: number;
  /** Bytes that its connection had received by then. */
  received: number;
}

/** Looks after all bodies that are being read; one timer for all of them, and only while there are any. */
export interface BodyPace {
  watch(body: PacedBody): void;
  unwatch(body: PacedBody): void;
}

export function createBodyPace(slowest: SlowestPace, monotonic: () => number): BodyPace {
  const bodies = new Set<PacedBody>();
  let timer: NodeJS.Timeout | null = null;
  const lookMs = slowest.windowMs / 6;
  let lookedAt = 0;
  const look = (): void => {
    const now = monotonic();
    // We were busy, and what has come meanwhile has not been read yet.
    const isLate = now - lookedAt > 2 * lookMs;
    lookedAt = now;
    for (const body of bodies) {
      // Its client left.
      if (body.request.destroyed) bodies.delete(body);
      if (body.request.destroyed || now - body.since < slowest.windowMs) continue;
      const { bytesRead } = body.request.socket;
      const isSlow = bytesRead - body.received < slowest.bytes;
      body.since = now;
      body.received = bytesRead;
      if (isSlow && !isLate) body.refuse(new GatewayError('body_too_slow'));
    }
    if (bodies.size > 0 || timer === null) return;
    clearInterval(timer);
    timer = null;
  };
  return {
    watch(body) {
      body.since = monotonic();
      body.received = body.request.socket.bytesRead;
      bodies.add(body);
      if (timer !== null) return;
      lookedAt = body.since;
      timer = setInterval(look, lookMs).unref();
    },
    unwatch: (body) => void bodies.delete(body),
  };
}
