import type { BodyClaim } from './body-claim.ts';
import { expectedSize } from './body-size.ts';

/** From this size in bytes, a body of a key without money counts as large. */
const largeBody = 1024 * 1024;

/**
 * Distributes the memory for bodies. A quarter is a reserve, of which one key gets at most a sixteenth of what is left:
 * however many keys hold some of it, some remains for the next. The rest is shared.
 */
export interface BodyRoom {
  /** Bytes held. */
  readonly used: number;
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
  let reserved = 0;
  let shared = 0;

  const isBlocked = (claim: BodyClaim, total: number): boolean => {
    const { only } = claim.key;
    return claim.isOnly && isLarge(total) && only !== null && only !== claim;
  };

  const hold = (claim: BodyClaim, total: number): void => {
    const more = total - claim.held;
    claim.held = total;
    if (claim.isShared) {
      claim.key.shared += more;
      shared += more;
    } else {
      claim.key.reserved += more;
      reserved += more;
    }
    if (claim.isOnly && isLarge(total)) claim.key.only = claim;
  };

  return {
    get used() {
      return reserved + shared;
    },
    sharedLimit,
    isBlocked,
    takeReserved(claim, total) {
      const more = total - claim.held;
      const fits = claim.key.reserved + more <= (reserve - reserved) / 16;
      if (claim.isShared || !fits || isBlocked(claim, total)) return false;
      hold(claim, total);
      return true;
    },
    takeShared(claim, total) {
      const others = shared - (claim.isShared ? claim.held : 0);
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
      const others = shared - (claim.isShared ? claim.held : 0);
      return Math.min(others, others + total - sharedLimit);
    },
    give(claim, total) {
      hold(claim, total);
      if (total === 0 && claim.key.only === claim) claim.key.only = null;
    },
  };
}

function isLarge(total: number): boolean {
  return total > expectedSize(largeBody);
}
