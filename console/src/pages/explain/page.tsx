import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState, type FormEvent } from 'react';
import { write, type Body, type Result } from '../../api/client.ts';
import { useSession } from '../../app/session.ts';
import { useFormats } from '../../format/numbers.ts';
import { CopyButton } from '../../pieces/copy-button.tsx';
import { Icon } from '../../pieces/icon.tsx';
import { ErrorState, Skeleton } from '../../pieces/states.tsx';
import { Table } from '../../pieces/table.tsx';
import { useWords } from '../../words/index.ts';
import { channelFormQuery } from '../channels/draft.ts';
import { channelsQuery, type Channel } from '../channels/list.ts';
import { ChannelStateOf } from '../health/channel-state.tsx';
import styles from './page.module.css';
import type { ExplainSearch } from './search.ts';

type Explained = Result<'explainRoute'>;
type Asked = Explained['asked'][number];
type Other = Explained['others'][number];

/** Which channels are asked for a request, in which order, and why no others. */
export function ExplainPage() {
  const say = useWords();
  const search = useSearch({ from: '/inside/explain' });
  const { csrf_token: token } = useSession();
  const { model, agent, ...rest } = search;
  const explained = useQuery({
    queryKey: ['explain', search],
    queryFn: () => {
      const body = { ...rest, model, ...(agent !== undefined && { user_agent: agent }) };
      return write<'explainRoute'>('POST', '/routing/explain', body as Body<'explainRoute'>, token);
    },
    enabled: model !== undefined,
    retry: false,
  });
  return (
    <>
      <header className="top">
        <Link className="button bare" to="/channels">
          <Icon name="left" />
          {say('channels.title')}
        </Link>
        <h1>{say('explain.title')}</h1>
        {model !== undefined && <CopyButton text={location.href} word={say('explain.copyLink')} />}
      </header>
      <div className="body">
        <Question key={JSON.stringify(search)} search={search} />
        {explained.isError && (
          <ErrorState error={explained.error} onRetry={() => void explained.refetch()} />
        )}
        {model !== undefined && explained.isPending && <Skeleton rows={6} />}
        {explained.isSuccess && <Explanation of={explained.data} model={model ?? ''} />}
      </div>
    </>
  );
}

const protocols = [
  'chat',
  'responses',
  'messages',
  'generate-content',
  'embeddings',
  'images',
  'video-synthesis',
  'video-contents',
];

