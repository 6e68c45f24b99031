import type { BodyClaim } from './body-claim.ts';

/** What the bodies of one key hold; kept for as long as it has any under way. */
export interface KeyUse {
  readonly id: string;
  readonly claims: Set<BodyClaim>;
  /** Bytes of the reserve. */
  reserved: number;
  /** Bytes of the shared part. */
  shared: number;
  /** The only large body that a key without money may have under way; null: there is none. */
  only: BodyClaim | null;
}
