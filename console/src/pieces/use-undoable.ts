import { useState } from 'react';
import { ApiFailure } from '../api/client.ts';
import { useWords } from '../words/index.ts';
import { useToast, type ToastText } from './toast.tsx';

interface Named {
  readonly name: string;
  readonly revision: number;
}

type Headers = { readonly 'if-match': string };

/**
 * Changes of single settings in a list, each with an Undo.
 * @param write sends a change, and gives the object after it
 * @param reload shows the list anew
 */
export function useUndoable<Shown extends Named, Setting>(
  write: (object: Shown, setting: Setting, headers: Headers) => Promise<Named>,
  reload: () => Promise<unknown>,
) {
  const say = useWords();
  const { toast, setToast, endToast } = useToast();
  /** Why a change was not made; null: it was. */
  const [problem, setProblem] = useState<string | null>(null);

  async function send(object: Shown, setting: Setting): Promise<Shown> {
    const { revision } = await write(object, setting, { 'if-match': `"${object.revision}"` });
    await reload();
    return { ...object, revision };
  }

  /** Sends something for an object, and says afterwards what was done. */
  function run(name: string, work: () => Promise<ToastText>): void {
    setProblem(null);
    work().then(setToast, (error: unknown) => {
      const isStale = error instanceof ApiFailure && error.code === 'stale';
      setProblem(isStale ? say('states.changedMeanwhile', { name }) : (error as Error).message);
      void reload();
    });
  }

  /**
   * @param earlier what the setting was
   * @param consequence what follows, in words
   */
  function change(object: Shown, setting: Setting, earlier: Setting, consequence: string): void {
    const { name } = object;
    run(name, async () => {
      const changed = await send(object, setting);
      const undo = () => {
        setToast(null);
        run(name, async () => {
          await send(changed, earlier);
          return { text: say('states.undone', { name }) };
        });
      };
      return { text: consequence, undo };
    });
  }

  return { change, run, toast, setToast, endToast, problem };
}
