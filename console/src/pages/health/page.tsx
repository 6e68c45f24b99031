import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { read } from '../../api/client.ts';
import { useFormats } from '../../format/numbers.ts';
import { Icon } from '../../pieces/icon.tsx';
import { ErrorState, Skeleton } from '../../pieces/states.tsx';
import { Table } from '../../pieces/table.tsx';
import { useWords } from '../../words/index.ts';
import { Hours, Success } from '../models/success.tsx';
import { channelsQuery, type Channel } from '../channels/list.ts';
import { ChannelStateOf } from './channel-state.tsx';
import { Failures } from './failures.tsx';
import { Nodes } from './nodes.tsx';
import styles from './page.module.css';
import { complaintsOf, type Health } from './sentences.ts';

/** Milliseconds after which the page reads anew. */
const readEvery = 5_000;

/** How the gateway is: what is wrong in sentences, its parts, and the channels. */
export function HealthPage() {
  const say = useWords();
  const health = useQuery({
    queryKey: ['health'],
    queryFn: ({ signal }) => read<'readHealth'>('/health', {}, signal),
    refetchInterval: readEvery,
  });
  const channels = useQuery(channelsQuery);
  // What is disabled is asked for nothing, and so neither fails nor answers.
  const used = channels.data?.data.filter(({ enabled }) => enabled);
  return (
    <>
      <header className="top">
        <h1>{say('health.title')}</h1>
      </header>
      <div className="body">
        {health.isError && (
          <ErrorState error={health.error} onRetry={() => void health.refetch()} />
        )}
        {health.isPending && <Skeleton rows={6} />}
        {health.data !== undefined && (
          <>
            <Verdict health={health.data} channels={used ?? null} />
            <Failures channels={used ?? []} />
          </>
        )}
        {channels.isError && !health.isError && (
          <ErrorState error={channels.error} onRetry={() => void channels.refetch()} />
        )}
        {used !== undefined && <Channels channels={used} resting={health.data?.resting ?? []} />}
        {health.data !== undefined && (
          <>
            <Nodes nodes={health.data.nodes} version={health.data.version} />
            <Parts health={health.data} />
          </>
        )}
      </div>
    </>
  );
}

