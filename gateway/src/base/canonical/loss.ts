import type { LossName } from './loss-names.ts';

/**
 * A thing of a request (or an answer) that the other side has no equal for. Recorded with the usage row and told
 * to the client: a loss is data, never silence.
 */
export interface Loss {
  /** A `LossName` (`temperature`, `image.detail`), or the client's own name of what only its protocol has. */
  readonly what: string;
  /** Left out, or carried as something close. */
  readonly how: 'dropped' | 'approximated';
}

/**
 * Cannot be carried, and leaving it out would give the caller something materially different. The conversion turns
 * it into a 400 that names the client's own field.
 */
export class Unconvertible extends Error {
  /** The same vocabulary as `Loss.what`. */
  readonly what: string;
  /** The client's field when the thrower knows it better than by `what`: `messages.3.content.0.image_url.url`. */
  readonly param: string | null;
  /** One sentence for the caller: what cannot be had, and what to do about it. */
  constructor(what: LossName, reason: string, param: string | null = null) {
    super(reason);
    this.name = 'Unconvertible';
    this.what = what;
    this.param = param;
  }

  /** Of something that only the client's protocol has, by the name it has there. */
  static ofClient(name: string, reason: string): Unconvertible {
    return new Unconvertible(name as LossName, reason);
  }
}
