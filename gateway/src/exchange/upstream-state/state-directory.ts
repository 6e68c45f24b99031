import { matchesPattern } from '#config/pattern.ts';
import {
  createCautiousDate,
  type DatabaseBreaker,
  type OpenDatabase,
  type Secrets,
} from '#database/index.ts';
import { GatewayError } from '#errors/index.ts';
import { createStateMemory } from './state-memory.ts';
import { knownState, type KnownState } from './upstream-state.repository.ts';

/** Where an id belongs: only the upstream that gave it out can resolve it. */
export interface StateLocation {
  /** The channel's id. */
  readonly channel: string;
  /** The digest of the credential; null without one. */
  readonly credential: string | null;
}

/** The relation of one owner to an id. */
export type Standing =
  | { readonly is: 'own'; readonly location: StateLocation }
  /** Given to another owner, never to this one. */
  | { readonly is: 'foreign' }
  /** Never given out by this gateway, or forgotten since. */
  | { readonly is: 'unknown' };

export interface StateDirectory {
  /** A keyed digest that is stored instead of an id, an owner or a credential. */
  digest(kind: 'id' | 'owner' | 'credential', text: string): string;
  /**
   * Records an id that is about to reach the client: known here at once, and everywhere once its row is written. All
   * members are digests.
   */
  note(state: KnownState): void;
  /** What this process knows; an id outside its memory is `unknown`. @param id, @param owner digests */
  recall(owner: string, id: string): Standing;
  /**
   * The same, including what the database knows.
   * @throws GatewayError `unavailable` if the database does not respond.
   */
  find(owner: string, ids: readonly string[]): Promise<ReadonlyMap<string, Standing>>;
}

export interface StateDirectoryOptions {
  readonly database: Pick<OpenDatabase, 'kysely'>;
  /** Guards the database against waiting requests. */
  readonly breaker: DatabaseBreaker;
  readonly secrets: Pick<Secrets, 'digestState'>;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Milliseconds of a monotonic clock. */
  readonly monotonic: () => number;
  readonly maxIds?: number;
}

/** A longer text is not an id; this bounds what is hashed. */
const longestId = 1_024;

const foreign: Standing = Object.freeze({ is: 'foreign' });
const unknown: Standing = Object.freeze({ is: 'unknown' });

/** Records which owner received which id, on this node and on all others. */
export function createStateDirectory(options: StateDirectoryOptions): StateDirectory {
  const { database, breaker, secrets, maxIds } = options;
  const today = createCautiousDate(options);
  const memory = createStateMemory(maxIds);

  function standing(owner: string, knownStates: readonly KnownState[], time: number): Standing {
    let isGiven = false;
    for (const state of knownStates) {
      if (state.expiresAt <= time) continue;
      if (state.owner === owner) return { is: 'own', location: state };
      isGiven = true;
    }
    return isGiven ? foreign : unknown;
  }

  return {
    digest: (kind, text) => secrets.digestState(`${kind} ${text.slice(0, longestId)}`),
    note: memory.note,
    recall: (owner, id) => standing(owner, memory.recall(id), today()),
    async find(owner, ids) {
      const time = today();
      let rows: KnownState[];
      try {
        rows = await breaker(() => knownState(database.kysely, ids, time));
      } catch (cause) {
        throw new GatewayError('unavailable', { cause, retryAfter: 1 });
      }
      const byId = Map.groupBy(rows, ({ id }) => id);
      return new Map(
        ids.map((id) => {
          const storedStates = byId.get(id) ?? [];
          for (const row of storedStates) if (row.owner === owner) memory.note(row);
          return [id, standing(owner, [...memory.recall(id), ...storedStates], time)];
        }),
      );
    },
  };
}

/** Whether everybody may name this id. `*` in a pattern is any text. Linear in the id. */
export function isShared(patterns: readonly string[], id: string): boolean {
  return patterns.some((pattern) => matchesPattern(pattern, id));
}
