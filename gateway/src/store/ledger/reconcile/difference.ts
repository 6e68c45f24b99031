/** Something in the books that is not what the rows say. */
export interface Difference {
  /** What was checked. */
  readonly check:
    | 'receipt'
    | 'price'
    | 'charge'
    | 'transaction'
    | 'opening'
    | 'posting'
    | 'account'
    | 'meter'
    | 'key'
    | 'hour';
  /** A request's id, a transaction's, an account, a meter, a key, or an hour with its key. */
  readonly subject: string;
  /** What the rows say, as text. */
  readonly expected: string;
  /** What the books say. */
  readonly found: string;
}

/** Differences as they are found, and how much was looked at. */
export type Check = AsyncGenerator<Difference, number>;
