import { useWidth } from '../../pieces/chart/use-width.ts';
import { useFormats } from '../../format/numbers.ts';
import { useWords } from '../../words/index.ts';
import styles from './request.module.css';
import type { Detail } from './request-view.tsx';

const widest = 640;
/** Where the bars begin, as a part of the width, and the room for a duration behind them. */
const labelShare = 0.27;
const behind = 64;
const row = 24;
const bar = 12;

/** When each attempt began and ended. The same figures stand beside the bars. */
export function Timeline({ detail }: { readonly detail: Detail }) {
  const say = useWords();
  const formats = useFormats();
  const [room, measure] = useWidth(widest);
  const width = Math.min(widest, room);
  const labels = Math.round(width * labelShare);
  const { attempts, duration_ms: total, ttft_ms: first } = detail;
  const arrived = Date.parse(detail.time);
  const end = Math.max(total, 1);
  const x = (milliseconds: number) =>
    labels + (Math.min(Math.max(milliseconds, 0), end) / end) * (width - labels - behind);
  const height = 20 + row * Math.max(attempts.length, 1);
  const ticks = ticksOf(end, width > 480 ? 5 : 3);
  return (
    <div ref={measure}>
      <svg
        className={styles['timeline']}
        viewBox={`0 0 ${width} ${height}`}
        width={width}
        height={height}
        role="img"
        aria-label={say('request.timeTotal', { total: formats.duration(total) })}
      >
        {ticks.map((tick) => (
          <g key={tick}>
            <path className={styles['grid']} d={`M${x(tick)} 16V${height}`} />
            <text className={styles['tick']} x={x(tick)} y={10} textAnchor="middle">
              {formats.duration(tick)}
            </text>
          </g>
        ))}
        {attempts.map(({ channel, started_at, duration_ms: length, result }, at) => {
          const begin = Date.parse(started_at) - arrived;
          const y = 24 + row * at;
          const isDone = result === 'completed';
          const waits = isDone && first !== null ? Math.min(Math.max(first - begin, 0), length) : 0;
          return (
            <g key={`${at} ${channel}`}>
              <svg x={0} y={y - bar} width={labels - 8} height={row}>
                <text x={0} y={2 * bar - 2}>
                  {channel}
                </text>
              </svg>
              {waits > 0 && (
                <rect
                  className={styles['waits']}
                  x={x(begin)}
                  y={y}
                  width={Math.max(2, x(begin + waits) - x(begin))}
                  height={bar}
                />
              )}
              <rect
                className={isDone ? styles['done'] : styles['broken']}
                x={x(begin + waits)}
                y={y}
                width={Math.max(2, x(begin + length) - x(begin + waits))}
                height={bar}
              />
              <text className={styles['tick']} x={x(begin + length) + 6} y={y + bar - 2}>
                {formats.duration(length)}
              </text>
            </g>
          );
        })}
      </svg>
    </div>
  );
}

/** About so many round times up to the end. */
function ticksOf(end: number, count: number): number[] {
  const raw = end / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= raw) ?? raw;
  return Array.from({ length: Math.floor(end / step) + 1 }, (_, at) => at * step);
}
