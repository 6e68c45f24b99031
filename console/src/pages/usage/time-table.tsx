import { Link } from '@tanstack/react-router';
import { useFormats } from '../../format/numbers.ts';
import type { Series } from '../../pieces/chart/stacked-bars.tsx';
import type { OverTime } from '../../pieces/sums/sums.ts';
import { useWords } from '../../words/index.ts';
import styles from './page.module.css';

interface Props {
  readonly sums: Pick<OverTime, 'buckets'>;
  readonly series: readonly Series[];
  readonly format: (value: number) => string;
}

/** The figures of the chart: a row for each hour, day or month. */
export function TimeTable({ sums: { buckets }, series, format }: Props) {
  const say = useWords();
  const formats = useFormats();
  return (
    <div className={styles['scroll']} tabIndex={0} role="group" aria-label={say('explore.table')}>
      <table className="table">
        <thead>
          <tr>
            <th scope="col">{say('overview.when')}</th>
            {series.map(({ name }) => (
              <th key={name} scope="col" className="number">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {buckets?.map(({ name, from, to }, at) => (
            <tr key={name}>
              <td>
                <Link className="link" to="/requests" search={{ from, to }}>
                  {name.includes('T') ? formats.span(from, to) : formats.part(name)}
                </Link>
              </td>
              {series.map(({ name: of, values }) => (
                <td key={of} className="number">
                  <Value value={values[at] ?? null} format={format} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Value({ value, format }: Pick<Props, 'format'> & { readonly value: number | null }) {
  if (value !== null && value !== 0) return format(value);
  return <span className="quiet">{value === null ? '–' : '0'}</span>;
}
