import { Link } from '@tanstack/react-router';
import { placesOf } from '../../format/money.ts';
import { filterWord } from '../../pages/requests/filter.ts';
import { useFormats } from '../../format/numbers.ts';
import { useWords } from '../../words/index.ts';
import { Swatch } from '../chart/stacked-bars.tsx';
import { filterOfClick, useCellWord, type OnFilter } from '../cell-filter.tsx';
import { Money } from '../money.tsx';
import { inOrder, type OrderBy } from '../order.ts';
import { Percent } from '../percent.tsx';
import { SortHead } from '../sort-head.tsx';
import { groupName, inputOf, requestsOf, type Dimension, type Sum, type Sums } from './sums.ts';
import styles from './sums.module.css';

interface Props {
  readonly sums: Sums;
  readonly dimension: Dimension;
  readonly second?: Dimension | undefined;
  /** The filter line of the sums. */
  readonly filter?: string;
  /** Names with a colour in the chart above, by rank. */
  readonly colored?: number;
  /** Amounts of the period before, by name. */
  readonly before?: ReadonlyMap<string | null, Sum> | undefined;
  readonly isShort?: boolean;
  /** Absent: the table cannot be ordered, and has no line of totals. */
  readonly order?: SumsOrder | undefined;
  readonly onOrder?: (column: SumsColumn) => void;
  /** Absent: the sums have no filter. */
  readonly onFilter?: OnFilter;
}

/** The columns by which sums can be ordered; names first, the highest of all others. */
export const sumsColumns = ['name', 'requests', 'failed', 'input', 'output', 'cost'] as const;
export type SumsColumn = (typeof sumsColumns)[number];
export type SumsOrder = OrderBy<SumsColumn>;

type Row = Sums['data'][number];
/** What all others have together comes last in every order. */
const valueOf: Readonly<Record<SumsColumn, (row: Row) => number | string | null>> = {
  name: ({ name }) => name,
  requests: (row) => (row.name === null ? null : row.requests),
  failed: (row) => (row.name === null ? null : row.failed - row.refused),
  input: (row) => (row.name === null ? null : inputOf(row)),
  output: (row) => (row.name === null ? null : row.tokens.output),
  cost: (row) => (row.name === null ? null : Number(row.cost)),
};

