import { useQuery } from '@tanstack/react-query';
import { read, type Result } from '../../api/client.ts';
import { limitState } from '../../format/limit.ts';
import { useFormats } from '../../format/numbers.ts';
import { Icon } from '../../pieces/icon.tsx';
import { Meter } from '../../pieces/meter.tsx';
import { ErrorState, Skeleton } from '../../pieces/states.tsx';
import { useWords, type Say } from '../../words/index.ts';
import styles from './page.module.css';

type OwnLimit = Result<'readMyLimits'>['data'][number];

const again = 15_000;

/** What the person may still spend: the nearest limit in words, and all of them as meters. */
export function LimitsLeft() {
  const say = useWords();
  const limits = useQuery({
    queryKey: ['own-limits'],
    queryFn: ({ signal }) => read<'readMyLimits'>('/me/limits', {}, signal),
    refetchInterval: again,
  });
  if (limits.isError) {
    return <ErrorState error={limits.error} onRetry={() => void limits.refetch()} />;
  }
  if (limits.data === undefined) return <Skeleton rows={3} />;
  const shown = nearestFirst(limits.data.data);
  const [nearest] = shown;
  return (
    <section aria-label={say('left.title')}>
      {nearest !== undefined && <Nearest limit={nearest} />}
      <div className={styles['meters']}>
        {shown.map((limit) => (
          <div key={`${limit.of} ${limit.name} ${limit.kind}`}>
            <Meter name={limitName(limit, say)} limit={limit} />
            {limit.shared_by !== undefined && limit.shared_by > 1 && (
              <small className="quiet">{say('left.shared', { count: limit.shared_by })}</small>
            )}
          </div>
        ))}
      </div>
    </section>
  );
}

function Nearest({ limit }: { readonly limit: OwnLimit }) {
  const say = useWords();
  const formats = useFormats();
  const { left } = limitState(limit, Date.now());
  const name = limitName(limit, say);
  if (Number(left) === 0) {
    return (
      <p className="outcome failed strong" role="status">
        <Icon name="cross" />
        {say('left.nothing', { name })}
      </p>
    );
  }
  return (
    <div role="status">
      <p>
        <span className={styles['nearest']}>{formats.amount(Number(left))}</span>{' '}
        <span className="quiet">{say('left.usd')}</span>
      </p>
      <p className="second">{say('left.nearest', { name })}</p>
    </div>
  );
}

/** By what is left of each. A balance that nobody has ever credited limits nothing where a team pays. */
function nearestFirst(limits: readonly OwnLimit[]): readonly OwnLimit[] {
  const now = Date.now();
  const isUnused = ({ kind, limit, spent }: OwnLimit) =>
    kind === 'balance' && Number(limit) === 0 && Number(spent) === 0;
  const used = limits.filter((limit) => !isUnused(limit));
  const leftOf = (limit: OwnLimit) => Number(limitState(limit, now).left);
  return (used.length === 0 ? limits : used).toSorted((a, b) => leftOf(a) - leftOf(b));
}

function limitName({ of, name, kind }: OwnLimit, say: Say): string {
  if (of === 'key') return say('left.key', { name });
  if (of === 'person') return say(kind === 'quota' ? 'left.quota' : 'left.balance');
  switch (kind) {
    case 'member':
    case 'daily':
    case 'monthly':
    case 'total':
      return say(`left.team.${kind}`, { name });
    default:
      return say('left.team.balance', { name });
  }
}
