import { isAscii } from 'node:buffer';
import type { GatewayError } from '#errors/index.ts';
import { expectedSize, parsedSize } from './body-size.ts';
import type { KeyUse } from './key-use.ts';

/** Hears once that there is room (null), or why there is none. */
export type RoomListener = (refusal: GatewayError | null) => void;

/** What a claim asks of the memory that it is a part of. */
export interface ClaimKeeper {
  tryHold(claim: BodyClaim, total: number): boolean;
  wait(claim: BodyClaim, total: number, listener: RoomListener): void;
  refuse(): GatewayError;
  release(claim: BodyClaim): void;
  now(): number;
}

/** The memory that one request holds for its body, from before the body is read until its text is forgotten. */
export class BodyClaim {
  readonly key: KeyUse;
  /** Bytes. */
  held = 0;
  /** Whether it holds of what all keys share, rather than of the reserve. */
  isShared = false;
  /** Its key has no money: one large body of it may be under way. */
  isOnly = false;
  isReleased = false;
  /** Ends the reading of its body; null while nothing is being read. */
  giveWay: ((refusal: GatewayError) => void) | null = null;
  /** Monotonic milliseconds: since when its body has been read. */
  readingSince = 0;
  readonly #keeper: ClaimKeeper;

  constructor(keeper: ClaimKeeper, key: KeyUse) {
    this.#keeper = keeper;
    this.key = key;
  }

  /** Room for a body of so many bytes and what becomes of it. Asking for less than before gives back, and never fails. */
  tryBody(bytes: number): boolean {
    return this.#keeper.tryHold(this, expectedSize(bytes));
  }

  /** Waits some seconds for that room. The listener hears nothing after `release`. */
  waitForBody(bytes: number, listener: RoomListener): void {
    this.#keeper.wait(this, expectedSize(bytes), listener);
  }

  /** From here on its body is read, and ended by `giveWay` if it keeps others waiting for too long. */
  startReading(giveWay: (refusal: GatewayError) => void): void {
    this.readingSince = this.#keeper.now();
    this.giveWay = giveWay;
  }

  endReading(): void {
    this.giveWay = null;
  }

  /**
   * Room for the parsed form of a body that was scanned.
   * @throws GatewayError `overloaded` when there is none; to be called before anything is parsed.
   */
  takeParsed(body: Uint8Array, members: number, values: number): void {
    const size = parsedSize(body.length, isAscii(body), members, values);
    if (!this.#keeper.tryHold(this, size)) throw this.refuse();
  }

  /** What a request is told that gets no more room. Counted. */
  refuse(): GatewayError {
    return this.#keeper.refuse();
  }

  /** Gives back all that it holds, and waits no more. Idempotent. */
  release(): void {
    if (this.isReleased) return;
    this.isReleased = true;
    this.giveWay = null;
    this.#keeper.release(this);
  }
}
