import { useState } from 'react';
import { useWords } from '../../words/index.ts';
import styles from './chart.module.css';
import { axisLabel, scaleOf, type Scale } from './scale.ts';
import { useWidth } from './use-width.ts';

export interface Series {
  readonly name: string;
  /** A token such as `--c1`. */
  readonly color: string;
  /** One for each bar; null: there is none, and a line has a gap. */
  readonly values: readonly (number | null)[];
}

interface Props {
  /** What it shows; the figures themselves are in a table beside it. */
  readonly label: string;
  /** The name of each bar. */
  readonly bars: readonly string[];
  /** Bars that have not the whole of their day; striped. */
  readonly partial?: readonly boolean[] | undefined;
  readonly series: readonly Series[];
  readonly format: (value: number) => string;
  readonly onPick?: (bar: number) => void;
  readonly isLine?: boolean;
  readonly height?: number;
  /** Absent: from zero to the highest value. */
  readonly scale?: Scale;
}

/** Of a character on the edge, about. */
const letter = 7;
const widest = 52;
const labelSpace = 72;

/** Bars from zero, one part for each series; or lines. The names and values of a bar are shown where the pointer is. */
export function StackedBars({
  label,
  bars,
  partial = [],
  series,
  format,
  onPick,
  isLine = false,
  height = 240,
  scale,
}: Props) {
  const say = useWords();
  const [width, measure] = useWidth(720);
  const [hovered, setHovered] = useState<number | null>(null);
  const base = height - 22;
  const totals = bars.map((_, at) =>
    isLine
      ? Math.max(0, ...series.map(({ values }) => values[at] ?? 0))
      : series.reduce((sum, { values }) => sum + (values[at] ?? 0), 0),
  );
  const { from: lowest, to: top } = scale ?? scaleOf(totals);
  const size = top - lowest;
  const lines = [0, 0.25, 0.5, 0.75, 1]
    .filter((part) => size > 0 || part === 0)
    .map((part) => lowest + size * part);
  const widths = lines.map((value) => axisLabel(value).length * letter);
  const left = Math.max(...widths) + 14;
  const step = (width - left) / Math.max(1, bars.length);
  const bar = Math.max(1, Math.min(step - Math.min(2, step / 4), widest));
  const x = (at: number) => left + at * step + (step - bar) / 2;
  const y = (value: number) => base - (size === 0 ? 0 : ((value - lowest) / size) * (base - 10));
  const everyNth = Math.max(1, Math.ceil(labelSpace / step));
  const shown = hovered === null ? null : Math.min(hovered, bars.length - 1);
  return (
    <div className={styles['box']} ref={measure}>
      <svg
        className={onPick === undefined ? styles['chart'] : styles['picked']}
        width={width}
        height={height}
        viewBox={`0 0 ${width} ${height}`}
        role="img"
        aria-label={label}
        onPointerMove={({ nativeEvent: { offsetX } }) => {
          const at = Math.floor((offsetX - left) / step);
          setHovered(at >= 0 && at < bars.length ? at : null);
        }}
        onPointerLeave={() => setHovered(null)}
        onClick={() => shown !== null && onPick?.(shown)}
      >
        {lines.map((value) => (
          <g key={value}>
            <path className={styles['grid']} d={`M${left} ${y(value)}H${width}`} />
            <text x={left - 8} y={y(value) + 4} textAnchor="end">
              {axisLabel(value)}
            </text>
          </g>
        ))}
        {shown !== null && (
          <rect
            className={styles['field']}
            x={left + shown * step}
            y={10}
            width={step}
            height={base - 10}
          />
        )}
        {isLine
          ? series.map(({ name, color, values }) => (
              <path
                key={name}
                className={styles['line']}
                style={{ stroke: `var(${color})` }}
                d={values
                  .map((value, at) => {
                    if (value === null) return '';
                    const [across, down] = [x(at) + bar / 2, y(value)];
                    if ((values[at - 1] ?? null) !== null) return `L${across} ${down}`;
                    // A value between gaps is a small circle.
                    const isAlone = (values[at + 1] ?? null) === null;
                    return isAlone
                      ? `M${across - 2} ${down}a2 2 0 1 0 4 0a2 2 0 1 0 -4 0`
                      : `M${across} ${down}`;
                  })
                  .join('')}
              />
            ))
          : stacked(series, bars.length).map(({ name, color, parts }) => (
              <path
                key={name}
                style={{ fill: `var(${color})` }}
                d={parts
                  .map(([from, to], at) => {
                    const tall = y(from) - y(to);
                    // A hairline between parts, unless it would swallow the part.
                    const gap = tall > 3 ? 1 : 0;
                    return tall <= 0
                      ? ''
                      : `M${x(at)} ${y(to)}h${bar}v${Math.max(0.5, tall - gap)}h${-bar}z`;
                  })
                  .join('')}
              />
            ))}
        {!isLine &&
          bars.map((name, at) =>
            partial[at] !== true ? null : (
              <path
                key={name}
                className={styles['stripes']}
                d={`M${x(at) + bar / 2} ${base}V${y(totals[at] ?? 0)}`}
                style={{ strokeWidth: bar }}
              />
            ),
          )}
        <path className={styles['base']} d={`M${left} ${base + 0.5}H${width}`} />
        {bars.map(
          (name, at) =>
            at % everyNth === 0 &&
            (left + (at + 0.5) * step + labelSpace / 3 < width || bars.length === 1) && (
              <text key={name} x={left + (at + 0.5) * step} y={height - 5} textAnchor="middle">
                {name}
              </text>
            ),
        )}
      </svg>
      {shown !== null && (
        <div
          className={styles['values']}
          style={{ insetInlineStart: Math.min(left + (shown + 1) * step + 4, width - 230) }}
        >
          <p className="strong">
            {partial[shown] === true
              ? say('range.partDay', { name: bars[shown] ?? '' })
              : bars[shown]}
          </p>
          {series
            .map(({ name, color, values }) => ({ name, color, value: values[shown] ?? null }))
            .filter(({ value }) => value !== null && (isLine || value > 0))
            .map(({ name, color, value }) => (
              <p key={name}>
                <Swatch color={color} />
                <span className="cut">{name}</span>
                <span>{format(value ?? 0)}</span>
              </p>
            ))}
        </div>
      )}
    </div>
  );
}

/** The names of all series, for several charts or lines. */
export function Legend({ series }: { readonly series: readonly Omit<Series, 'values'>[] }) {
  return (
    <ul className={styles['legend']}>
      {series.map(({ name, color }) => (
        <li key={name}>
          <Swatch color={color} />
          {name}
        </li>
      ))}
    </ul>
  );
}

/** The colour of a series, beside its name. */
export function Swatch({ color }: { readonly color: string }) {
  return <span className={styles['swatch']} style={{ background: `var(${color})` }} />;
}

function stacked(series: readonly Series[], bars: number) {
  const heights = Array.from({ length: bars }, () => 0);
  return series.map(({ name, color, values }) => ({
    name,
    color,
    parts: heights.map((from, at) => {
      const to = from + (values[at] ?? 0);
      heights[at] = to;
      return [from, to] as const;
    }),
  }));
}
