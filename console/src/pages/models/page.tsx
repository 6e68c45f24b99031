import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { useSession } from '../../app/session.ts';
import { ErrorState, Skeleton } from '../../pieces/states.tsx';
import { inOrder, nextOrder } from '../../pieces/order.ts';
import { Tabs } from '../../pieces/tabs.tsx';
import { useKeys } from '../../pieces/use-keys.ts';
import { useRowFocus } from '../../pieces/use-row-focus.ts';
import { SearchField } from '../../pieces/search-field.tsx';
import { useWords } from '../../words/index.ts';
import styles from './page.module.css';
import { kinds, type ModelKind } from './kinds.ts';
import { isHighFirst, valueOf } from './order.ts';
import { AddModel } from './change-model.tsx';
import { Aliases } from './aliases.tsx';
import { Groups } from './groups.tsx';
import { catalogueQuery, modelsQuery, type Model } from './query.ts';
import type { Column, ModelsSearch } from './search.ts';
import { ChatTable, OtherTable } from './tables.tsx';

const isOf = (model: Model, kind: ModelKind) =>
  kind === 'unpriced' ? !model.priced : model.type === kind;

/** The models that the person may use; for those who may see the whole catalogue, aliases and groups beside them. */
export function ModelsPage() {
  const say = useWords();
  const { permissions } = useSession();
  const navigate = useNavigate();
  const { tab } = useSearch({ from: '/inside/models' });
  const [isAdding, setAdding] = useState(false);
  const title = <h1>{say('models.title')}</h1>;
  if (!permissions.includes('models.read')) {
    return (
      <>
        <header className="top">{title}</header>
        <ModelList />
      </>
    );
  }
  return (
    <>
      <header className="top">
        {title}
        {permissions.includes('models.write') && (
          <button type="button" className="button main" onClick={() => setAdding(true)}>
            {say('models.add')}
          </button>
        )}
      </header>
      {isAdding && (
        <AddModel
          onClose={() => setAdding(false)}
          onAdded={(id) => void navigate({ to: '/models/$id', params: { id } })}
        />
      )}
      <div className={styles['tabbed']}>
        <Tabs
          label={say('models.title')}
          tabs={(['catalogue', 'aliases', 'groups'] as const).map((name) => ({
            name,
            title: say(`models.tabs.${name}`),
          }))}
          open={tab ?? 'catalogue'}
          onOpen={(name) =>
            void navigate({
              to: '/models',
              replace: true,
              search: name === 'catalogue' ? {} : { tab: name },
            })
          }
        >
          {tab === undefined && <ModelList />}
          {tab === 'aliases' && <Aliases />}
          {tab === 'groups' && <Groups />}
        </Tabs>
      </div>
    </>
  );
}

function ModelList() {
  const say = useWords();
  const { permissions } = useSession();
  const navigate = useNavigate();
  const { q = '', kind, sort, all: isWhole } = useSearch({ from: '/inside/models' });
  const list = useQuery(isWhole === true ? catalogueQuery : modelsQuery);
  const field = useRef<HTMLInputElement>(null);
  useKeys({ '/': () => field.current?.focus() });
  const tables = useRef<HTMLDivElement>(null);
  useRowFocus(tables);

  const all = list.data?.data ?? [];
  const shown = all.filter(
    (model) => (kind === undefined || isOf(model, kind)) && matches(model, q),
  );
  const search = (next: { [Name in keyof ModelsSearch]: ModelsSearch[Name] | undefined }) => {
    const {
      q: text,
      kind: chosen,
      sort: order,
      all: whole,
    } = { q, kind, sort, all: isWhole, ...next };
    void navigate({
      to: '/models',
      replace: true,
      search: {
        ...(text !== undefined && text !== '' && { q: text }),
        ...(chosen !== undefined && { kind: chosen }),
        ...(order !== undefined && { sort: order }),
        ...(whole === true && { all: whole }),
      },
    });
  };
  const chats = inOrder(
    shown.filter(({ type }) => type === 'chat'),
    sort,
    valueOf,
  );
  const others = shown.filter(({ type }) => type !== 'chat');
  const orderBy = (column: Column) =>
    search({ sort: nextOrder(column, sort, isHighFirst(column)) });

  return (
    <>
      <div className={styles['filter']}>
        <SearchField
          id="model-search"
          label={say('models.search')}
          hint={say('models.searchHint')}
          value={q}
          onChange={(text) => search({ q: text })}
          field={field}
        />
        <div className={styles['kinds']} role="group" aria-label={say('models.type')}>
          {[undefined, ...kinds].map((each) => {
            const count = each === undefined ? all.length : all.filter((m) => isOf(m, each)).length;
            if (count === 0 && each !== kind) return null;
            return (
              <button
                key={each ?? 'all'}
                type="button"
                className="button"
                aria-pressed={each === kind}
                onClick={() => search({ kind: each })}
              >
                {say(`models.kinds.${each ?? 'all'}`)} <span className="quiet">{count}</span>
              </button>
            );
          })}
        </div>
        {permissions.includes('models.read') && (
          <label className={styles['whole']}>
            <input
              type="checkbox"
              checked={isWhole === true}
              onChange={({ target }) => search({ all: target.checked ? true : undefined })}
            />
            {say('models.whole')}
          </label>
        )}
      </div>
      <div className="body" ref={tables}>
        {list.isError && <ErrorState error={list.error} onRetry={() => void list.refetch()} />}
        {list.isPending && <Skeleton rows={8} />}
        {list.isSuccess && all.length === 0 && (
          <div className="state">
            <p className="strong">{say('models.empty')}</p>
            <p>
              {say(permissions.includes('models.read') ? 'models.emptyHint' : 'models.emptyMember')}
            </p>
          </div>
        )}
        {all.length > 0 && shown.length === 0 && (
          <p className="state">{say('models.noMatch', { text: q })}</p>
        )}
        {chats.length > 0 && <ChatTable models={chats} order={sort} onOrder={orderBy} />}
        {others.length > 0 && <OtherTable models={others} />}
        {shown.length > 0 && <p className={styles['note']}>{say('models.converted')}</p>}
      </div>
    </>
  );
}

/** Every word must be found in something that the page shows of the model. */
function matches(model: Model, line: string): boolean {
  const text = [
    model.id,
    model.display_name,
    ...model.aliases,
    ...model.protocols,
    ...model.capabilities,
  ]
    .join(' ')
    .toLowerCase();
  return line
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
