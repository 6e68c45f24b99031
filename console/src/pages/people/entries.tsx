import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { read, type Result } from '../../api/client.ts';
import { useFormats } from '../../format/numbers.ts';
import { Money } from '../../pieces/money.tsx';
import { ErrorState, Skeleton } from '../../pieces/states.tsx';
import { Table } from '../../pieces/table.tsx';
import { useWords } from '../../words/index.ts';
import styles from './page.module.css';
import { peopleKey } from './query.ts';

type Entry = Result<'listEntries'>['data'][number];

const kinds = ['opening', 'top-up', 'correction', 'usage'] as const;

/** Places of the amounts: credits are round, and usage is small. */
const places = 6;

/** What an account was credited and charged, newest first. */
export function Entries({ kind, id }: { readonly kind: 'user' | 'team'; readonly id: string }) {
  const say = useWords();
  const [isCreditsOnly, setCreditsOnly] = useState(false);
  const list = useInfiniteQuery({
    queryKey: [...peopleKey, 'entries', kind, id, isCreditsOnly],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      read<'listEntries'>(
        `/accounts/${kind}/${encodeURIComponent(id)}/entries`,
        {
          limit: '20',
          ...(isCreditsOnly && { credits: 'only' }),
          ...(pageParam !== undefined && { cursor: pageParam }),
        },
        signal,
      ),
    getNextPageParam: ({ next }) => next ?? undefined,
  });
  const entries = list.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <section className={styles['section']}>
      <header className={styles['head']}>
        <h2 className="title">
          {say('people.entries.title')}{' '}
          <span className="quiet">{say('people.entries.newest')}</span>
        </h2>
        <div className="segments" role="group" aria-label={say('people.entries.which')}>
          {[false, true].map((is) => (
            <button
              key={String(is)}
              type="button"
              aria-pressed={is === isCreditsOnly}
              data-chosen={is === isCreditsOnly}
              onClick={() => setCreditsOnly(is)}
            >
              {say(is ? 'people.entries.credits' : 'people.entries.all')}
            </button>
          ))}
        </div>
      </header>
      {list.isError && <ErrorState error={list.error} onRetry={() => void list.refetch()} />}
      {list.isPending && <Skeleton rows={4} />}
      {list.isSuccess && entries.length === 0 && (
        <p className="state">{say('people.entries.none')}</p>
      )}
      {entries.length > 0 && <EntryTable entries={entries} withBalance={!isCreditsOnly} />}
      {list.hasNextPage && (
        <button
          type="button"
          className="button"
          disabled={list.isFetchingNextPage}
          onClick={() => void list.fetchNextPage()}
        >
          {say('people.entries.more')}
        </button>
      )}
    </section>
  );
}

function EntryTable({
  entries,
  withBalance,
}: {
  readonly entries: readonly Entry[];
  readonly withBalance: boolean;
}) {
  const say = useWords();
  const formats = useFormats();
  return (
    <Table
      label={say('people.entries.title')}
      heads={[
        say('people.entries.time'),
        say('people.entries.what'),
        say('people.entries.reason'),
        [say('people.entries.amount'), 'number'],
        withBalance && [say('people.entries.after'), 'number'],
      ]}
    >
      {entries.map((entry) => {
        const known = kinds.find((each) => each === entry.kind);
        return (
          <tr key={entry.id}>
            <td>{formats.time(entry.time)}</td>
            <td>{known === undefined ? entry.kind : say(`people.entries.kinds.${known}`)}</td>
            <td className={styles['reason']}>
              {entry.reason}
              {/* Of an opening balance it is the owner of the settings, nobody's name. */}
              {entry.actor !== null && entry.kind !== 'opening' && (
                <span className="quiet"> {say('people.entries.by', { name: entry.actor })}</span>
              )}
            </td>
            <td className="number">
              <Money amount={entry.amount} width={places} />
            </td>
            {withBalance && (
              <td className="number">
                {entry.balance !== null && <Money amount={entry.balance} width={places} />}
              </td>
            )}
          </tr>
        );
      })}
    </Table>
  );
}
