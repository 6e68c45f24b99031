import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useRef } from 'react';
import { useSession } from '../../app/session.ts';
import { placesOf } from '../../format/money.ts';
import { useFormats } from '../../format/numbers.ts';
import { useHiddenColumns } from '../../pieces/columns-menu.tsx';
import { Icon } from '../../pieces/icon.tsx';
import { Money } from '../../pieces/money.tsx';
import { changeIn } from '../../pieces/place-in-file.ts';
import { RowMenu, type RowAction } from '../../pieces/row-menu.tsx';
import { SortHead } from '../../pieces/sort-head.tsx';
import { useRowFocus } from '../../pieces/use-row-focus.ts';
import { clientSnippet, modelFor } from '../../snippets/clients.ts';
import { useWords } from '../../words/index.ts';
import { filterWord } from '../requests/filter.ts';
import { modelsQuery } from '../models/query.ts';
import styles from './page.module.css';
import type { Key } from './page.tsx';
import type { Order, Sortable } from './search.ts';
import { modelsOf } from './secret-once.tsx';

interface Props {
  readonly keys: readonly Key[];
  /** Whether they belong to several people. */
  readonly withPeople: boolean;
  readonly order: Order | undefined;
  readonly onOrder: (column: Sortable) => void;
  readonly onShowEntry: (key: Key) => void;
  readonly onChange: (key: Key) => void;
  readonly onRotate: (key: Key) => void;
  readonly onRevoke: (key: Key) => void;
}

/** What a key is called and what can be done with it stays. */
export const hideableColumns = ['person', 'models', 'spent', 'used', 'limits', 'state'] as const;
type Column = (typeof hideableColumns)[number];