/** Sums by name; each opens the requests that it counts. */
export function SumsTable({
  sums,
  dimension,
  second,
  filter = '',
  colored = 0,
  before,
  isShort = false,
  order,
  onOrder,
  onFilter,
}: Props) {
  const say = useWords();
  const formats = useFormats();
  const filtersBy = useCellWord();
  const { data, others } = sums;
  const names = [...new Set(data.map(({ name }) => name))];
  const rows = inOrder(data, order, valueOf);
  const tokens = (count: number) => (
    <span title={formats.count(count)}>
      {count < 10_000_000 ? formats.count(count) : formats.short(count)}
    </span>
  );
  const head = (column: SumsColumn, label: string, className?: string) =>
    onOrder === undefined ? (
      <th scope="col" className={className}>
        {label}
      </th>
    ) : (
      <SortHead
        column={column}
        label={label}
        className={className}
        order={order}
        onOrder={onOrder}
      />
    );
  const allInput = inputOf(sums);
  const places = placesOf([...data, sums].map(({ cost }) => cost));
  return (
    <div className="scroll" tabIndex={0} role="group" aria-label={say('explore.table')}>
      <table className="table">
        <thead>
          <tr>
            {head('name', say(`explore.dimensions.${dimension}`))}
            {second !== undefined && <th scope="col">{say(`explore.dimensions.${second}`)}</th>}
            {head('requests', say('explore.metrics.requests'), 'number')}
            {head('failed', say('explore.metrics.failed'), 'number')}
            {!isShort && (
              <>
                {head('input', say('explore.metrics.input'), 'number less')}
                <th scope="col" className="number less">
                  {say('explore.cached')}
                </th>
                {head('output', say('explore.metrics.output'), 'number less')}
              </>
            )}
            {before !== undefined && (
              <th scope="col" className="number less">
                {say('explore.change')}
              </th>
            )}
            {head('cost', say('explore.metrics.cost'), 'number')}
          </tr>
        </thead>
        <tbody
          onClick={(event) => {
            const found = filterOfClick(event);
            if (found === null) return;
            event.preventDefault();
            onFilter?.(found.word, found.isExcluded);
          }}
        >
          {rows.map(({ name, second: part = null, ...sum }) => {
            const input = inputOf(sum);
            const rank = names.indexOf(name);
            const search = requestsOf(
              [
                { dimension, name },
                ...(second === undefined ? [] : [{ dimension: second, name: part }]),
              ],
              sums,
              filter,
            );
            const text = groupName(dimension, name, others[0] ?? 0, say);
            const failed = sum.failed - sum.refused;
            const wordOf = (of: Dimension, value: string | null) =>
              onFilter === undefined || value === null || value === ''
                ? null
                : filterWord(of, value);
            return (
              <tr key={`${name ?? '\0'}\n${part ?? '\0'}`}>
                <td className={styles['name']} {...filtersBy(wordOf(dimension, name))}>
                  <span className="line">
                    {colored > 0 && (
                      <Swatch
                        color={name === null || rank >= colored ? '--c9' : `--c${rank + 1}`}
                      />
                    )}
                    {search === null ? (
                      <span className="quiet">{text}</span>
                    ) : (
                      <Link className="link cut" to="/requests" search={search}>
                        {text}
                      </Link>
                    )}
                  </span>
                </td>
                {second !== undefined && (
                  <td className={styles['name']} {...filtersBy(wordOf(second, part))}>
                    <span className="cut">
                      {search === null ? (
                        groupName(second, part, others[1] ?? 0, say)
                      ) : (
                        <Link to="/requests" search={search}>
                          {groupName(second, part, others[1] ?? 0, say)}
                        </Link>
                      )}
                    </span>
                  </td>
                )}
                <td className="number">{formats.count(sum.requests)}</td>
                <td className="number">
                  {failed === 0 ? (
                    <span className="quiet">0</span>
                  ) : search === null ? (
                    <span className="failed">{formats.count(failed)}</span>
                  ) : (
                    <Link
                      className="failed"
                      to="/requests"
                      search={{ ...search, filter: `${search.filter} outcome:failed` }}
                    >
                      {formats.count(failed)}
                    </Link>
                  )}
                </td>
                {!isShort && (
                  <>
                    <td className="number less">{tokens(input)}</td>
                    <td className="number less">
                      {input === 0 ? (
                        <span className="quiet">–</span>
                      ) : (
                        <Percent of={sum.tokens.cache_read / input} />
                      )}
                    </td>
                    <td className="number less">{tokens(sum.tokens.output)}</td>
                  </>
                )}
                {before !== undefined && (
                  <td className="number second less">
                    {formats.change(Number(sum.cost), Number(before.get(name)?.cost ?? 0))}
                  </td>
                )}
                <td className="number">
                  <Money amount={sum.cost} width={places} />
                </td>
              </tr>
            );
          })}
        </tbody>
        {onOrder !== undefined && (
          <tfoot>
            <tr>
              <th scope="row">{say('explore.total')}</th>
              {second !== undefined && <td />}
              <td className="number">{formats.count(sums.requests)}</td>
              <td className="number">{formats.count(sums.failed - sums.refused)}</td>
              <td className="number less">{tokens(allInput)}</td>
              <td className="number less">
                {allInput === 0 ? '–' : <Percent of={sums.tokens.cache_read / allInput} />}
              </td>
              <td className="number less">{tokens(sums.tokens.output)}</td>
              <td className="number">
                <Money amount={sums.cost} width={places} />
              </td>
            </tr>
          </tfoot>
        )}
      </table>
    </div>
  );
}
