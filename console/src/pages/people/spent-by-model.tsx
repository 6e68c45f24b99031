import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { read } from '../../api/client.ts';
import { spanOf } from '../../app/range.ts';
import { ErrorState, Skeleton } from '../../pieces/states.tsx';
import { SumsTable } from '../../pieces/sums/sums-table.tsx';
import { useWords } from '../../words/index.ts';
import { filterWord } from '../requests/filter.ts';
import styles from './page.module.css';

/** What a person or a team spent on which models in 30 days. */
export function SpentByModel({
  of,
  name,
}: {
  readonly of: 'user' | 'team';
  readonly name: string;
}) {
  const say = useWords();
  const span = useMemo(() => spanOf({ range: '30d' }), []);
  const filter = filterWord(of, name);
  const sums = useQuery({
    queryKey: ['sums', 'of', of, name, span.from],
    queryFn: ({ signal }) =>
      read<'sumUsage'>('/usage/sums', { ...span, by: 'model', [of]: name, first: '8' }, signal),
  });
  return (
    <section className={styles['section']}>
      <header className={styles['head']}>
        <h2 className="title">
          {say('people.person.spentBy')}{' '}
          <span className="quiet">{say('people.person.spentByHint')}</span>
        </h2>
        <Link className="link" to="/requests" search={{ range: '30d', filter }}>
          {say('people.person.allRequests')}
        </Link>
      </header>
      {sums.isError && <ErrorState error={sums.error} onRetry={() => void sums.refetch()} />}
      {sums.isPending && <Skeleton rows={4} />}
      {sums.data !== undefined &&
        (sums.data.requests === 0 ? (
          <p className="quiet">{say('people.person.usedNothing')}</p>
        ) : (
          <SumsTable sums={sums.data} dimension="model" filter={filter} isShort />
        ))}
    </section>
  );
}
