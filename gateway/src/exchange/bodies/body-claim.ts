import { isAscii } from 'node:buffer';
import type { GatewayError } from '#errors/index.ts';

/*
 * The memory that a body takes. Transient copies are not counted, because each thread parses and converts bodies one after
 * the other. The figures come from parsing bodies of one kind each (`body-claim.test.ts` repeats the measurement).
 */

/** Before parsing, for each byte: the byte, as much text in the parsed form, and as much again as it is sent. */
const perExpectedByte = 3;
/** For each byte of a complete response: the pieces as they came, and one copy of them. */
const perResponseByte = 2;
/** A value in a list or an object; nested empty lists take the most. */
const perValue = 56;
/** A member besides its value, if no other object has the same name. */
const perMember = 88;

/**
 * Bytes after scanning.
 * @param isAscii if false, the longest text may need two bytes per character
 */
export function parsedSize(
  bytes: number,
  isAscii: boolean,
  members: number,
  values: number,
): number {
  const text = isAscii ? bytes : 2 * bytes;
  return 2 * bytes + text + members * perMember + values * perValue;
}

/** Called once with null when there is room, or with the refusal. */
export type RoomListener = (refusal: GatewayError | null) => void;

/** The memory that the bodies of one key hold; kept while the key has any in flight. */
export interface KeyUse {
  readonly id: string;
  readonly claims: Set<BodyClaim>;
  /** Bytes of the reserve. */
  reservedBytes: number;
  /** Bytes of the shared part. */
  sharedBytes: number;
  /** The one large body that a key without money may have in flight; null: none. */
  only: BodyClaim | null;
}

/** The part of the memory that a claim depends on. */
export interface ClaimKeeper {
  /** @param isResponse bodies that are still being read make way for it */
  tryHold(claim: BodyClaim, total: number, isResponse?: boolean): boolean;
  wait(claim: BodyClaim, total: number, listener: RoomListener): void;
  refuse(): GatewayError;
  release(claim: BodyClaim): void;
  now(): number;
}

/** The memory that one request holds for its body, from before the body is read until its text is forgotten. */
export class BodyClaim {
  readonly key: KeyUse;
  /** Bytes. */
  heldBytes = 0;
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
  #storedBody: { release(): void } | null = null;

  constructor(keeper: ClaimKeeper, key: KeyUse) {
    this.#keeper = keeper;
    this.key = key;
  }

  /**
   * Claims room for a body of this size and what it becomes. A smaller size than before gives memory back and never
   * fails.
   */
  tryBody(bytes: number): boolean {
    return this.#keeper.tryHold(this, perExpectedByte * bytes);
  }

  /** Waits a few seconds for that room. The listener is not called after `release`. */
  waitForBody(bytes: number, listener: RoomListener): void {
    this.#keeper.wait(this, perExpectedByte * bytes, listener);
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
    this.#withoutResponse ??= this.heldBytes;
    return this.#keeper.tryHold(this, this.#withoutResponse + perResponseByte * bytes, true);
  }

  /** Claims this many bytes beside everything else that the request holds. A negative number gives memory back. */
  tryMore(bytes: number): boolean {
    if (!this.#keeper.tryHold(this, this.heldBytes + bytes)) return false;
    if (this.#withoutResponse !== null) this.#withoutResponse += bytes;
    return true;
  }

  /** Gives back all that is not for a response: the body will not be sent again. */
  forgetBody(): void {
    const forResponse = this.heldBytes - (this.#withoutResponse ?? this.heldBytes);
    this.#withoutResponse = 0;
    this.#keeper.tryHold(this, forResponse);
  }

  /** Ties what is kept of the body elsewhere to the claim: it is released with it. */
  tie(storedBody: { release(): void }): void {
    if (this.isReleased) storedBody.release();
    else this.#storedBody = storedBody;
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
    this.#storedBody?.release();
    this.#storedBody = null;
    this.#keeper.release(this);
  }
}

/** From this size in bytes, a body of a key without money counts as large. */
const largeBody = 1024 * 1024;
const largeTotal = perExpectedByte * largeBody;

/**
 * Distributes the memory for bodies. A quarter is a reserve, of which one key gets at most a sixteenth of what is left:
 * however many keys hold some of it, some remains for the next. The rest is shared.
 */
export interface BodyRoom {
  /** Bytes held. */
  readonly usedBytes: number;
  /** Bytes. */
  readonly sharedLimit: number;
  /** Whether its key has no money and already has a large body in flight. */
  isBlocked(claim: BodyClaim, total: number): boolean;
  /** Makes the claim hold `total` bytes of the reserve if they fit. False: the claim is unchanged. */
  takeReserved(claim: BodyClaim, total: number): boolean;
  /** The same for the shared part, where a body fits if there is room or if it is the only one. */
  takeShared(claim: BodyClaim, total: number): boolean;
  /** Bytes of the shared part that others must give back before the claim can hold `total` bytes of it. */
  lacking(claim: BodyClaim, total: number): number;
  /** Reduces what a claim holds. */
  give(claim: BodyClaim, total: number): void;
}

/** @param limit bytes */
export function createBodyRoom(limit: number): BodyRoom {
  const reserve = Math.floor(limit / 4);
  const sharedLimit = limit - reserve;
  let reservedBytes = 0;
  let sharedBytes = 0;

  const isBlocked = (claim: BodyClaim, total: number): boolean => {
    const { only } = claim.key;
    return claim.isOnly && total > largeTotal && only !== null && only !== claim;
  };

  const hold = (claim: BodyClaim, total: number): void => {
    const more = total - claim.heldBytes;
    claim.heldBytes = total;
    if (claim.isShared) {
      claim.key.sharedBytes += more;
      sharedBytes += more;
    } else {
      claim.key.reservedBytes += more;
      reservedBytes += more;
    }
    if (total === 0 && claim.key.only === claim) claim.key.only = null;
    else if (claim.isOnly && total > largeTotal) claim.key.only = claim;
  };

  return {
    get usedBytes() {
      return reservedBytes + sharedBytes;
    },
    sharedLimit,
    isBlocked,
    takeReserved(claim, total) {
      const more = total - claim.heldBytes;
      const fits = claim.key.reservedBytes + more <= (reserve - reservedBytes) / 16;
      if (claim.isShared || !fits || isBlocked(claim, total)) return false;
      hold(claim, total);
      return true;
    },
    takeShared(claim, total) {
      const others = sharedBytes - (claim.isShared ? claim.heldBytes : 0);
      const fits = others === 0 || others + total <= sharedLimit;
      if (!fits || isBlocked(claim, total)) return false;
      if (!claim.isShared) {
        hold(claim, 0);
        claim.isShared = true;
      }
      hold(claim, total);
      return true;
    },
    lacking(claim, total) {
      const others = sharedBytes - (claim.isShared ? claim.heldBytes : 0);
      return Math.min(others, others + total - sharedLimit);
    },
    give: hold,
  };
}
