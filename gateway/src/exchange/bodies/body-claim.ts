import { isAscii } from 'node:buffer';
import type { GatewayError } from '#errors/index.ts';
import { expectedSize, parsedSize, responseSize } from './body-size.ts';

/** Called once with null when there is room, or with the refusal. */
export type RoomListener = (refusal: GatewayError | null) => void;

/** The memory that the bodies of one key hold; kept while the key has any in flight. */
export interface KeyUse {
  readonly id: string;
  readonly claims: Set<BodyClaim>;
  /** Bytes of the reserve. */
  reserved: number;
  /** Bytes of the shared part. */
  shared: number;
  /** The one large body that a key without money may have in flight; null: none. */
  only: BodyClaim | null;
}

/** The part of the memory that a claim depends on. */
export interface ClaimKeeper {
  tryHold(claim: BodyClaim, total: number): boolean;
  /** The same for a response: bodies that are still being read make way for it. */
  tryHoldResponse(claim: BodyClaim, total: number): boolean;
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
  /** Whether it holds the shared part rather than the reserve. */
  isShared = false;
  /** Whether its key has no money: then only one large body of the key may be in flight. */
  isOnly = false;
  isReleased = false;
  /** Ends the reading of the body; null while nothing is being read. */
  giveWay: ((refusal: GatewayError) => void) | null = null;
  /** Since when the body has been read, in monotonic milliseconds. */
  readingSince = 0;
  readonly #keeper: ClaimKeeper;
  /** What the request held before there was a response, in bytes; null: there is none. */
  #withoutResponse: number | null = null;
  /** Released together with the claim. */
  #stored: { release(): void } | null = null;

  constructor(keeper: ClaimKeeper, key: KeyUse) {
    this.#keeper = keeper;
    this.key = key;
  }

  /**
   * Claims room for a body of this size and what it becomes. A smaller size than before gives memory back and never
   * fails.
   */
  tryBody(bytes: number): boolean {
    return this.#keeper.tryHold(this, expectedSize(bytes));
  }

  /** Waits a few seconds for that room. The listener is not called after `release`. */
  waitForBody(bytes: number, listener: RoomListener): void {
    this.#keeper.wait(this, expectedSize(bytes), listener);
  }

  /** Call it when reading begins. `giveWay` ends the reading if it keeps others waiting for too long. */
  startReading(giveWay: (refusal: GatewayError) => void): void {
    this.readingSince = this.#keeper.now();
    this.giveWay = giveWay;
  }

  endReading(): void {
    this.giveWay = null;
  }

  /**
   * Claims room for the parsed form of a scanned body. Call it before parsing.
   * @throws GatewayError `overloaded` if there is no room
   */
  takeParsed(body: Uint8Array, members: number, values: number): void {
    const size = parsedSize(body.length, isAscii(body), members, values);
    if (!this.#keeper.tryHold(this, size)) throw this.refuse();
  }

  /**
   * Claims room for a response of this many bytes, beside what the request holds. A smaller size than before gives memory
   * back and never fails. The upstream is paid for a response, so it goes before those who wait, and bodies that are
   * still being read make way for it.
   */
  tryResponse(bytes: number): boolean {
    this.#withoutResponse ??= this.held;
    return this.#keeper.tryHoldResponse(this, this.#withoutResponse + responseSize(bytes));
  }

  /** Claims this many bytes beside everything else that the request holds. A negative number gives memory back. */
  tryMore(bytes: number): boolean {
    if (!this.#keeper.tryHold(this, this.held + bytes)) return false;
    if (this.#withoutResponse !== null) this.#withoutResponse += bytes;
    return true;
  }

  /** Gives back all that is not for a response: the body will not be sent again. */
  forgetBody(): void {
    const forResponse = this.held - (this.#withoutResponse ?? this.held);
    this.#withoutResponse = 0;
    this.#keeper.tryHold(this, forResponse);
  }

  /** Ties what is kept of the body elsewhere to the claim: it is released with it. */
  tie(stored: { release(): void }): void {
    if (this.isReleased) stored.release();
    else this.#stored = stored;
  }

  /** Counts and returns the refusal for a request that gets no more room. */
  refuse(): GatewayError {
    return this.#keeper.refuse();
  }

  /** Releases everything it holds and stops waiting. Idempotent. */
  release(): void {
    if (this.isReleased) return;
    this.isReleased = true;
    this.giveWay = null;
    this.#stored?.release();
    this.#stored = null;
    this.#keeper.release(this);
  }
}
