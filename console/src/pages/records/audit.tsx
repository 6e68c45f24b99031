import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { FormEvent } from 'react';
import { read, searchText, type Query, type Result } from '../../api/client.ts';
import { useSpan } from '../../app/range.ts';
import { useFormats } from '../../format/numbers.ts';
import { Icon } from '../../pieces/icon.tsx';
import { NameLink } from '../../pieces/name-link.tsx';
import { ErrorState, Skeleton } from '../../pieces/states.tsx';
import { Table } from '../../pieces/table.tsx';
import { useKeys } from '../../pieces/use-keys.ts';
import { useWords, type Say, type TextName } from '../../words/index.ts';
import { en } from '../../words/en.ts';
import styles from './page.module.css';
import { actorKinds, type RecordsSearch } from './search.ts';

type Line = Result<'listAudit'>['data'][number];
type Change = Line['changes'][number];

const kinds = Object.keys(en.records.kinds) as (keyof typeof en.records.kinds)[];

/** Who changed what, before and after, newest first. */
export function Audit() {
  const say = useWords();
  const navigate = useNavigate();
  const search = useSearch({ from: '/inside/records' });
  const { actor, by, action, object } = search;
  const span = useSpan(search);
  const filter = {
    from: span.from,
    ...(span.to !== undefined && { to: span.to }),
    ...(actor !== undefined && { actor }),
    ...(by !== undefined && { actor_kind: by }),
    ...(action !== undefined && { action }),
    ...(object !== undefined && { object }),
  };
  const list = useInfiniteQuery({
    queryKey: ['audit', filter],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) => {
      const query: Query<'listAudit'> = {
        ...filter,
        ...(pageParam !== undefined && { cursor: pageParam }),
      };
      return read<'listAudit'>('/audit', query, signal);
    },
    getNextPageParam: ({ next }) => next ?? undefined,
    placeholderData: (previous) => previous,
  });
  const lines = list.data?.pages.flatMap(({ data }) => data) ?? [];
  useKeys({ '/': () => document.getElementById('audit-actor')?.focus() });

  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const given = (name: string) => {
      const value = form.get(name);
      return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
    };
    const next = { ...search, actor: given('actor'), object: given('object') };
    void navigate({
      to: '/records',
      search: { ...next, action: given('action') } as RecordsSearch,
    });
  }

  return (
    <>
      <form
        className={styles['tools']}
        role="search"
        onSubmit={submit}
        // What the address says stands in the fields.
        key={[actor, action, object].join('\n')}
      >
        <label className="field">
          {say('records.actor')}
          <input
            className="input"
            id="audit-actor"
            name="actor"
            defaultValue={actor}
            maxLength={400}
          />
        </label>
        <label className="field">
          {say('records.what')}
          <select
            className="input"
            name="action"
            defaultValue={action ?? ''}
            onChange={({ currentTarget }) => currentTarget.form?.requestSubmit()}
          >
            <option value="">{say('records.everything')}</option>
            {kinds.map((kind) => (
              <option key={kind} value={kind}>
                {say(`records.kinds.${kind}`)}
              </option>
            ))}
            {action?.includes('.') === true && (
              <option value={action}>{actionText(action, say)}</option>
            )}
          </select>
        </label>
        <label className="field">
          {say('records.object')}
          <input className="input" name="object" defaultValue={object} maxLength={400} />
        </label>
        <button type="submit" className="button">
          {say('records.filter')}
        </button>
        <nav className="segments" aria-label={say('records.by')}>
          {[undefined, ...actorKinds].map((kind) => (
            <Link
              key={kind ?? ''}
              to="/records"
              search={{ ...search, by: kind } as RecordsSearch}
              activeOptions={{ exact: true }}
              aria-current={kind === by ? 'true' : undefined}
            >
              {say(kind === undefined ? 'records.all' : `records.actors.${kind}`)}
            </Link>
          ))}
        </nav>
        <span className={styles['files']}>
          {(['csv', 'jsonl'] as const).map((format) => (
            <a
              key={format}
              className="button"
              href={`/admin/v1/audit/export?${searchText({ ...filter, format })}`}
              download
            >
              <Icon name="down" />
              {format === 'csv' ? 'CSV' : 'JSON'}
              <span className="hidden"> {say('records.export')}</span>
            </a>
          ))}
        </span>
      </form>
      {list.isError && <ErrorState error={list.error} onRetry={() => void list.refetch()} />}
      {list.isPending && <Skeleton rows={10} />}
      {list.isSuccess && lines.length === 0 && <p className="state">{say('records.nothing')}</p>}
      {lines.length > 0 && (
        <div className={list.isPlaceholderData ? 'stale' : undefined}>
          <AuditTable lines={lines} search={search} />
          <p className={styles['end']}>
            {list.hasNextPage && (
              <button
                type="button"
                className="button"
                disabled={list.isFetchingNextPage}
                onClick={() => void list.fetchNextPage()}
              >
                {say('records.older')}
              </button>
            )}
            <span className="quiet">{say('records.secrets')}</span>
          </p>
        </div>
      )}
    </>
  );
}

