import type { Owner } from '#database/index.ts';

/** Who makes a change. */
export type Actor =
  /** The gateway itself, as at its first start. */
  | { readonly kind: 'gateway' }
  /** A command of this machine. `name`: as its caller gave it, or how the command line calls itself. */
  | { readonly kind: 'command'; readonly name: string }
  /** The configuration file, at a start, a reload or an apply. */
  | { readonly kind: 'file'; readonly path: string }
  /** Somebody who signed in. */
  | {
      readonly kind: 'user';
      readonly id: string;
      readonly email: string;
      /** Where the person is; absent: unknown. */
      readonly address?: string | null;
      /** The `x-request-id` of the call. */
      readonly requestId?: string;
    };

/** The actor in the books and in text for people. */
export function actorName(actor: Actor): string {
  switch (actor.kind) {
    case 'gateway':
      return 'gateway';
    case 'command':
      return actor.name;
    case 'file':
      return actor.path;
    case 'user':
      return actor.email;
  }
}

const owners = { gateway: 'system', command: 'console', user: 'console', file: 'file' } as const;

/** Whom the rows belong to that this actor creates: only the file's are the file's to change. */
export function ownerFor({ kind }: Actor): Owner {
  return owners[kind];
}
