import { useState } from 'react';
import { read } from '../../api/client.ts';
import { EntryTable } from '../../pieces/entry-table.tsx';
import { PagedList } from '../../pieces/paged-list.tsx';
import { usePagedList } from '../../pieces/use-paged-list.ts';
import { useWords } from '../../words/index.ts';
import styles from './page.module.css';
import { peopleKey } from './query.ts';

/** What an account was credited and charged, newest first. */
export function Entries({ kind, id }: { readonly kind: 'user' | 'team'; readonly id: string }) {
  const say = useWords();
  const [isCreditsOnly, setCreditsOnly] = useState(false);
  const { list, items: entries } = usePagedList({
    queryKey: [...peopleKey, 'entries', kind, id, isCreditsOnly],
    isOrdered: false,
    readPage: (cursor, signal) =>
      read<'listEntries'>(
        `/accounts/${kind}/${encodeURIComponent(id)}/entries`,
        {
          limit: '20',
          ...(isCreditsOnly && { credits: 'only' }),
          ...(cursor !== undefined && { cursor }),
        },
        signal,
      ),
  });
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
      <PagedList
        list={list}
        isEmpty={entries.length === 0}
        empty={say('people.entries.none')}
        more={say('people.entries.more')}
        rows={4}
      >
        <EntryTable
          label={say('people.entries.title')}
          entries={entries}
          withBalance={!isCreditsOnly}
        />
      </PagedList>
    </section>
  );
}
