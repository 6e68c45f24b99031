import { Link, useSearch } from '@tanstack/react-router';
import { read, searchText, type Result } from '../../api/client.ts';
import { useSpan } from '../../app/use-span.ts';
import { useFormats } from '../../format/numbers.ts';
import { Icon } from '../../pieces/icon.tsx';
import { Breakable, NameLink } from '../../pieces/name-link.tsx';
import { PagedList } from '../../pieces/paged-list.tsx';
import { Table } from '../../pieces/table.tsx';
import { useKeys } from '../../pieces/use-keys.ts';
import { usePagedList } from '../../pieces/use-paged-list.ts';
import { valueText } from '../../pieces/value-text.ts';
import { useWords, type Say, type TextName } from '../../words/index.ts';
import { en } from '../../words/en.ts';
import { FilterChoice, FilterField, FilterForm } from './filter-form.tsx';
import styles from './page.module.css';
import { actorKinds, type RecordsSearch } from './search.ts';

type Line = Result<'listAudit'>['data'][number];
type Change = Line['changes'][number];

const kinds = Object.keys(en.records.kinds) as (keyof typeof en.records.kinds)[];

/** Who changed what, before and after, newest first. */
export function Audit() {
  const say = useWords();
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
  const { list, items: lines } = usePagedList({
    queryKey: ['audit', filter],
    isOrdered: false,
    readPage: (cursor, signal) =>
      read<'listAudit'>('/audit', { ...filter, ...(cursor !== undefined && { cursor }) }, signal),
  });
  useKeys({ '/': () => document.getElementById('audit-actor')?.focus() });

  return (
    <>
      <FilterForm
        names={['actor', 'action', 'object']}
        after={
          <>
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
          </>
        }
      >
        <FilterField
          label={say('records.actor')}
          id="audit-actor"
          name="actor"
          defaultValue={actor}
        />
        <FilterChoice
          label={say('records.what')}
          none={say('records.everything')}
          name="action"
          defaultValue={action ?? ''}
          options={[
            ...kinds.map((kind) => [kind, say(`records.kinds.${kind}`)] as const),
            ...(action?.includes('.') === true ? [[action, actionText(action, say)] as const] : []),
          ]}
        />
        <FilterField label={say('records.object')} name="object" defaultValue={object} />
      </FilterForm>
      <PagedList
        list={list}
        isEmpty={lines.length === 0}
        empty={say('records.nothing')}
        more={say('records.older')}
        note={say('records.secrets')}
        rows={10}
      >
        <AuditTable lines={lines} search={search} />
      </PagedList>
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
      className={`stacks wraps ${styles['audit']}`}
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
          <td className={`long ${styles['changes']}`}>
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
  return kind === 'person' ? <Breakable text={name} /> : <code>{name}</code>;
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
  const say = useWords();
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
              <code>
                {after == null
                  ? '–'
                  : after === secretChanged
                    ? say('records.secretChanged')
                    : valueText(after)}
              </code>
            </ins>
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** As the audit log has it of a secret. */
const secretChanged = 'changed';

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
