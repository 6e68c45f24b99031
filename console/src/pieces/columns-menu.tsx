import { useMemo } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import { choose, sessionQuery, useSession, type Session } from '../app/session.ts';
import { useWords } from '../words/index.ts';
import { Menu } from './menu.tsx';

type Table = 'requests' | 'keys';

/** The columns of a table that the person does not want to see. */
export function useHiddenColumns(table: Table): ReadonlySet<string> {
  const names = useSession().preferences.hidden_columns?.[table];
  return useMemo(() => new Set(names), [names]);
}

interface Props {
  readonly table: Table;
  /** Those that may be hidden, with their titles. */
  readonly columns: Readonly<Record<string, string>>;
  readonly className?: string | undefined;
}

/** Which columns a table has; kept with the account. */
export function ColumnsMenu({ table, columns, className }: Props) {
  const say = useWords();
  const client = useQueryClient();
  const session = useSession();
  const hidden = useHiddenColumns(table);
  const show = (name: string, isShown: boolean) => {
    const names = Object.keys(columns).filter((each) =>
      each === name ? !isShown : hidden.has(each),
    );
    const hidden_columns = { ...session.preferences.hidden_columns, [table]: names };
    // At once; what cannot be kept with the account holds on this page.
    const next: Session = {
      ...session,
      preferences: { ...session.preferences, hidden_columns },
    };
    client.setQueryData(sessionQuery.queryKey, next);
    void choose(client, session, { hidden_columns }).catch(ignore);
  };
  return (
    <Menu word={say('lists.columns')} className={className}>
      {Object.entries(columns).map(([name, title]) => (
        <label key={name}>
          <input
            type="checkbox"
            checked={!hidden.has(name)}
            onChange={({ target }) => show(name, target.checked)}
          />
          {title}
        </label>
      ))}
    </Menu>
  );
}

const ignore = () => undefined;