function AuditTable({
  lines,
  search,
}: {
  readonly lines: readonly Line[];
  readonly search: RecordsSearch;
}) {
  const say = useWords();
  const formats = useFormats();
  return (
    <Table
      label={say('records.changes')}
      className={styles['audit']}
      heads={[
        say('records.time'),
        say('records.actor'),
        say('records.what'),
        say('records.object'),
        say('records.beforeAfter'),
        [say('records.address'), 'less'],
      ]}
    >
      {lines.map(({ id, time, actor, action, object, changes, reason }) => (
        <tr key={id}>
          <td title={formats.fullTime(time)}>{formats.time(time)}</td>
          <td className={styles['name']}>
            <Link
              className="link"
              to="/records"
              search={{ ...search, actor: actor.name }}
              title={say('records.onlyActor')}
            >
              <Author actor={actor} />
            </Link>
            {actor.user !== null && <code className="quiet"> {actor.user}</code>}
          </td>
          <td>
            <Link to="/records" search={{ ...search, action }} title={say('records.onlyAction')}>
              {actionText(action, say)}
            </Link>
          </td>
          <td className={styles['name']}>
            <NameLink kind={object.kind} name={object.name}>
              <Link className="link" to="/records" search={{ ...search, object: object.name }}>
                {object.name}
              </Link>
            </NameLink>
          </td>
          <td className={styles['changes']}>
            <Changes changes={changes} reason={reason} />
          </td>
          <td className="less second">{actor.address}</td>
        </tr>
      ))}
    </Table>
  );
}

function Author({ actor: { kind, name } }: Pick<Line, 'actor'>) {
  const say = useWords();
  if (kind === 'system') return say('records.actors.system');
  return kind === 'person' ? name : <code>{name}</code>;
}

/** So many stand in a row without making it a page. */
const mostShown = 3;

/** The audit line: each field, before → after. */
function Changes({ changes, reason }: Pick<Line, 'changes' | 'reason'>) {
  const say = useWords();
  // A new object has many members that nobody has set.
  const shown = changes.filter(({ before, after }) => before != null || after != null);
  const [first, rest] = [shown.slice(0, mostShown), shown.slice(mostShown)];
  return (
    <>
      <ChangeList changes={first} />
      {rest.length > 0 && (
        <details>
          <summary className="link">{say('records.more', { count: rest.length })}</summary>
          <ChangeList changes={rest} />
        </details>
      )}
      {reason !== null && (
        <p>
          <span className="quiet">{say('records.reason')}</span> <q>{reason}</q>
        </p>
      )}
    </>
  );
}

function ChangeList({ changes }: { readonly changes: readonly Change[] }) {
  return (
    <dl className={styles['change']}>
      {changes.map(({ field, before, after }) => (
        <div key={field}>
          <dt>
            <code>{field}</code>
          </dt>
          <dd>
            {before != null && (
              <>
                <del>
                  <code>{valueText(before)}</code>
                </del>{' '}
                <span className="quiet">→</span>{' '}
              </>
            )}
            <ins>
              <code>{after == null ? '–' : valueText(after)}</code>
            </ins>
          </dd>
        </div>
      ))}
    </dl>
  );
}

const valueText = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value);

/** `key.rotate` in words. What a newer gateway does keeps its own name. */
function actionText(action: string, say: Say): string {
  const [kind = '', verb = ''] = action.split('.');
  const { kinds: knownKinds, verbs } = en.records;
  if (!Object.hasOwn(verbs, verb) || !Object.hasOwn(knownKinds, kind)) return action;
  const word = action === 'session.create' ? 'begin' : verb;
  return say('records.action', {
    kind: say(`records.kinds.${kind}` as TextName),
    verb: say(`records.verbs.${word}` as TextName),
  });
}
