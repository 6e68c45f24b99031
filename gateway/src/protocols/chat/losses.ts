import { type Extensions, type Loss, Unconvertible } from '../../canonical/index.ts';
import type { EncodeTarget } from '../codec.ts';

/** What does not arrive as it was written, each thing once. */
export class Losses {
  readonly #found = new Map<string, Loss['how']>();

  dropped(what: string): void {
    this.#found.set(what, 'dropped');
  }

  approximated(what: string): void {
    if (!this.#found.has(what)) this.#found.set(what, 'approximated');
  }

  /**
   * What other protocols' clients attached to something.
   * @throws Unconvertible when the answer would be another one without it.
   */
  foreign(extensions: Extensions | undefined): void {
    if (extensions === undefined) return;
    for (const { protocol, name, ifForeign } of extensions) {
      if (protocol === 'chat' || ifForeign === 'ignore') continue;
      if (ifForeign === 'refuse') throw notAvailable(name);
      this.dropped(name);
    }
  }

  list(): Loss[] {
    return Array.from(this.#found, ([what, how]) => ({ what, how }));
  }
}

/** What every step of encoding one request needs. */
export interface EncodeContext {
  readonly target: EncodeTarget;
  readonly losses: Losses;
}

export function notAvailable(what: string, thing = `'${what}'`): Unconvertible {
  return new Unconvertible(what, `${thing} is not available with this model, please leave it out`);
}

/** The extensions of this protocol's own clients, as members again. */
export function ownMembers(extensions: Extensions | undefined): Record<string, unknown> {
  const members: Record<string, unknown> = {};
  if (extensions === undefined) return members;
  for (const { protocol, name, value } of extensions) {
    if (protocol === 'chat') members[name] = value;
  }
  return members;
}

/**
 * OpenAI itself: it renamed members that compatible servers know by their old names only, and has some that those
 * refuse.
 */
export function isOpenAi({ provider }: EncodeTarget): boolean {
  return provider === 'openai';
}