function Verdict({
  health,
  channels,
}: {
  readonly health: Health;
  /** Null: they are not known yet. */
  readonly channels: readonly Channel[] | null;
}) {
  const say = useWords();
  const complaints = complaintsOf(health, say);
  if (health.status === 'ok' && complaints.length === 0) {
    return channels === null ? null : <ChannelVerdict channels={channels} />;
  }
  return (
    <div className={styles['wrong']} role="status">
      <p className={`outcome ${health.status === 'ok' ? 'warned' : 'failed'} strong`}>
        <Icon name={health.status === 'ok' ? 'warning' : 'cross'} />
        {say(health.status === 'ok' ? 'health.degradedTitle' : 'health.unavailable')}
      </p>
      <ul>
        {complaints.map(({ word, text }) => (
          <li key={word}>
            <code>{word}</code> <span className="second">{text}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

const shapes = { fine: 'tick', warned: 'warning', failed: 'cross' } as const;

/** What the attempts of the last day say about all channels. Nothing is said that nobody has seen. */
function ChannelVerdict({ channels }: { readonly channels: readonly Channel[] }) {
  const say = useWords();
  const formats = useFormats();
  const having = (verdict: Channel['verdict']) =>
    channels.filter((channel) => channel.verdict === verdict).length;
  const sum = (member: 'attempts' | 'failed') =>
    channels.reduce((total, { recent }) => total + (recent?.[member] ?? 0), 0);
  const attempts = sum('attempts');
  const [fails, unsteady, unasked] = [having('fails'), having('unsteady'), having('unasked')];
  const look = fails > 0 ? 'failed' : unsteady > 0 || attempts === 0 ? 'warned' : 'fine';
  const title =
    fails > 0
      ? say('health.fail', { count: fails })
      : unsteady > 0
        ? say('health.unsteady', { count: unsteady })
        : say(attempts === 0 ? 'health.unseen' : 'health.fine');
  return (
    <div className={`${styles['verdict']} ${styles[look]}`} role="status">
      <p className={`outcome ${look} strong`}>
        <Icon name={shapes[look]} />
        <span>{title}</span>
      </p>
      <p className="second">
        {attempts === 0
          ? say('health.unseenHint')
          : say('health.succeeded', {
              answered: formats.count(attempts - sum('failed')),
              attempts: formats.count(attempts),
            })}
        {attempts > 0 && unasked > 0 && ` ${say('health.unaskedToo', { count: unasked })}`}
      </p>
    </div>
  );
}

function Parts({ health }: { readonly health: Health }) {
  const say = useWords();
  const formats = useFormats();
  const { database, redis, journal } = health;
  return (
    <section className={styles['section']}>
      <h2 className="title">{say('health.parts')}</h2>
      <dl className={styles['facts']}>
        <dt>{say('health.gateway')}</dt>
        <dd>
          {say('health.since', { version: health.version, time: formats.time(health.started) })}
        </dd>
        <dt>{say('health.database')}</dt>
        <dd>
          <State isFine={database.state === 'works'}>
            {database.kind === 'postgres' ? 'PostgreSQL' : 'SQLite'},{' '}
            {say(`health.databases.${database.state}`)}
          </State>
        </dd>
        <dt>Redis</dt>
        <dd>
          {redis === null ? (
            say('health.noRedis')
          ) : (
            <State isFine={redis.state === 'works'}>
              {say(`health.redis.${redis.state}`, {
                eviction: redis.eviction,
                persistence: redis.persistence,
              })}
            </State>
          )}
        </dd>
        <dt>{say('health.journal')}</dt>
        <dd>
          <State isFine={journal.usable}>
            {journal.usable
              ? say('health.journalDepth', { count: formats.count(journal.depth) })
              : say('health.journalFull')}
          </State>
        </dd>
      </dl>
    </section>
  );
}

function State({
  isFine,
  children,
}: {
  readonly isFine: boolean;
  readonly children: React.ReactNode;
}) {
  return (
    <span className={isFine ? 'outcome fine' : 'outcome failed'}>
      <Icon name={isFine ? 'tick' : 'cross'} size={12} />
      <span>{children}</span>
    </span>
  );
}

function Channels({
  channels,
  resting,
}: {
  readonly channels: readonly Channel[];
  readonly resting: Health['resting'];
}) {
  const say = useWords();
  const formats = useFormats();
  return (
    <section className={styles['section']}>
      <h2 className="title">{say('models.channels')}</h2>
      {channels.length === 0 ? (
        <div className="state">
          <p className="strong">{say('health.noChannels')}</p>
          <p>{say('models.emptyHint')}</p>
        </div>
      ) : (
        <Table
          label={say('models.channels')}
          heads={[
            say('models.channel'),
            say('health.state'),
            [say('models.provider'), 'least'],
            [say('models.priority'), 'number least'],
            [say('health.attempts'), 'number'],
            say('models.columns.success'),
            [say('models.columns.hours'), 'less'],
            [say('models.columns.firstToken'), 'number less'],
          ]}
        >
          {channels.map((channel) => {
            const { name, recent } = channel;
            return (
              <tr key={name}>
                <td>
                  <Link className="link strong cut" to="/channels/$id" params={{ id: name }}>
                    {name}
                  </Link>
                </td>
                <td className="wrapping">
                  <ChannelStateOf
                    channel={channel}
                    resting={resting.find((each) => each.channel === name)}
                  />
                </td>
                <td className="least">{channel.provider}</td>
                <td className="number least">{channel.priority}</td>
                <td className="number">{recent === null ? '–' : formats.count(recent.attempts)}</td>
                <td>{recent !== null && <Success share={recent.success} />}</td>
                <td className="less">{recent !== null && <Hours hours={recent.hours} />}</td>
                <td className="number less">
                  {recent?.first_token_ms == null ? '–' : formats.duration(recent.first_token_ms)}
                </td>
              </tr>
            );
          })}
        </Table>
      )}
      <p className={styles['note']}>{say('health.note')}</p>
    </section>
  );
}
