import type { ReactNode } from 'react';
import { limitState, type MoneyLimit } from '../format/limit.ts';
import { useFormats } from '../format/numbers.ts';
import { useWords } from '../words/index.ts';
import { Money } from './money.tsx';
import styles from './meter.module.css';

interface Props {
  /** What is limited, such as `Month`. */
  readonly name: string;
  readonly limit: MoneyLimit;
  /** Where the limit is edited. */
  readonly field?: ReactNode;
}

/** What is left of a limit: the figure, the bar, and in a line below it what is spent and held and when it ends. */
export function Meter({ name, limit, field = null }: Props) {
  const say = useWords();
  const formats = useFormats();
  const state = limitState(limit, Date.now());
  const { pace, reachedAt } = state;
  const amount = (text: string) => formats.amount(Number(text));
  const parts = [
    say('limits.spent', { amount: amount(limit.spent) }),
    ...(limit.held === '0' ? [] : [say('limits.held', { amount: amount(limit.held) })]),
    limit.window === null
      ? say('limits.noWindow')
      : say('limits.ends', { time: formats.moment(limit.window.to) }),
  ];
  return (
    <div className={styles['limit']}>
      <div className={styles['line']}>
        <span className="strong">{name}</span>
        <span>
          <span className={styles['left']}>
            <Money amount={state.left} />
          </span>{' '}
          <span className="quiet">
            {say('limits.left', { limit: field === null ? amount(limit.limit) : '' })}
          </span>
          {field}
        </span>
      </div>
      <Gauge name={name} limit={limit} />
      <small>{parts.join('; ')}</small>
      {pace !== 'within' && (
        <small className={pace === 'early' ? styles['early'] : styles['out']}>
          {reachedAt === null
            ? say('limits.usedUp')
            : say('limits.reached', { time: formats.moment(new Date(reachedAt).toISOString()) })}
        </small>
      )}
    </div>
  );
}

/** The bar alone: spent, then held, then what is left; a tick where the window stands now. */
export function Gauge({ name, limit }: Omit<Props, 'field'>) {
  const say = useWords();
  const formats = useFormats();
  const { spentPart, heldPart, now, pace } = limitState(limit, Date.now());
  const amount = (text: string) => formats.amount(Number(text));
  const label = say('limits.gauge', {
    name,
    spent: amount(limit.spent),
    limit: amount(limit.limit),
    held: amount(limit.held),
  });
  const width = (part: number) => ({ inlineSize: `${part * 100}%` });
  return (
    <div
      className={styles['gauge']}
      data-pace={pace}
      role="meter"
      aria-label={label}
      title={label}
      aria-valuemin={0}
      aria-valuemax={Number(limit.limit)}
      aria-valuenow={Math.min(Number(limit.spent), Number(limit.limit))}
    >
      <div className={styles['bar']}>
        <i style={width(spentPart)} />
        <i className={styles['held']} style={width(heldPart)} />
      </div>
      {now !== null && (
        <i className={styles['now']} style={{ insetInlineStart: `${now * 100}%` }} />
      )}
    </div>
  );
}