function Question({ search }: { readonly search: ExplainSearch }) {
  const say = useWords();
  const navigate = useNavigate();
  const form = useQuery(channelFormQuery);
  const [protocol, setProtocol] = useState(search.protocol ?? 'chat');

  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const typed = [...new FormData(event.currentTarget)].flatMap(([name, value]) =>
      typeof value === 'string' && value.trim() !== '' ? [[name, value.trim()] as const] : [],
    );
    void navigate({ to: '/explain', search: Object.fromEntries(typed) });
  }
  const field = (name: 'model' | 'key' | 'group' | 'agent', list?: string) => (
    <div className="field">
      <label htmlFor={`explain-${name}`}>{say(`explain.fields.${name}`)}</label>
      <input
        className="input"
        id={`explain-${name}`}
        name={name}
        list={list}
        defaultValue={search[name]}
        required={name === 'model'}
        autoComplete="off"
        spellCheck={false}
      />
    </div>
  );
  return (
    <form className={styles['question']} onSubmit={submit}>
      <datalist id="explain-models">
        {form.data?.models.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <datalist id="explain-groups">
        {form.data?.groups.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      {field('model', 'explain-models')}
      <div className="field">
        <label htmlFor="explain-protocol">{say('explain.fields.protocol')}</label>
        <select
          className="input"
          id="explain-protocol"
          name="protocol"
          value={protocol}
          onChange={({ target }) => setProtocol(target.value)}
        >
          {protocols.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </div>
      {field('key')}
      {field('group', 'explain-groups')}
      {field('agent')}
      <button type="submit" className="button main">
        {say('explain.explain')}
      </button>
    </form>
  );
}

function Explanation({ of: explained, model }: { readonly of: Explained; readonly model: string }) {
  const say = useWords();
  const { asked, others, refusal, last_resort: last } = explained;
  const channels = useQuery(channelsQuery).data?.data ?? [];
  const healthOf = (id: string) => channels.find((channel) => channel.id === id);
  const first = asked.find(({ passed_over: why }) => why === null);
  const fails = first !== undefined && healthOf(first.id)?.verdict === 'fails';
  const isRefused = refusal !== null || asked.length === 0;
  const answer = first?.name ?? last;
  const title = isRefused
    ? say('explain.refused')
    : answer === null
      ? say('explain.nobody')
      : say(fails ? 'explain.fails' : 'explain.answers', { name: answer });
  const isFine = !isRefused && first !== undefined && asked[0] === first && !fails;
  const look = isFine ? 'fine' : isRefused || answer === null ? 'failed' : 'warned';
  const sentence =
    refusal === null
      ? asked.length === 0
        ? say('explain.noneServes', { model, group: explained.group })
        : say('explain.serve', { count: asked.length, model, group: explained.group })
      : refusal.message;
  return (
    <>
      <div className={`${styles['verdict']} ${styles[look]}`} role="status">
        <p className={`outcome ${look} strong`}>
          <Icon name={isFine ? 'tick' : look === 'failed' ? 'cross' : 'warning'} />
          <span>{title}</span>
        </p>
        <p className="second">
          {sentence}{' '}
          {refusal === null && first === undefined && last !== null && say('explain.lastResort')}
        </p>
      </div>
      {asked.length > 0 && (
        <section className={styles['section']}>
          <h2 className="title">{say('explain.order')}</h2>
          <AskedTable asked={asked} healthOf={healthOf} />
        </section>
      )}
      {others.length > 0 && (
        <section className={styles['section']}>
          <h2 className="title">{say('explain.others')}</h2>
          <OtherTable others={others} group={explained.group} />
        </section>
      )}
    </>
  );
}

function AskedTable({
  asked,
  healthOf,
}: {
  readonly asked: readonly Asked[];
  /** Undefined: it is not known yet. */
  readonly healthOf: (id: string) => Channel | undefined;
}) {
  const say = useWords();
  const formats = useFormats();
  const admitted = asked.filter(({ passed_over: why }) => why === null);
  return (
    <Table
      label={say('explain.order')}
      className={styles['table']}
      heads={[
        <th key="place" scope="col" />,
        say('models.channel'),
        say('explain.health'),
        [say('models.priority'), 'number less'],
        [say('explain.share'), 'number'],
        say('explain.why'),
      ]}
    >
      {asked.map((route) => {
        const health = healthOf(route.id);
        return (
          <tr key={route.id}>
            <td className="quiet">
              {route.passed_over === null ? admitted.indexOf(route) + 1 : '–'}
            </td>
            <td>
              <Link className="link strong" to="/channels/$id" params={{ id: route.name }}>
                {route.passed_over === null ? route.name : <s>{route.name}</s>}
              </Link>
            </td>
            <td className={styles['reason']}>
              {health !== undefined && <ChannelStateOf channel={health} />}
            </td>
            <td className="number less">{route.priority}</td>
            <td className="number">
              {route.share > 0 ? `${formats.percent(Math.round(100 * route.share) / 100)} %` : ''}
            </td>
            <td className={styles['reason']}>
              {route.passed_over !== null && (
                <span className="outcome failed">
                  <Icon name="cross" size={12} />
                  <span>
                    {say(`explain.passedOver.${route.passed_over}`)}
                    {route.rest_ms > 0 &&
                      ` ${say('explain.again', { time: formats.duration(route.rest_ms) })}`}
                  </span>
                </span>
              )}{' '}
              {route.passed_over === null &&
                say(route.share > 0 ? 'explain.firstHere' : 'explain.laterHere')}{' '}
              <span className="quiet">
                {route.native
                  ? say('explain.native', { protocol: route.protocol })
                  : say('explain.converted', { protocol: route.protocol })}{' '}
                {say('explain.as', { model: route.upstream_model })}
              </span>
            </td>
          </tr>
        );
      })}
    </Table>
  );
}

/** Channels that miss for the same reason stand together. */
function OtherTable({
  others,
  group,
}: {
  readonly others: readonly Other[];
  readonly group: string;
}) {
  const say = useWords();
  const reasons = [...new Set(others.map(({ reason }) => reason))];
  return (
    <Table
      label={say('explain.others')}
      className={styles['table']}
      heads={[say('models.channel'), say('explain.whyNot'), say('explain.change')]}
    >
      {reasons.map((reason) => (
        <tr key={reason}>
          <td className={styles['reason']}>
            {others
              .filter((other) => other.reason === reason)
              .map(({ id, name }, at) => (
                <span key={id}>
                  {at > 0 && ', '}
                  <Link className="link" to="/channels/$id" params={{ id: name }}>
                    {name}
                  </Link>
                </span>
              ))}
          </td>
          <td className={styles['reason']}>{say(`explain.reasons.${reason}`, { group })}</td>
          <td className={styles['reason']}>{say(`explain.changes.${reason}`)}</td>
        </tr>
      ))}
    </Table>
  );
}