export function KeyTable(props: Props) {
  const { keys, withPeople, order, onOrder, onShowEntry, onChange, onRotate, onRevoke } = props;
  const say = useWords();
  const formats = useFormats();
  const { user, teams, permissions, gateway } = useSession();
  const hidden = useHiddenColumns('keys');
  const table = useRef<HTMLDivElement>(null);
  useRowFocus(table);
  const shows = (column: Column) => !hidden.has(column) && (column !== 'person' || withPeople);
  const models = useQuery(modelsQuery).data?.data;
  const curlOfKey = (key: Key) =>
    clientSnippet('curl', {
      url: gateway.url,
      model: modelFor('curl', modelsOf(key, models ?? [])).model,
    }).steps[0]?.text ?? '';
  const places = placesOf(keys.map(({ spent }) => spent));
  const limitsOf = ({ quota, rpm, rph, max_concurrency: atOnce }: Key) =>
    [
      quota === null ? [] : say('keys.limits.quota', { amount: formats.count(Number(quota)) }),
      rpm === null ? [] : say('keys.limits.rpm', { count: formats.count(rpm) }),
      rph === null ? [] : say('keys.limits.rph', { count: formats.count(rph) }),
      atOnce === null ? [] : say('keys.limits.atOnce', { count: formats.count(atOnce) }),
    ]
      .flat()
      .join(', ');
  const owned = teams.filter(({ role }) => role === 'owner').map(({ name }) => name);
  const mayChange = (key: Key) =>
    key.user === user.email ||
    (key.team !== null && owned.includes(key.team)) ||
    permissions.includes('keys.write');
  const actionsOf = (key: Key): RowAction[] => {
    const isLive = key.revoked_at === null;
    const may = isLive && mayChange(key);
    const action = (word: 'change' | 'rotate' | 'revoke', act: (key: Key) => void) => ({
      word: say(`keys.${word}`),
      act: () => act(key),
    });
    return [
      ...(may && key.editable ? [action('change', onChange)] : []),
      ...(may && key.rotatable ? [action('rotate', onRotate)] : []),
      ...(isLive && models !== undefined
        ? [
            {
              word: say('lists.copyCurl'),
              done: say('states.copied'),
              act: () => navigator.clipboard.writeText(curlOfKey(key)),
            },
          ]
        : []),
      ...(key.editable ? [] : [{ word: say('keys.showEntry'), act: () => onShowEntry(key) }]),
      ...(may ? [action('revoke', onRevoke)] : []),
    ];
  };
  const head = (column: Sortable, className?: string) => (
    <SortHead
      column={column}
      label={say(`keys.columns.${column}`)}
      className={className}
      order={order}
      onOrder={onOrder}
    />
  );
  return (
    <div ref={table} className="scroll" tabIndex={0} role="region" aria-label={say('keys.title')}>
      <table className={`table pinned stacks ${styles['table']}`}>
        <thead>
          <tr>
            {head('key')}
            {shows('person') && head('person')}
            {shows('models') && (
              <th scope="col" data-column="models">
                {say('keys.columns.models')}
              </th>
            )}
            {shows('spent') && head('spent', 'number')}
            {shows('used') && head('used')}
            {shows('limits') && <th scope="col">{say('keys.columns.limits')}</th>}
            {shows('state') && <th scope="col">{say('keys.columns.state')}</th>}
            <th scope="col" data-column="actions">
              <span className="hidden">{say('keys.columns.actions')}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {keys.map((key) => (
            <tr key={key.id}>
              <td data-column="key">
                <span className="line">
                  <Link
                    className="link strong cut"
                    to="/requests"
                    search={{ filter: filterWord('key', key.name) }}
                  >
                    {key.name}
                  </Link>
                  {!key.editable && (
                    <button
                      type="button"
                      className={styles['badge']}
                      title={changeIn(key, say)}
                      aria-label={`${say('keys.file')}: ${key.name}, ${changeIn(key, say)}`}
                      onClick={() => onShowEntry(key)}
                    >
                      {say('keys.file')}
                    </button>
                  )}
                  <code className={`quiet ${styles['prefix']}`}>{key.prefix}</code>
                </span>
              </td>
              {shows('person') && (
                <td data-column="person" title={[key.user, key.team].join(' ').trim()}>
                  <span className="cut">
                    <Link to="/requests" search={{ filter: filterWord('user', key.user) }}>
                      {key.user}
                    </Link>
                    {key.team !== null && (
                      <>
                        {' '}
                        <Link
                          className="quiet"
                          to="/requests"
                          search={{ filter: filterWord('team', key.team) }}
                        >
                          {key.team}
                        </Link>
                      </>
                    )}
                  </span>
                </td>
              )}
              {shows('models') && (
                <td className="second" data-column="models" title={key.models.join(', ')}>
                  <span className="cut">
                    {key.models.length === 0
                      ? say('keys.allModels')
                      : key.models.map((id, at) => (
                          <span key={id}>
                            {at > 0 && ', '}
                            <Link to="/models/$id" params={{ id }}>
                              {id}
                            </Link>
                          </span>
                        ))}
                  </span>
                </td>
              )}
              {shows('spent') && (
                <td className="number" data-column="spent" data-label={say('keys.columns.spent')}>
                  <Money amount={key.spent} width={places} />
                  {key.quota !== null && <Spent of={key.spent} quota={key.quota} />}
                </td>
              )}
              {shows('used') && (
                <td className="second" data-column="used">
                  <LastUse of={key} />
                </td>
              )}
              {shows('limits') && (
                <td className="second" data-column="limits" title={limitsOf(key)}>
                  <span className="cut">
                    {limitsOf(key) || <span className="quiet">{say('keys.limits.none')}</span>}
                  </span>
                </td>
              )}
              {shows('state') && (
                <td data-column="state">
                  <State of={key} />
                </td>
              )}
              <td data-column="actions">
                <RowMenu
                  label={say('keys.actionsOf', { name: key.name })}
                  actions={actionsOf(key)}
                />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** How much of its quota a key has spent. */
function Spent({ of: spent, quota }: { readonly of: string; readonly quota: string }) {
  const say = useWords();
  const formats = useFormats();
  const share = Number(quota) === 0 ? 1 : Math.min(1, Number(spent) / Number(quota));
  const words = say('keys.ofQuota', { percent: formats.percent(share), quota });
  return (
    <div className={styles['spent']}>
      <meter className="meter" min={0} max={1} value={share} title={words} aria-label={words} />
    </div>
  );
}

function LastUse({ of: key }: { readonly of: Key }) {
  const say = useWords();
  const formats = useFormats();
  if (key.last_used_at === null) return <span className="quiet">{say('keys.never')}</span>;
  return (
    <span title={formats.fullTime(key.last_used_at)}>
      {formats.time(key.last_used_at)}
      {key.last_used_client !== null && (
        <span className="quiet least"> {key.last_used_client}</span>
      )}
    </span>
  );
}

/** A shape and a word, unless all is well. */
function State({ of: key }: { readonly of: Key }) {
  const say = useWords();
  const formats = useFormats();
  if (key.revoked_at !== null) {
    return (
      <span className="outcome neutral" title={formats.fullTime(key.revoked_at)}>
        <Icon name="cross" size={12} />
        {say('keys.states.revoked', { day: formats.day(key.revoked_at) })}
      </span>
    );
  }
  const warning = !key.enabled
    ? 'disabled'
    : key.prefix === ''
      ? 'noSecret'
      : key.expires_at !== null && Date.parse(key.expires_at) <= Date.now()
        ? 'expired'
        : key.quota !== null && Number(key.spent) >= Number(key.quota)
          ? 'exhausted'
          : null;
  if (warning !== null) {
    return (
      <span className="outcome warned">
        <Icon name="warning" size={12} />
        {say(`keys.states.${warning}`)}
      </span>
    );
  }
  return (
    <span className="outcome fine">
      <Icon name="tick" size={12} />
      {key.previous_valid_until === null
        ? say('keys.states.active')
        : say('keys.states.oldUntil', { time: formats.time(key.previous_valid_until) })}
      {key.expires_at !== null && (
        <span className="quiet" title={formats.fullTime(key.expires_at)}>
          {say('keys.states.until', { day: formats.day(key.expires_at) })}
        </span>
      )}
    </span>
  );
}
