import { useState, type ReactNode } from 'react';
import { ApiFailure } from '../api/client.ts';
import { mergeMembers, same, type Change } from './merge.ts';
import { TwoVersions } from './two-versions.tsx';
import type { Write } from './use-write.ts';

type Headers = { 'if-match': string };

interface EditOptions<B> {
  readonly sending: Write;
  /** Sends a change with these headers. */
  readonly write: (body: B, headers: Headers) => Promise<unknown>;
  readonly onChanged: () => void;
  /** Of the object, as people call it. */
  readonly name: string;
  /** What the form calls a member or its part. */
  readonly labelOf: (change: Change) => ReactNode;
  /** As of `TwoVersions`. */
  readonly textOf?: (change: Change, value: unknown) => string | null;
  /** Members whose parts are changed by themselves. */
  readonly withParts?: readonly string[];
}

interface Edit<T, B> {
  /** As it was opened, or as somebody else has left it meanwhile. */
  readonly object: T;
  readonly send: (body: B) => void;
  /** Stands beside the form: both versions, once somebody else has saved first. */
  readonly twoVersions: ReactNode;
}

/** An object in a form that changes it, so that nobody overwrites what they have not seen. */
export function useEdit<T extends { readonly revision: number }, B extends object>(
  of: T,
  options: EditOptions<B>,
): Edit<T, B> {
  const { sending, write, onChanged, withParts, ...shown } = options;
  const [object, setObject] = useState(of);
  const [conflict, setConflict] = useState<{ readonly theirs: T; readonly body: B } | null>(null);

  const merge = (theirs: T, body: B) => mergeMembers(object, theirs, body, withParts);
  /** @param seen the latest version that the person has seen */
  async function save(body: B, seen: T): Promise<void> {
    try {
      await write(body, { 'if-match': `"${seen.revision}"` });
    } catch (error) {
      if (!(error instanceof ApiFailure) || error.code !== 'stale') throw error;
      const theirs = error.object as T;
      // What the form does not have contradicts nobody.
      if (merge(theirs, body).changes.every((each) => same(each.before, each.theirs))) {
        return save(body, theirs);
      }
      return setConflict({ theirs, body });
    }
    onChanged();
  }

  return {
    object,
    send: (body) => sending.run(() => save(body, object)),
    twoVersions: conflict !== null && (
      <TwoVersions
        {...shown}
        changes={merge(conflict.theirs, conflict.body).changes}
        onTakeTheirs={() => {
          setObject(conflict.theirs);
          setConflict(null);
        }}
        onSaveBoth={() => {
          const { theirs, body } = conflict;
          setConflict(null);
          sending.run(() => save(merge(theirs, body).merged as B, theirs));
        }}
        onClose={() => setConflict(null)}
      />
    ),
  };
}
