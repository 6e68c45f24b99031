import type { LossName } from './loss-names.ts';

/**
 * A part of a request or a response that the other protocol cannot express. The usage row and a
 * header report it: a loss is data, never silence.
 */
export interface Loss {
  /** A `LossName` (`temperature`, `image.detail`), or the client's own name of what only its protocol has. */
  readonly what: string;
  /** Left out, or carried as something close. */
  readonly how: 'dropped' | 'approximated';
}

/**
 * A part that cannot be converted, and without which the response would be materially different. The conversion turns
 * it into a 400 that names the client's own field.
 */
export class Unconvertible extends Error {
  /** The same vocabulary as `Loss.what`. */
  readonly what: string;
  /** The client's field, if the thrower knows it more exactly than `what`: `messages.3.content.0.image_url.url`. */
  readonly param: string | null;
  /** @param reason one sentence for the caller: what is not available, and what to do about it */
  constructor(what: LossName, reason: string, param: string | null = null) {
    super(reason);
    this.name = 'Unconvertible';
    this.what = what;
    this.param = param;
  }

  /** For something that only the client's protocol has, under its name there. */
  static ofClient(name: string, reason: string): Unconvertible {
    return new Unconvertible(name as LossName, reason);
  }
}
