/** One thing that is given inputs. What it takes is always bytes, so that a found case is a file. */
export interface FuzzTarget {
  /** Unique; the folder of its found cases is made of it. */
  readonly name: string;
  /** Whether mutations also work on the JSON value; bytes are changed in any case. */
  readonly isJson: boolean;
  /** Only the operator provides it, by a command or a reload, so nobody else can slow the gateway down with it. */
  readonly isOperators?: true;
  /** Valid inputs. */
  readonly samples: readonly Buffer[];
  /**
   * Does the work and checks the laws that hold for it.
   * @throws what `isRefusal` names for inputs that are refused; anything else is a finding.
   */
  run(input: Buffer): unknown;
  /** Whether the error may be thrown because it describes the input's fault. */
  isRefusal(error: unknown): boolean;
}

/** A law that did not hold. */
export class BrokenLaw extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'BrokenLaw';
  }
}

/** @throws BrokenLaw */
export function holds(condition: boolean, law: string): asserts condition {
  if (!condition) throw new BrokenLaw(law);
}
