interface Closable {
  close(): Promise<void> | void;
}

/** Everything created so far, closed in reverse order: later parts use earlier ones. */
export class Closing {
  readonly #parts: Closable[] = [];

  /** Returns its argument. */
  add<Made extends Closable>(part: Made): Made {
    this.#parts.push(part);
    return part;
  }

  /** @throws AggregateError at the end if a part could not be closed; the other parts are closed anyway. */
  async closeAll(): Promise<void> {
    const errors: unknown[] = [];
    for (const part of this.#parts.toReversed()) {
      try {
        await part.close();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw new AggregateError(errors, 'not everything could be closed');
  }
}
