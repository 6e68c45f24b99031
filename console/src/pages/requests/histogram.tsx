import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { read, type Query, type Result } from '../../api/client.ts';
import type { Span } from '../../app/range.ts';
import { useFormats } from '../../format/numbers.ts';
import { useWidth } from '../../pieces/chart/use-width.ts';
import { axisLabel, niceTop } from '../../pieces/chart/scale.ts';
import { Money } from '../../pieces/money.tsx';
import { useWords } from '../../words/index.ts';
import styles from './histogram.module.css';

type Bars = Result<'readHistogram'>;

interface Props {
  readonly query: Query<'readHistogram'>;
  readonly span: Span;
  readonly filter: string;
  /** Shows a part of the time only. */
  readonly onBrush: (from: string, to: string) => void;
}

/** How many requests there were when, by status; a part of it can be marked with the pointer or the keys. */
export function Histogram({ query, span, filter, onBrush }: Props) {
  const bars = useQuery({
    queryKey: ['histogram', span.name, filter],
    queryFn: ({ signal }) => read<'readHistogram'>('/usage/histogram', query, signal),
    placeholderData: (previous) => previous,
    refetchInterval: 15_000,
  });
  // The list beside it says what failed.
  if (bars.data === undefined) return <div className={styles['space']} aria-busy="true" />;
  return <Bars bars={bars.data} onBrush={onBrush} />;
}

const left = 44;
const height = 76;
const base = height - 20;
const kinds = ['2xx', '4xx', '5xx'] as const;

function Bars({ bars, onBrush }: { readonly bars: Bars } & Pick<Props, 'onBrush'>) {
  const say = useWords();
  const formats = useFormats();
  const [width, measure] = useWidth(1_100);
  const [marked, setMarked] = useState<readonly [number, number] | null>(null);
  const [isDragged, setDragged] = useState(false);
  const { data, seconds } = bars;
  const step = (width - left) / Math.max(1, data.length);
  const top = niceTop(Math.max(...data.map(({ requests }) => requests), 1));
  const y = (count: number) => base - (count / top) * (base - 8);
  const at = (offset: number) =>
    Math.max(0, Math.min(data.length - 1, Math.floor((offset - left) / step)));
  const timeOf = (index: number) =>
    new Date(Date.parse(data[0]?.time ?? '') + index * seconds * 1_000).toISOString();
  const [first, last] = marked === null ? [0, 0] : [Math.min(...marked), Math.max(...marked)];

  const show = (): void => {
    if (marked !== null) onBrush(timeOf(first), timeOf(last + 1));
    setMarked(null);
  };
  const press = (key: string, isShift: boolean): boolean => {
    if (key === 'Enter' && marked !== null) show();
    else if (key === 'Escape' && marked !== null) setMarked(null);
    else if (key === 'ArrowLeft' || key === 'ArrowRight') {
      const [start, end] = marked ?? [data.length, data.length];
      const next = at(left + (end + (key === 'ArrowLeft' ? -1 : 1) + 0.5) * step);
      setMarked(isShift && marked !== null ? [start, next] : [next, next]);
    } else return false;
    return true;
  };
  const within = data.slice(first, last + 1);
  const sum = (kind: (typeof kinds)[number]) => within.reduce((total, bar) => total + bar[kind], 0);

  return (
    <>
      <div
        className={styles['box']}
        ref={measure}
        role="group"
        aria-label={say('data.histogram')}
        tabIndex={0}
        onKeyDown={(event) => {
          if (!press(event.key, event.shiftKey)) return;
          event.preventDefault();
          event.stopPropagation();
        }}
      >
        <svg
          width={width}
          height={height}
          viewBox={`0 0 ${width} ${height}`}
          aria-hidden="true"
          onPointerDown={({ nativeEvent: { offsetX } }) => {
            setDragged(true);
            setMarked([at(offsetX), at(offsetX)]);
          }}
          onPointerMove={({ nativeEvent: { offsetX } }) => {
            if (isDragged && marked !== null) setMarked([marked[0], at(offsetX)]);
          }}
          onPointerUp={() => {
            setDragged(false);
            if (isDragged) show();
          }}
          onPointerLeave={() => {
            setDragged(false);
            if (isDragged) setMarked(null);
          }}
        >
          <path className={styles['grid']} d={`M${left} ${y(top)}H${width}`} />
          <text x={left - 8} y={y(top) + 4} textAnchor="end">
            {axisLabel(top)}
          </text>
          <text x={left - 8} y={base + 4} textAnchor="end">
            0
          </text>
          {marked !== null && (
            <rect
              className={styles['marked']}
              x={left + first * step}
              y={4}
              width={(last - first + 1) * step}
              height={base - 4}
            />
          )}
          {kinds.map((kind, order) => (
            <path
              key={kind}
              className={styles[`k${kind}`]}
              d={data
                .map((bar, index) => {
                  if (bar[kind] === 0) return '';
                  const below = kinds.slice(0, order).reduce((total, each) => total + bar[each], 0);
                  const high = Math.max(order === 0 ? 1 : 2, y(below) - y(below + bar[kind]));
                  const x = left + index * step + Math.min(0.5, step / 8);
                  return `M${x} ${y(below)}v${-high}h${Math.max(1, step - 1.5)}v${high}z`;
                })
                .join('')}
            />
          ))}
          <path className={styles['base']} d={`M${left} ${base + 0.5}H${width}`} />
          {labelsOf(data, step).map((index) => (
            <text key={index} x={left + index * step} y={height - 4}>
              {seconds >= 86_400
                ? formats.part((data[index]?.time ?? '').slice(0, 10))
                : formats.part(data[index]?.time ?? '')}
            </text>
          ))}
        </svg>
        <p className="hidden" aria-live="polite">
          {marked !== null &&
            `${formats.span(timeOf(first), timeOf(last + 1))}: ${kinds
              .map((kind) => `${kind} ${sum(kind)}`)
              .join(', ')}`}
        </p>
      </div>
      <div className={styles['line']}>
        {marked === null ? (
          <>
            <span className="strong">
              {say('data.requests', {
                count: bars.requests,
                number: formats.count(bars.requests),
              })}
            </span>
            {bars.failed > 0 && (
              <span>{say('data.failed', { number: formats.count(bars.failed) })}</span>
            )}
            {bars.refused > 0 && (
              <span>{say('data.refused', { number: formats.count(bars.refused) })}</span>
            )}
            <span>
              <Money amount={bars.cost} /> USD
            </span>
          </>
        ) : (
          <span>
            {formats.span(timeOf(first), timeOf(last + 1))}:{' '}
            {kinds.map((kind) => `${kind} ${sum(kind)}`).join(' · ')}
          </span>
        )}
        <span className={styles['legend']} aria-hidden="true">
          {kinds.map((kind) => (
            <span key={kind}>
              <svg width="10" height="10">
                <rect className={styles[`k${kind}`]} width="10" height="10" />
              </svg>
              {kind}
            </span>
          ))}
        </span>
      </div>
    </>
  );
}

const labelWidth = 84;

function labelsOf(data: readonly unknown[], step: number): number[] {
  const every = Math.max(1, Math.ceil(labelWidth / step));
  const indexes = data.map((_, index) => index);
  return indexes.filter((index) => index % every === 0 && index * step < data.length * step - 40);
}
