interface Closable {
  close(): Promise<void> | void;
}

/** Everything created so far, closed in reverse order: later parts use earlier ones. */
export class Closing {
  readonly #made: Closable[] = [];

  /** Returns its argument. */
  add<Made extends Closable>(made: Made): Made {
    this.#made.push(made);
    return made;
  }

  /** @throws AggregateError at the end if a part could not be closed; the other parts are closed anyway. */
  async closeAll(): Promise<void> {
    const errors: unknown[] = [];
    for (const made of this.#made.toReversed()) {
      try {
        await made.close();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw new AggregateError(errors, 'not everything could be closed');
  }
}
