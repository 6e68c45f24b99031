import { useState } from 'react';
import { ApiFailure, type FieldProblem } from '../api/client.ts';

export interface Write {
  readonly isBusy: boolean;
  /** Of no field on the page; null: there is none. */
  readonly problem: string | null;
  readonly fields: readonly FieldProblem[];
  /** Takes back what was said about a field, because it has another value now. */
  readonly correct: (name: string) => void;
  readonly run: (write: () => Promise<void>) => void;
}

/**
 * A write and its refusal. Nothing of the response is kept, unlike in the cache of the pages.
 * @param known the fields that show their own problems, or whether one does
 */
export function useWrite(known: readonly string[] | ((path: string) => boolean) = []): Write {
  const shows =
    typeof known === 'function' ? known : (path: string) => known.includes(nameOf(path));
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<unknown>(null);
  const [corrected, setCorrected] = useState<readonly string[]>([]);
  const fields = failure instanceof ApiFailure ? failure.fields : [];
  const isShown = fields.length > 0 && fields.every(({ path }) => shows(path));
  const text = failure instanceof ApiFailure ? failure.message : String(failure);
  return {
    isBusy,
    problem: failure === null || isShown ? null : text,
    fields: fields.filter(({ path }) => !corrected.includes(nameOf(path))),
    correct: (name) => setCorrected((last) => [...last, name]),
    run(write) {
      setBusy(true);
      setCorrected([]);
      setFailure(null);
      write()
        .catch(setFailure)
        .finally(() => setBusy(false));
    },
  };
}

/** `models` of `models[2]`. */
export const nameOf = (path: string) => path.replace(/\[.*$/, '');
