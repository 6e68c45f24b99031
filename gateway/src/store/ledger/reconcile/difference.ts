/** A deviation of the books from the rows. */
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
    | 'credit'
    | 'meter'
    | 'lease'
    | 'key'
    | 'task'
    | 'hour'
    | 'journal';
  /** The id of a request or a transaction, an account, a meter, a key, a task, an hour with its key, or a node. */
  readonly subject: string;
  /** The value according to the rows, as text. */
  readonly expected: string;
  /** The value according to the books. */
  readonly found: string;
}

/** Differences as they are found; returns how many items were checked. */
export type Check = AsyncGenerator<Difference, number>;
