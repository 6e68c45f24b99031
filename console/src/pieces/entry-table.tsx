import type { ReactNode } from 'react';
import type { Result } from '../api/client.ts';
import { placesOf } from '../format/money.ts';
import { useFormats } from '../format/numbers.ts';
import { useWords } from '../words/index.ts';
import { Money } from './money.tsx';
import { Table } from './table.tsx';

type Entry = Omit<Result<'listEntries'>['data'][number], 'balance'> & {
  readonly balance?: string | null;
};

const kinds = ['opening', 'top-up', 'correction', 'usage'] as const;

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
  /** Whether the balance behind each entry is shown. */
  readonly withBalance?: boolean;
}

/** Entries of the books. */
export function EntryTable<Shown extends Entry>({
  label,
  entries,
  column,
  why,
  withBalance = false,
}: Props<Shown>) {
  const say = useWords();
  const formats = useFormats();
  const places = placesOf(entries.map(({ amount }) => amount));
  const balancePlaces = placesOf(entries.map(({ balance }) => balance));
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
        withBalance && [say('people.entries.after'), 'number'],
      ]}
    >
      {entries.map((entry) => {
        const known = kinds.find((each) => each === entry.kind);
        return (
          // A transaction has an entry for each account.
          <tr key={`${entry.id} ${'account' in entry ? JSON.stringify(entry.account) : ''}`}>
            <td title={formats.fullTime(entry.time)}>{formats.time(entry.time)}</td>
            <td>{known === undefined ? entry.kind : say(`people.entries.kinds.${known}`)}</td>
            {column !== undefined && <td>{column.cell(entry)}</td>}
            <td className="wrapping long">
              {entry.reason ?? why?.(entry)}
              {/* Of an opening balance it is the owner of the settings, nobody's name. */}
              {entry.actor !== null && entry.kind !== 'opening' && (
                <span className="quiet"> {say('people.entries.by', { name: entry.actor })}</span>
              )}
            </td>
            <td className="number">
              <Money amount={entry.amount} width={places} />
            </td>
            {withBalance && (
              <td className="number" data-label={say('people.entries.after')}>
                {entry.balance != null && <Money amount={entry.balance} width={balancePlaces} />}
              </td>
            )}
          </tr>
        );
      })}
    </Table>
  );
}
