import { Link } from '@tanstack/react-router';
import { useFormats } from '../../format/numbers.ts';
import { useWords } from '../../words/index.ts';
import { Swatch } from '../chart/stacked-bars.tsx';
import { Money } from '../money.tsx';
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
}

const costPlaces = 7;

/** Sums by name; each opens the requests that it counts. */
export function SumsTable({
  sums,
  dimension,
  second,
  filter = '',
  colored = 0,
  before,
  isShort = false,
}: Props) {
  const say = useWords();
  const formats = useFormats();
  const { data, others } = sums;
  const names = [...new Set(data.map(({ name }) => name))];
  return (
    <div className={styles['scroll']} tabIndex={0} role="group" aria-label={say('explore.table')}>
      <table className="table">
        <thead>
          <tr>
            <th scope="col">{say(`explore.dimensions.${dimension}`)}</th>
            {second !== undefined && <th scope="col">{say(`explore.dimensions.${second}`)}</th>}
            <th scope="col" className="number">
              {say('explore.metrics.requests')}
            </th>
            <th scope="col" className="number">
              {say('explore.metrics.failed')}
            </th>
            {!isShort && (
              <>
                <th scope="col" className="number less">
                  {say('explore.metrics.input')}
                </th>
                <th scope="col" className="number less">
                  {say('explore.cached')}
                </th>
                <th scope="col" className="number less">
                  {say('explore.metrics.output')}
                </th>
              </>
            )}
            {before !== undefined && (
              <th scope="col" className="number less">
                {say('explore.change')}
              </th>
            )}
            <th scope="col" className="number">
              {say('explore.metrics.cost')}
            </th>
          </tr>
        </thead>
        <tbody>
          {data.map(({ name, second: part = null, ...sum }) => {
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
            return (
              <tr key={`${name ?? '\0'}\n${part ?? '\0'}`}>
                <td className={styles['name']}>
                  {colored > 0 && (
                    <Swatch color={name === null || rank >= colored ? '--c9' : `--c${rank + 1}`} />
                  )}
                  {search === null ? (
                    <span className="quiet">{text}</span>
                  ) : (
                    <Link className="link" to="/requests" search={search}>
                      {text}
                    </Link>
                  )}
                </td>
                {second !== undefined && (
                  <td className={styles['name']}>{groupName(second, part, others[1] ?? 0, say)}</td>
                )}
                <td className="number">{formats.count(sum.requests)}</td>
                <td className="number">
                  {failed === 0 ? (
                    <span className="quiet">0</span>
                  ) : search === null ? (
                    formats.count(failed)
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
                    <td className="number less">{formats.count(input)}</td>
                    <td className="number less">
                      {input === 0 ? (
                        <span className="quiet">–</span>
                      ) : (
                        `${formats.percent(sum.tokens.cache_read / input)} %`
                      )}
                    </td>
                    <td className="number less">{formats.count(sum.tokens.output)}</td>
                  </>
                )}
                {before !== undefined && (
                  <td className="number second less">
                    {formats.change(Number(sum.cost), Number(before.get(name)?.cost ?? 0))}
                  </td>
                )}
                <td className="number">
                  <Money amount={sum.cost} width={costPlaces} />
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
