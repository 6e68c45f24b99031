import { useFormats } from '../../format/numbers.ts';
import { Money } from '../../pieces/money.tsx';
import { useWords } from '../../words/index.ts';
import styles from './page.module.css';
import type { Sums } from './page.tsx';

const width = 1180;
const height = 168;
const left = 72;
const base = height - 20;
const mostLabels = 12;
const widest = 48;
const lengths = { hour: 3_600_000, day: 86_400_000 };

interface Props {
  readonly sums: Sums;
  readonly by: 'hour' | 'day';
}

/** A bar for each hour or day, also for those without a request, and the same figures as a table for those who do not see it. */
export function SpendChart({ sums, by }: Props) {
  const say = useWords();
  const formats = useFormats();
  const buckets = everyBucket(sums, by);
  const top = niceTop(Math.max(...buckets.map(({ cost }) => Number(cost)), 0));
  const step = (width - left) / buckets.length;
  const y = (cost: number) => base - (top === 0 ? 0 : (cost / top) * (base - 12));
  const everyNth = Math.ceil(buckets.length / mostLabels);
  return (
    <>
      <div
        className={styles['scroll']}
        role="group"
        aria-label={say('overview.chart')}
        tabIndex={0}
      >
        <svg
          className={styles['chart']}
          viewBox={`0 0 ${width} ${height}`}
          role="img"
          aria-label={say('overview.chart')}
        >
          {[0, 0.25, 0.5, 0.75, 1].map((part) => (
            <g key={part}>
              <path className={styles['grid']} d={`M${left} ${y(top * part)}H${width}`} />
              {(top > 0 || part === 0) && (
                <text x={left - 8} y={y(top * part) + 4} textAnchor="end">
                  {label(top * part)}
                </text>
              )}
            </g>
          ))}
          {buckets.map(({ name, cost, requests }, at) => (
            <g key={name}>
              <title>{`${formats.bucket(name)}: ${cost} USD, ${formats.count(requests)}`}</title>
              <rect
                className={styles['bar']}
                x={left + at * step + 1}
                y={y(Number(cost))}
                width={Math.max(1, Math.min(step - 2, widest))}
                height={base - y(Number(cost))}
              />
              {at % everyNth === 0 && (
                <text x={left + at * step + 1} y={height - 4}>
                  {formats.bucket(name)}
                </text>
              )}
            </g>
          ))}
        </svg>
      </div>
      <div className="hidden">
        <table>
          <caption>{say(by === 'hour' ? 'overview.byHour' : 'overview.byDay')}</caption>
          <thead>
            <tr>
              <th scope="col">{say('overview.when')}</th>
              <th scope="col">{say('overview.requests')}</th>
              <th scope="col">{say('overview.cost')}</th>
            </tr>
          </thead>
          <tbody>
            {buckets.map(({ name, cost, requests }) => (
              <tr key={name}>
                <td>{formats.bucket(name)}</td>
                <td>{requests}</td>
                <td>
                  <Money amount={cost} isExact />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

interface Bucket {
  readonly name: string;
  readonly cost: string;
  readonly requests: number;
}

function everyBucket({ from, to, data }: Sums, by: Props['by']): Bucket[] {
  const known = new Map(data.map((bucket) => [bucket.name, bucket]));
  const buckets: Bucket[] = [];
  const length = lengths[by];
  const first = Math.floor(Date.parse(from) / length) * length;
  for (let time = first; time < Date.parse(to); time += length) {
    const text = new Date(time).toISOString();
    const name = by === 'hour' ? `${text.slice(0, 16)}Z` : text.slice(0, 10);
    buckets.push(known.get(name) ?? { name, cost: '0', requests: 0 });
  }
  return buckets;
}

/** The first of 1, 2, 4 or 8 times a power of ten that is not below: its quarters are short numbers. */
function niceTop(most: number): number {
  if (most === 0) return 0;
  const power = 10 ** Math.floor(Math.log10(most));
  return [1, 2, 4, 8, 10].map((factor) => factor * power).find((size) => size >= most) ?? most;
}

const label = (amount: number) => String(Number(amount.toPrecision(3)));
