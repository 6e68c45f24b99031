import type { Kind } from '#declaration/index.ts';

/** A change that cannot be made, in a sentence for whoever asked for it. */
export class Refusal extends Error {
  readonly reason: 'missing' | 'taken';

  constructor(reason: Refusal['reason'], message: string) {
    super(message);
    this.name = 'Refusal';
    this.reason = reason;
  }
}

export function missing(kind: Kind, name: string): Refusal {
  return new Refusal('missing', `${kind} '${name}' does not exist`);
}

export function taken(kind: Kind, name: string): Refusal {
  return new Refusal('taken', `${kind} '${name}' already exists`);
}
