import type { BodyClaim } from './body-claim.ts';

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
