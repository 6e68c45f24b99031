import { type Actor, type Administration, Refusal } from '#administration/index.ts';
import type { DeclaredKind } from '#config/index.ts';
import { fromDatabase } from './from-database.ts';
import type { Caller } from './sessions/caller.ts';
import { ownedByFile, type PlaceInFile, throwStale } from './writes.ts';

interface EntryCall {
  readonly caller: Caller;
}

/**
 * Runs a use case that makes or changes an entry, as the person who calls.
 * @param name of the entry, for the place where the file has it
 * @throws ApiError; `stale` has the entry as it is now
 */
export type WriteEntry = <Result>(
  call: EntryCall,
  name: string,
  useCase: (administration: Administration, actor: Actor) => Promise<Result>,
) => Promise<Result>;

/**
 * Gives the writes to the entries of a kind, with what is refused of them in the API's own terms.
 * @param show an entry, as `GET` shows it
 */
export type EntryWriter = <Stored>(
  kind: DeclaredKind,
  show: (entry: Stored) => object | Promise<object>,
) => WriteEntry;

export interface EntryWriterOptions {
  readonly administration: Administration;
  readonly placeInFile: PlaceInFile;
  /** Brings changes into force in this process; other nodes follow within a second. */
  readonly bringIntoForce: () => Promise<void>;
}

export function createEntryWriter(options: EntryWriterOptions): EntryWriter {
  const { administration, placeInFile, bringIntoForce } = options;
  return <Stored>(
    kind: DeclaredKind,
    show: (entry: Stored) => object | Promise<object>,
  ): WriteEntry => {
    function refuse(error: unknown, name: string): Promise<never> {
      if (error instanceof Refusal && error.reason === 'managed-elsewhere') {
        throw ownedByFile(placeInFile, kind, name);
      }
      return throwStale<Stored>(kind, error, async (entry) => ({ body: await show(entry) }));
    }
    return async ({ caller }, name, useCase) => {
      const result = await fromDatabase(() =>
        useCase(administration, caller.actor).catch((error: unknown) => refuse(error, name)),
      );
      // Whoever reads next finds what was written. If it fails, the next poll does it.
      await bringIntoForce().catch(() => {});
      return result;
    };
  };
}
