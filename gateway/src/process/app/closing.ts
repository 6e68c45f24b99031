interface Closable {
  close(): Promise<void> | void;
}

/** What has been made so far, to be closed the other way round: what was made later uses what was made before. */
export class Closing {
  readonly #made: Closable[] = [];

  /** Gives back what it gets. */
  add<Made extends Closable>(made: Made): Made {
    this.#made.push(made);
    return made;
  }

  /** @throws AggregateError afterwards, when one could not be closed: it does not keep the others open. */
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
