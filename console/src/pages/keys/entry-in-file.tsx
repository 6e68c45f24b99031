import { useQuery } from '@tanstack/react-query';
import { readYaml } from '../../api/client.ts';
import { Dialog, DialogEnd } from '../../pieces/dialog.tsx';
import { changeIn } from '../../pieces/place-in-file.ts';
import { Snippet } from '../../pieces/snippet.tsx';
import { ErrorState, Skeleton } from '../../pieces/states.tsx';
import { useWords } from '../../words/index.ts';
import styles from './page.module.css';
import type { Key } from './page.tsx';

interface Props {
  readonly of: Key;
  readonly onClose: () => void;
}

/** Where a key of the file is changed, and its entry to copy. */
export function EntryInFile({ of: key, onClose }: Props) {
  const say = useWords();
  const { id, name, revision } = key;
  const entry = useQuery({
    queryKey: ['keys', id, revision, 'entry'],
    queryFn: ({ signal }) => readYaml(`/keys/${id}`, signal),
  });
  return (
    <Dialog title={say('keys.entry', { name })} onClose={onClose}>
      <p className={styles['place']}>{changeIn(key, say)}</p>
      {entry.isPending && <Skeleton rows={3} />}
      {entry.isError && <ErrorState error={entry.error} onRetry={() => void entry.refetch()} />}
      {entry.isSuccess && <Snippet text={entry.data} label={say('keys.entry', { name })} />}
      <p className="quiet">{say('keys.entryHint')}</p>
      <DialogEnd word={say('keys.close')} onClose={onClose} />
    </Dialog>
  );
}
