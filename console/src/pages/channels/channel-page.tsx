import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useSession } from '../../app/session.ts';
import { useFormats } from '../../format/numbers.ts';
import { Icon } from '../../pieces/icon.tsx';
import { changeIn } from '../../pieces/place-in-file.ts';
import { resultText } from '../../pieces/result-text.ts';
import { ErrorState, Skeleton } from '../../pieces/states.tsx';
import { Toast } from '../../pieces/toast.tsx';
import { useWords } from '../../words/index.ts';
import { ChannelStateOf } from '../health/channel-state.tsx';
import { filterWord } from '../requests/filter.ts';
import { channelFormQuery, channelQuery, cloneOf, draftOf, emptyDraft } from './draft.ts';
import { ChannelEditor } from './editor.tsx';
import styles from './editor.module.css';
import { channelsQuery, isPaused, type Channel } from './list.ts';
import { useChanges } from './use-change.ts';

/** One channel: how it is, and its settings, which are changed and tried here. */
export function ChannelPage() {
  const say = useWords();
  const { id } = useParams({ from: '/inside/channels/$id' });
  const { test = false } = useSearch({ from: '/inside/channels/$id' });
  const mayChange = useSession().permissions.includes('channels.write');
  const found = useQuery(channelQuery(id));
  const form = useQuery(channelFormQuery);
  const all = useQuery(channelsQuery).data?.data ?? [];
  const { reset, toast, setToast, endToast, problem } = useChanges();
  const channel = found.data;
  const own = all.find((each) => each.id === channel?.id);
  const failed = found.isError ? found : form.isError ? form : null;
  return (
    <>
      <header className="top">
        <Crumb />
        <h1 className={styles['title']}>{channel?.name ?? id}</h1>
        {channel !== undefined && mayChange && (
          <Link className="button" to="/channels/new" search={{ from: channel.name }}>
            {say('channels.clone')}
          </Link>
        )}
      </header>
      <div className="body">
        {failed !== null && (
          <ErrorState error={failed.error} onRetry={() => void failed.refetch()} />
        )}
        {failed === null && (channel === undefined || form.data === undefined) && (
          <Skeleton rows={10} />
        )}
        {channel !== undefined && form.data !== undefined && (
          <>
            {problem !== null && (
              <p className="problem" role="alert">
                {problem}
              </p>
            )}
            {own !== undefined && (
              <HowItIs
                of={own}
                onReset={mayChange && isPaused(own) ? () => reset(own) : undefined}
              />
            )}
            {!channel.editable && (
              <p className={`strong ${styles['place']}`}>{changeIn(channel, say)}</p>
            )}
            <ChannelEditor
              key={channel.id}
              form={form.data}
              channel={channel}
              initial={draftOf(channel, form.data)}
              before={draftOf(channel, form.data)}
              draftName={`channel ${channel.id}`}
              all={all}
              isReadOnly={!channel.editable || !mayChange}
              mayTry={mayChange}
              triesAtOnce={test && mayChange}
              onSaved={({ name }) => setToast({ text: say('channels.saved', { name }) })}
            />
          </>
        )}
      </div>
      <Toast toast={toast} onEnd={endToast} />
    </>
  );
}

/** A channel that is not there yet; it may begin as another one is. */
export function NewChannelPage() {
  const say = useWords();
  const navigate = useNavigate();
  const { from } = useSearch({ from: '/inside/channels/new' });
  const form = useQuery(channelFormQuery);
  const all = useQuery(channelsQuery);
  const other = useQuery({ ...channelQuery(from ?? ''), enabled: from !== undefined });
  const failed = [form, other, all].find(({ isError }) => isError) ?? null;
  const isReady =
    form.data !== undefined &&
    all.data !== undefined &&
    (from === undefined || other.data !== undefined);
  return (
    <>
      <header className="top">
        <Crumb />
        <h1 className={styles['title']}>
          {from === undefined
            ? say('channels.newTitle')
            : say('channels.cloneTitle', { name: from })}
        </h1>
      </header>
      <div className="body">
        {failed !== null && (
          <ErrorState error={failed.error} onRetry={() => void failed.refetch()} />
        )}
        {failed === null && !isReady && <Skeleton rows={10} />}
        {isReady && (
          <>
            {from !== undefined && <p className={styles['place']}>{say('channels.cloneNote')}</p>}
            <ChannelEditor
              form={form.data}
              channel={null}
              initial={
                other.data === undefined
                  ? emptyDraft(form.data)
                  : cloneOf(other.data, form.data, all.data.data)
              }
              before={emptyDraft(form.data)}
              draftName={from === undefined ? 'channel' : `channel like ${from}`}
              all={all.data.data}
              isReadOnly={false}
              mayTry
              triesAtOnce={false}
              onSaved={({ name }) =>
                void navigate({ to: '/channels/$id', params: { id: name }, replace: true })
              }
            />
          </>
        )}
      </div>
    </>
  );
}

function Crumb() {
  const say = useWords();
  return (
    <Link className="button bare" to="/channels" activeOptions={{ exact: true }}>
      <Icon name="left" />
      {say('channels.title')}
    </Link>
  );
}

/** What its attempts say, in a sentence and figures. */
function HowItIs({
  of: channel,
  onReset,
}: {
  readonly of: Channel;
  /** Undefined: there is nothing to end, or the person may not. */
  readonly onReset: (() => void) | undefined;
}) {
  const say = useWords();
  const formats = useFormats();
  const { name, enabled, verdict, recent, alone } = channel;
  const last = recent?.last_failure ?? null;
  const look = !enabled
    ? ''
    : verdict === 'fails'
      ? styles['failed']
      : verdict === 'unsteady'
        ? styles['warned']
        : '';
  return (
    <section className={`${styles['verdict']} ${look}`} aria-label={say('channels.howItIs')}>
      <p className="strong">
        {enabled ? (
          <ChannelStateOf channel={channel} />
        ) : (
          <span className="outcome neutral">
            <Icon name="ring" size={12} />
            {say('channels.disabled')}
          </span>
        )}
      </p>
      <p className="second">
        {recent === null
          ? say('channels.unasked')
          : say('channels.ofAttempts', {
              answered: formats.count(recent.attempts - recent.failed),
              attempts: formats.count(recent.attempts),
            })}
        {recent?.first_token_ms != null &&
          ` ${say('channels.firstToken', { time: formats.duration(recent.first_token_ms) })}`}
        {enabled && alone.count > 0 && ` ${say('channels.alone', { count: alone.count })}`}
      </p>
      {last !== null && (
        <p className={styles['lastWords']}>
          <Link className="link" to="/requests/$id" params={{ id: last.request }}>
            {formats.time(last.time)}
          </Link>{' '}
          {last.status !== null && `${last.status} `}
          {last.words === null ? resultText(last.error, say) : <code>{last.words}</code>}
        </p>
      )}
      <p>
        <Link
          className="link"
          to="/requests"
          search={{ filter: filterWord('tried', name), range: '24h' }}
        >
          {say('channels.requests')}
        </Link>{' '}
        {onReset !== undefined && (
          <button type="button" className="button" onClick={onReset}>
            {say('channels.reset')}
          </button>
        )}
      </p>
    </section>
  );
}
