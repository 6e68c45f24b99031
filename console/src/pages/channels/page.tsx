import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { useSession } from '../../app/session.ts';
import { useFormats } from '../../format/numbers.ts';
import { nextOrder } from '../../pieces/order.ts';
import type { RowAction } from '../../pieces/row-menu.tsx';
import { Simulated } from '../../pieces/simulated.tsx';
import { ErrorState, Skeleton } from '../../pieces/states.tsx';
import { Toast } from '../../pieces/toast.tsx';
import { useKeys } from '../../pieces/use-keys.ts';
import { SearchField } from '../../pieces/search-field.tsx';
import { useWords } from '../../words/index.ts';
import { filterWord } from '../requests/filter.ts';
import { DisableChannel } from './disable-channel.tsx';
import {
  belongsTo,
  channelsQuery,
  contains,
  equalsOf,
  isHighFirst,
  isPaused,
  ordered,
  type Channel,
} from './list.ts';
import styles from './page.module.css';
import { states, type ChannelsSearch } from './search.ts';
import { ChannelTable } from './table.tsx';
import { useChanges } from './use-change.ts';

/** All channels: how they are, when they are asked, and what can be done with them. */
export function ChannelsPage() {
  const say = useWords();
  const formats = useFormats();
  const navigate = useNavigate();
  const mayChange = useSession().permissions.includes('channels.write');
  const search = useSearch({ from: '/inside/channels' });
  const list = useQuery(channelsQuery);
  const { change, reset, toast, endToast, problem } = useChanges();
  const [stopping, setStopping] = useState<Channel | null>(null);
  const all = list.data?.data ?? [];
  const { q = '', state, sort } = search;
  const found = all.filter((channel) => q === '' || contains(channel, q));
  const shown = ordered(state === undefined ? found : found.filter(belongsTo[state]), sort);

  const go = (next: {
    readonly [Name in keyof ChannelsSearch]: ChannelsSearch[Name] | undefined;
  }) => {
    const known = Object.entries({ ...search, ...next }).filter(([, value]) => value !== undefined);
    void navigate({ to: '/channels', search: Object.fromEntries(known), replace: true });
  };
  const field = useRef<HTMLInputElement>(null);
  const add = () => void navigate({ to: '/channels/new' });
  useKeys({ '/': () => field.current?.focus(), ...(mayChange && { n: add }) });

  /** What follows from a priority or weight. */
  const consequence = (channel: Channel, name: 'priority' | 'weight', value: number): string => {
    const after = { ...channel, [name]: value };
    const equals = equalsOf(after, all);
    const text = say(`channels.${name}Is`, { name: channel.name, value });
    if (equals.length === 0) return `${text} ${say('channels.noEquals')}`;
    const sum = equals.reduce((total, { weight }) => total + weight, after.weight);
    const names = equals.map((each) => each.name).join(', ');
    const share = formats.percent(Math.round((100 * after.weight) / Math.max(1, sum)) / 100);
    return `${text} ${say('channels.sharesWith', { names, share })}`;
  };
  const actionsOf = (channel: Channel): RowAction[] => {
    const { name, enabled, editable } = channel;
    const requests = () =>
      navigate({ to: '/requests', search: { filter: filterWord('tried', name), range: '24h' } });
    const open = (query: object) => () =>
      navigate({ to: '/channels/$id', params: { id: name }, search: query });
    return [
      { word: say('channels.open'), act: open({}) },
      { word: say('channels.requests'), act: requests },
      ...(mayChange
        ? [
            { word: say('channels.test'), act: open({ test: true }) },
            {
              word: say('channels.clone'),
              act: () => navigate({ to: '/channels/new', search: { from: name } }),
            },
          ]
        : []),
      ...(mayChange && isPaused(channel)
        ? [{ word: say('channels.reset'), act: () => reset(channel) }]
        : []),
      ...(mayChange && editable
        ? [
            enabled
              ? { word: say('channels.disable'), act: () => setStopping(channel) }
              : {
                  word: say('channels.enable'),
                  act: () =>
                    change(channel, { enabled: true }, say('channels.enabledNow', { name })),
                },
          ]
        : []),
    ];
  };
  return (
    <>
      <header className="top">
        <h1>{say('channels.title')}</h1>
        <Link className="button" to="/explain">
          {say('channels.explain')}
        </Link>
        {mayChange && (
          <Link className="button main" to="/channels/new">
            {say('channels.add')}
          </Link>
        )}
      </header>
      <div className={styles['tools']}>
        <SearchField
          id="channel-search"
          label={say('channels.search')}
          hint={say('channels.searchHint')}
          value={q}
          onChange={(text) => go({ q: text === '' ? undefined : text })}
          field={field}
        />
        <div className="segments" role="group" aria-label={say('channels.columns.state')}>
          {([undefined, ...states] as const).map((choice) => (
            <button
              key={choice ?? 'all'}
              type="button"
              aria-pressed={state === choice}
              data-chosen={state === choice}
              onClick={() => go({ state: choice })}
            >
              {say(`channels.states.${choice ?? 'all'}`)}{' '}
              {choice === undefined ? found.length : found.filter(belongsTo[choice]).length}
            </button>
          ))}
        </div>
      </div>
      <div className="body">
        {problem !== null && (
          <p className="problem" role="alert">
            {problem}
          </p>
        )}
        {list.isError && <ErrorState error={list.error} onRetry={() => void list.refetch()} />}
        {list.isPending && <Skeleton rows={8} />}
        {list.isSuccess && all.length === 0 && (
          <div className="state">
            <p className="strong">{say('channels.empty')}</p>
            <p>{say('channels.emptyHint')}</p>
          </div>
        )}
        {all.length > 0 && shown.length === 0 && (
          <p className="state">
            <span>
              {say('channels.noMatch', { count: all.length })}{' '}
              <button
                type="button"
                className="link"
                onClick={() => go({ q: undefined, state: undefined })}
              >
                {say('channels.showAll')}
              </button>
            </span>
          </p>
        )}
        {list.data?.simulated === true && <Simulated />}
        {shown.length > 0 && (
          <>
            <ChannelTable
              channels={shown}
              order={sort}
              onOrder={(column) => go({ sort: nextOrder(column, sort, isHighFirst(column)) })}
              onSet={(channel, name, value) =>
                change(channel, { [name]: value }, consequence(channel, name, value))
              }
              actionsOf={actionsOf}
            />
            <p className={styles['note']}>
              {say(mayChange ? 'channels.noteEdit' : 'channels.note')}
            </p>
          </>
        )}
      </div>
      {stopping !== null && (
        <DisableChannel
          of={stopping}
          onClose={() => setStopping(null)}
          onDisable={() => {
            setStopping(null);
            const { name } = stopping;
            change(stopping, { enabled: false }, say('channels.disabledNow', { name }));
          }}
        />
      )}
      <Toast toast={toast} onEnd={endToast} />
    </>
  );
}
