import {
  type Extension,
  type Extensions,
  type Loss,
  type LossName,
  Unconvertible,
} from '../../canonical/index.ts';
import type { EncodeTarget } from '../codec.ts';

/** What does not arrive as it was written, each thing once. */
export class Losses {
  readonly #found = new Map<string, Loss['how']>();

  dropped(what: LossName): void {
    this.#found.set(what, 'dropped');
  }

  approximated(what: LossName): void {
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
      this.ofClient(name, ifForeign);
    }
  }

  /** @throws Unconvertible */
  ofClient(name: string, ifForeign: Extension['ifForeign']): void {
    if (ifForeign === 'refuse') throw Unconvertible.ofClient(name, unavailable(`'${name}'`));
    if (ifForeign === 'drop') this.#found.set(name, 'dropped');
  }

  /** What another protocol's client wrote, in words. */
  inWords(name: string): void {
    if (!this.#found.has(name)) this.#found.set(name, 'approximated');
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

export function notAvailable(what: LossName, thing: string): Unconvertible {
  return new Unconvertible(what, unavailable(thing));
}

function unavailable(thing: string): string {
  return `${thing} is not available with this model, please leave it out`;
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
