import type { IncomingMessage } from 'node:http';
import { GatewayError } from '#errors/index.ts';

/** The slowest pace allowed for a body: `bytes` in every window of `windowMs` milliseconds. */
export interface SlowestPace {
  readonly bytes: number;
  readonly windowMs: number;
}

/** 1 KiB per second: any mobile network is faster, and the whole request has a separate time limit. */
export const slowestPace: SlowestPace = Object.freeze({ bytes: 30 * 1024, windowMs: 30_000 });

/** A body that is being received. */
export interface PacedBody {
  readonly request: IncomingMessage;
  readonly refuse: (error: GatewayError) => void;
  /** Start of its window, in monotonic milliseconds. */
  since: number;
  /** Bytes that its connection had received at the start of the window. */
  receivedBytes: number;
}

/** Checks the pace of all bodies that are being received, with one timer that runs only while there are any. */
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
    // The process was busy, so bytes that arrived in that time have not been read yet.
    const isLate = now - lookedAt > 2 * lookMs;
    lookedAt = now;
    for (const body of bodies) {
      // The client disconnected.
      if (body.request.destroyed) bodies.delete(body);
      if (body.request.destroyed || now - body.since < slowest.windowMs) continue;
      const { bytesRead } = body.request.socket;
      const isSlow = bytesRead - body.receivedBytes < slowest.bytes;
      body.since = now;
      body.receivedBytes = bytesRead;
      if (isSlow && !isLate) body.refuse(new GatewayError('body_too_slow'));
    }
    if (bodies.size > 0 || timer === null) return;
    clearInterval(timer);
    timer = null;
  };
  return {
    watch(body) {
      body.since = monotonic();
      body.receivedBytes = body.request.socket.bytesRead;
      bodies.add(body);
      if (timer !== null) return;
      lookedAt = body.since;
      timer = setInterval(look, lookMs).unref();
    },
    unwatch: (body) => void bodies.delete(body),
  };
}

/**
 * Maximum number of pieces of a body, however small: a piece of one byte takes some 4 µs, during which no other request
 * is served.
 */
const mostPieces = 4_096;
/** Beyond that number, the pieces must have at least this average size in bytes. */
const smallestPiece = 64;

/** Whether a body is split into more pieces than any client has reason to send. */
export function isFragmented(pieces: number, bytes: number): boolean {
  return pieces > mostPieces + bytes / smallestPiece;
}
