import { useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useRef, useState } from 'react';
import { read, type Result } from '../../api/client.ts';
import { useSession } from '../../app/session.ts';
import { ColumnsMenu } from '../../pieces/columns-menu.tsx';
import { inOrder, nextOrder } from '../../pieces/order.ts';
import { PagedList } from '../../pieces/paged-list.tsx';
import { useKeys } from '../../pieces/use-keys.ts';
import { usePagedList } from '../../pieces/use-paged-list.ts';
import { useSettled } from '../../pieces/use-settled.ts';
import { SearchField } from '../../pieces/search-field.tsx';
import { useWords } from '../../words/index.ts';
import { EntryInFile } from './entry-in-file.tsx';
import { RevokeKey } from './revoke-key.tsx';
import { isHighFirst, valueOf } from './order.ts';
import { RotateKey } from './rotate-key.tsx';
import type { KeysSearch } from './search.ts';
import styles from './page.module.css';
import { SecretOnce } from './secret-once.tsx';
import { hideableColumns, KeyTable } from './table.tsx';

export type Key = Result<'listKeys'>['data'][number];
export type IssuedKey = Result<'createKey'>;

/** The forms, with their fields for names, load when one opens. */
const NewKey = lazy(async () => ({ default: (await import('./new-key.tsx')).NewKey }));
const ChangeKey = lazy(async () => ({ default: (await import('./change-key.tsx')).ChangeKey }));

type Open =
  | { readonly kind: 'entry' | 'change' | 'rotate' | 'revoke'; readonly key: Key }
  /** The only place that holds a secret: it is forgotten with the dialog. */
  | { readonly kind: 'secret'; readonly issued: IssuedKey };

/** Keys: what they may and have spent. They are made, replaced and ended here. */
export function KeysPage() {
  const say = useWords();
  const client = useQueryClient();
  const { teams, permissions } = useSession();
  const [open, setOpen] = useState<Open | null>(null);
  const { make: isMaking = false, q = '', user, sort } = useSearch({ from: '/inside/keys' });
  const navigate = useNavigate();
  const searched = useSettled(q.trim());
  const { list, items } = usePagedList({
    queryKey: ['keys', searched, user],
    readPage: (cursor, signal) =>
      read<'listKeys'>(
        '/keys',
        {
          ...(searched !== '' && { q: searched }),
          ...(user !== undefined && { user }),
          ...(cursor !== undefined && { cursor }),
        },
        signal,
      ),
    isOrdered: sort !== undefined,
  });
  const keys = inOrder(items, sort, valueOf);
  const canSeeAll = permissions.includes('keys.read') || teams.some(({ role }) => role === 'owner');

  const go = (next: KeysSearch, replace: boolean) =>
    void navigate({ to: '/keys', search: next, replace });
  const ordered = {
    ...(sort !== undefined && { sort }),
    ...(user !== undefined && { user }),
  };
  const kept = { ...ordered, ...(q !== '' && { q }) };
  const make = (is: boolean) => go(is ? { ...kept, make: true } : kept, !is);

  // A form that was closed with Esc has something in it.
  const [hasDraft, setDraft] = useState(false);
  const endMaking = (keeps: boolean) => {
    setDraft(keeps);
    make(false);
  };

  const close = () => setOpen(null);
  const changed = () => void client.invalidateQueries({ queryKey: ['keys'] });
  const issue = (issued: IssuedKey) => {
    changed();
    setOpen({ kind: 'secret', issued });
  };
  const field = useRef<HTMLInputElement>(null);
  useKeys({ n: () => make(true), '/': () => field.current?.focus() });

  return (
    <>
      <header className="top">
        <h1>{say('keys.title')}</h1>
        <button type="button" className="button main" onClick={() => make(true)}>
          {say('keys.new')}
        </button>
      </header>
      <div className={styles['tools']}>
        <SearchField
          id="key-search"
          label={say('keys.search')}
          hint={say('keys.searchHint')}
          value={q}
          onChange={(text) => go({ ...ordered, ...(text !== '' && { q: text }) }, true)}
          field={field}
        />
        <ColumnsMenu
          table="keys"
          className={styles['columns']}
          columns={Object.fromEntries(
            hideableColumns
              .filter((name) => name !== 'person' || canSeeAll)
              .map((name) => [name, say(`keys.columns.${name}`)]),
          )}
        />
      </div>
      <div className="body">
        {user !== undefined && (
          <p>
            {say('keys.ofPerson', { user })}{' '}
            <Link className="link" to="/keys">
              {say('keys.ofAll')}
            </Link>
          </p>
        )}
        <PagedList
          list={list}
          isEmpty={keys.length === 0}
          empty={
            searched === '' && user === undefined ? (
              <>
                <p className="strong">{say('keys.empty')}</p>
                <p>{say('keys.emptyHint')}</p>
              </>
            ) : (
              say('keys.noMatch')
            )
          }
          more={say('keys.more')}
        >
          <KeyTable
            keys={keys}
            withPeople={canSeeAll}
            order={sort}
            onOrder={(column) => {
              const next = nextOrder(column, sort, isHighFirst(column));
              go(
                {
                  ...(q !== '' && { q }),
                  ...(user !== undefined && { user }),
                  ...(next !== undefined && { sort: next }),
                },
                true,
              );
            }}
            onShowEntry={(key) => setOpen({ kind: 'entry', key })}
            onChange={(key) => setOpen({ kind: 'change', key })}
            onRotate={(key) => setOpen({ kind: 'rotate', key })}
            onRevoke={(key) => setOpen({ kind: 'revoke', key })}
          />
        </PagedList>
      </div>
      <Suspense>
        {(isMaking || hasDraft) && (
          <NewKey
            isOpen={isMaking}
            onMade={(issued) => {
              endMaking(false);
              issue(issued);
            }}
            onCancel={() => endMaking(false)}
            onClose={() => endMaking(true)}
          />
        )}
        {open?.kind === 'entry' && <EntryInFile of={open.key} onClose={close} />}
        {open?.kind === 'change' && (
          <ChangeKey
            of={open.key}
            onChanged={() => {
              changed();
              close();
            }}
            onClose={close}
          />
        )}
      </Suspense>
      {open?.kind === 'rotate' && <RotateKey of={open.key} onRotated={issue} onClose={close} />}
      {open?.kind === 'revoke' && (
        <RevokeKey
          of={open.key}
          onRevoked={() => {
            changed();
            close();
          }}
          onClose={close}
        />
      )}
      {open?.kind === 'secret' && <SecretOnce issued={open.issued} onClose={close} />}
    </>
  );
}
