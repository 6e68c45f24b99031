import { clientName } from '../../format/client.ts';
import { memo, useCallback, useEffect, useRef, type RefObject } from 'react';
import { useFormats } from '../../format/numbers.ts';
import { filterOfClick, useCellWord, type OnFilter } from '../../pieces/cell-filter.tsx';
import { placesOf } from '../../format/money.ts';
import { useHiddenColumns } from '../../pieces/columns-menu.tsx';
import { Money } from '../../pieces/money.tsx';
import { Outcome } from '../../pieces/outcome.tsx';
import { useWords } from '../../words/index.ts';
import { filterWord } from './filter.ts';
import styles from './page.module.css';
import type { Row } from './page.tsx';

interface Props {
  readonly rows: readonly Row[];
  /** The request in the panel. */
  readonly open: string | undefined;
  /** The row that the keys have reached. */
  readonly focused: string | null;
  readonly isNarrow: boolean;
  readonly onOpen: (id: string) => void;
  readonly onFilter: OnFilter;
}

/** When, how, which model, how much: by that a row is recognised, so it stays. */
export const hideableColumns = ['client', 'key', 'route', 'speed', 'tokens'] as const;
type Column = (typeof hideableColumns)[number];

/** Requests, newest first. Beside a panel only the columns by which a request is recognised. */
export function RequestTable({ rows, open, focused, isNarrow, onOpen, onFilter }: Props) {
  const say = useWords();
  const hidden = useHiddenColumns('requests');
  const shows = (column: Column) => !isNarrow && !hidden.has(column);
  const places = placesOf(rows.map(({ cost }) => cost));
  const current = open ?? focused;
  const currentRow = useRef<HTMLTableRowElement>(null);
  useEffect(() => {
    // What it returns in newer browsers is nothing that React could call.
    currentRow.current?.scrollIntoView({ block: 'nearest' });
  }, [current]);
  // The same function throughout, so that a row that came before is not drawn again with each that comes.
  const latest = useRef({ onOpen, onFilter });
  useEffect(() => {
    latest.current = { onOpen, onFilter };
  });
  const openLatest = useCallback((id: string) => latest.current.onOpen(id), []);
  const filterLatest = useCallback<OnFilter>((...word) => latest.current.onFilter(...word), []);
  return (
    <div className="scroll">
      <table className={`table ${styles['table']}`}>
        <thead>
          <tr>
            <th scope="col" data-column="time">
              {say('requests.columns.time')}
            </th>
            <th scope="col" data-column="outcome">
              {say('requests.columns.outcome')}
            </th>
            {shows('client') && (
              <th scope="col" data-column="client">
                {say('requests.columns.client')}
              </th>
            )}
            {shows('key') && (
              <th scope="col" data-column="key">
                {say('requests.columns.key')}
              </th>
            )}
            <th scope="col" data-column="model">
              {say('requests.columns.model')}
            </th>
            {shows('route') && (
              <th scope="col" data-column="route">
                {say('requests.columns.route')}
              </th>
            )}
            {shows('speed') && (
              <th scope="col" data-column="speed" className="number">
                {say('requests.columns.speed')}
              </th>
            )}
            {shows('tokens') && (
              <th scope="col" data-column="tokens" className="number">
                {say('requests.columns.tokens')}
              </th>
            )}
            <th scope="col" data-column="cost" className="number">
              {say('requests.columns.cost')}
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <TableRow
              key={row.id}
              row={row}
              place={row.id === current ? currentRow : null}
              isOpen={row.id === open}
              isFocused={row.id === focused}
              isNarrow={isNarrow}
              hidden={hidden}
              places={places}
              onOpen={openLatest}
              onFilter={filterLatest}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface RowProps {
  readonly row: Row;
  /** Where the row that is in use is held. */
  readonly place: RefObject<HTMLTableRowElement | null> | null;
  readonly isOpen: boolean;
  readonly isFocused: boolean;
  readonly isNarrow: boolean;
  readonly hidden: ReadonlySet<string>;
  /** Of the column of costs. */
  readonly places: number;
  readonly onOpen: (id: string) => void;
  readonly onFilter: OnFilter;
}

/** Drawn once: with hundreds of live rows the others would be drawn again and again. */
const TableRow = memo(function TableRow({
  place,
  isOpen,
  isFocused,
  onOpen,
  onFilter,
  ...cells
}: RowProps) {
  const { id } = cells.row;
  return (
    <tr
      ref={place}
      aria-selected={isOpen}
      data-focused={isFocused}
      onClick={(event) => {
        const found = filterOfClick(event);
        // Beside a panel a click opens the next one, and the room around a value belongs to the row.
        const isOfRow = !event.altKey && (cells.isNarrow || found?.isWholeCell === true);
        if (found !== null && !isOfRow) {
          event.preventDefault();
          onFilter(found.word, found.isExcluded);
          return;
        }
        // With these keys its link opens the request's own page elsewhere, as links do.
        if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
        event.preventDefault();
        onOpen(id);
      }}
    >
      <Cells {...cells} />
    </tr>
  );
});

function Cells({
  row,
  isNarrow,
  hidden,
  places,
}: Pick<RowProps, 'row' | 'isNarrow' | 'hidden' | 'places'>) {
  const shows = (column: Column) => !isNarrow && !hidden.has(column);
  const say = useWords();
  const formats = useFormats();
  const filtersBy = useCellWord();
  const { tokens } = row;
  const input = tokens.input + tokens.cache_read + tokens.cache_write + tokens.cache_write_1h;
  return (
    <>
      <td data-column="time">
        <a
          href={`/console/requests/${row.id}`}
          aria-label={say('requests.open', { time: formats.time(row.time), id: row.id })}
          title={formats.fullTime(row.time)}
        >
          {formats.time(row.time)}
        </a>
      </td>
      <td data-column="outcome" {...filtersBy(filterWord('outcome', row.outcome))}>
        <span {...filtersBy(filterWord('outcome', row.outcome))}>
          <Outcome outcome={row.outcome} status={row.status} />
        </span>
        {row.count > 1 && (
          <span className="quiet"> {say('requests.times', { count: row.count })}</span>
        )}
      </td>
      {shows('client') && (
        <td
          className="second"
          data-column="client"
          {...filtersBy(filterWord('client', row.client))}
        >
          <span {...filtersBy(filterWord('client', row.client))}>
            {clientName(row.client, say)}
          </span>
        </td>
      )}
      {shows('key') && (
        <td data-column="key" {...filtersBy(filterWord('key', row.key))}>
          <span className="cut">
            <span {...filtersBy(filterWord('key', row.key))}>{row.key}</span>{' '}
            <span className="quiet" {...filtersBy(filterWord('user', row.user))}>
              {row.user}
            </span>
          </span>
        </td>
      )}
      <td data-column="model" {...filtersBy(filterWord('model', row.model))}>
        <span {...filtersBy(filterWord('model', row.model))}>{row.model}</span>
        {!isNarrow && row.upstream_model !== null && row.upstream_model !== row.model && (
          <span className="quiet"> → {row.upstream_model}</span>
        )}
      </td>
      {shows('route') && (
        <td
          data-column="route"
          {...filtersBy(row.channel === null ? null : filterWord('channel', row.channel))}
        >
          <Route attempts={row.attempts} />
        </td>
      )}
      {shows('speed') && (
        <td className="number" data-column="speed">
          {row.ttft_ms !== null && (
            <>
              {formats.duration(row.ttft_ms)} <span className="quiet">·</span>{' '}
            </>
          )}
          {formats.duration(row.duration_ms)}
        </td>
      )}
      {shows('tokens') && (
        <td className="number" data-column="tokens">
          {input + tokens.output > 0 && (
            <>
              <Count value={input} />
              {tokens.cache_read > 0 && (
                <span className="quiet"> ({formats.percent(tokens.cache_read / input)} %)</span>
              )}{' '}
              <span className="quiet">→</span> <Count value={tokens.output} />
            </>
          )}
        </td>
      )}
      <td className="number" data-column="cost">
        {row.cost === null ? (
          <span className="quiet">–</span>
        ) : (
          <Money amount={row.cost} width={places} />
        )}
      </td>
    </>
  );
}

/** The channels in the order in which they were asked; those that failed are struck through in their place. */
function Route({ attempts }: Pick<Row, 'attempts'>) {
  const filtersBy = useCellWord();
  return attempts.map(({ channel, result, started_at }, at) => {
    const isDone = result === 'completed';
    return (
      <span key={`${started_at} ${channel}`}>
        {at > 0 && <span className="quiet"> → </span>}
        <span {...filtersBy(filterWord(isDone ? 'channel' : 'tried', channel))}>
          {isDone ? channel : <s className="second">{channel}</s>}
        </span>
      </span>
    );
  });
}

/** Above all that a model takes: only what nobody should believe is as large. */
const unbelievable = 100_000_000;

/** A number of tokens, with its unit where it would not fit. */
function Count({ value }: { readonly value: number }) {
  const formats = useFormats();
  if (value < unbelievable) return formats.count(value);
  return <span title={formats.count(value)}>{formats.short(value)}</span>;
}
