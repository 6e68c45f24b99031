import type { ReactNode } from 'react';
import type { Result } from '../api/client.ts';
import { useFormats } from '../format/numbers.ts';
import { useWords } from '../words/index.ts';
import { Money } from './money.tsx';
import { Table } from './table.tsx';

type Entry = Omit<Result<'listEntries'>['data'][number], 'balance'>;

const kinds = ['opening', 'top-up', 'correction', 'usage'] as const;

/** Places of the amounts: credits are round, and usage is small. */
export const entryPlaces = 6;

interface Column<Shown> {
  readonly title: string;
  readonly cell: (entry: Shown) => ReactNode;
}

interface Props<Shown> {
  readonly label: string;
  readonly entries: readonly Shown[];
  /** Before who made it and why. */
  readonly column?: Column<Shown>;
  /** What stands for the reason where there is none. */
  readonly why?: (entry: Shown) => ReactNode;
  /** Behind the amount. */
  readonly after?: Column<Shown>;
}

/** Entries of the books. */
export function EntryTable<Shown extends Entry>({
  label,
  entries,
  column,
  why,
  after,
}: Props<Shown>) {
  const say = useWords();
  const formats = useFormats();
  return (
    <Table
      className="stacks wraps"
      label={label}
      heads={[
        say('people.entries.time'),
        say('people.entries.what'),
        column?.title ?? false,
        say('people.entries.reason'),
        [say('people.entries.amount'), 'number'],
        after !== undefined && [after.title, 'number'],
      ]}
    >
      {entries.map((entry) => {
        const known = kinds.find((each) => each === entry.kind);
        return (
          // A transaction has an entry for each account.
          <tr key={`${entry.id} ${'account' in entry ? JSON.stringify(entry.account) : ''}`}>
            <td title={formats.fullTime(entry.time)}>{formats.time(entry.time)}</td>
            <td>{known === undefined ? entry.kind : say(`people.entries.kinds.${known}`)}</td>
            {column !== undefined && <td className="wrapping">{column.cell(entry)}</td>}
            <td className="wrapping long">
              {entry.reason ?? why?.(entry)}
              {/* Of an opening balance it is the owner of the settings, nobody's name. */}
              {entry.actor !== null && entry.kind !== 'opening' && (
                <span className="quiet"> {say('people.entries.by', { name: entry.actor })}</span>
              )}
            </td>
            <td className="number">
              <Money amount={entry.amount} width={entryPlaces} />
            </td>
            {after !== undefined && <td className="number">{after.cell(entry)}</td>}
          </tr>
        );
      })}
    </Table>
  );
}
