import { Link } from '@tanstack/react-router';
import { useRef } from 'react';
import { useSession } from '../../app/session.ts';
import { useFormats } from '../../format/numbers.ts';
import { Icon } from '../../pieces/icon.tsx';
import { CellNumber } from '../../pieces/cell-number.tsx';
import { Percent } from '../../pieces/percent.tsx';
import { changeIn } from '../../pieces/place-in-file.ts';
import { resultText } from '../../pieces/result-text.ts';
import { RowMenu, type RowAction } from '../../pieces/row-menu.tsx';
import { SortHead } from '../../pieces/sort-head.tsx';
import { useRowFocus } from '../../pieces/use-row-focus.ts';
import { useWords } from '../../words/index.ts';
import { Hours } from '../models/success.tsx';
import { ChannelStateOf } from '../health/channel-state.tsx';
import type { Channel } from './list.ts';
import styles from './page.module.css';
import type { Order, Sortable } from './search.ts';

interface Props {
  readonly channels: readonly Channel[];
  readonly order: Order | undefined;
  readonly onOrder: (column: Sortable) => void;
  readonly onSet: (channel: Channel, name: 'priority' | 'weight', value: number) => void;
  readonly actionsOf: (channel: Channel) => RowAction[];
}

/** What the file allows. */
const limits = {
  priority: { min: -1_000_000, max: 1_000_000 },
  weight: { min: 0, max: 1_000_000 },
} as const;

/** Every channel in a line: how it is, its figures of a day, what it said last, and when it is asked. */
export function ChannelTable({ channels, order, onOrder, onSet, actionsOf }: Props) {
  const say = useWords();
  const formats = useFormats();
  const mayChange = useSession().permissions.includes('channels.write');
  const table = useRef<HTMLDivElement>(null);
  useRowFocus(table);
  const head = (column: Sortable, className?: string) => (
    <SortHead
      column={column}
      label={say(`channels.columns.${column}`)}
      className={className}
      order={order}
      onOrder={onOrder}
    />
  );
  const number = (channel: Channel, name: 'priority' | 'weight') => {
    if (!mayChange || !channel.editable) return formats.count(channel[name]);
    return (
      <CellNumber
        label={say(`channels.${name}Of`, { name: channel.name })}
        value={channel[name]}
        revision={channel.revision}
        {...limits[name]}
        onSave={(text) => onSet(channel, name, Number(text))}
      />
    );
  };
  return (
    <div
      ref={table}
      className="scroll"
      tabIndex={0}
      role="region"
      aria-label={say('channels.title')}
    >
      <table className={`table pinned stacks ${styles['table']}`}>
        <thead>
          <tr>
            {head('channel')}
            <th scope="col">{say('channels.columns.state')}</th>
            <th scope="col" data-column="hours">
              {say('channels.columns.hours')}
            </th>
            {head('attempts', 'number')}
            {head('success', 'number')}
            {head('firstToken', `number ${styles['firstToken']}`)}
            <th scope="col" data-column="words">
              {say('channels.columns.words')}
            </th>
            <th scope="col" data-column="keys">
              {say('channels.columns.keys')}
            </th>
            {head('priority', 'number')}
            {head('weight', 'number')}
            <th scope="col" data-column="actions">
              <span className="hidden">{say('channels.columns.actions')}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {channels.map((channel) => {
            const { id, name, provider, enabled, recent, editable } = channel;
            return (
              <tr key={id}>
                <td data-column="channel">
                  <span className="line">
                    <Link className="link strong cut" to="/channels/$id" params={{ id: name }}>
                      {name}
                    </Link>
                    {!editable && (
                      <span className={styles['badge']} title={changeIn(channel, say)}>
                        {say('channels.file')}
                      </span>
                    )}
                    <span className={`quiet ${styles['provider']}`}>{provider}</span>
                  </span>
                </td>
                <td className="wrapping" data-column="state">
                  {enabled ? (
                    <ChannelStateOf channel={channel} />
                  ) : (
                    <span className="outcome neutral">
                      <Icon name="ring" size={12} />
                      {say('channels.disabled')}
                    </span>
                  )}
                </td>
                <td data-column="hours">{recent !== null && <Hours hours={recent.hours} />}</td>
                <td
                  className="number"
                  data-column="attempts"
                  data-label={say('channels.columns.attempts')}
                >
                  {recent === null ? '–' : formats.count(recent.attempts)}
                </td>
                <td
                  className="number"
                  data-column="success"
                  data-label={say('channels.columns.success')}
                >
                  {recent !== null && <Percent of={recent.success} />}
                </td>
                <td className={`number ${styles['firstToken']}`} data-column="firstToken">
                  {recent?.first_token_ms == null ? '–' : formats.duration(recent.first_token_ms)}
                </td>
                <td data-column="words">
                  <LastFailure of={channel} />
                </td>
                <td data-column="keys">
                  <Credentials of={channel} />
                </td>
                <td
                  className="number"
                  data-column="priority"
                  data-label={say('channels.columns.priority')}
                >
                  {number(channel, 'priority')}
                </td>
                <td
                  className="number"
                  data-column="weight"
                  data-label={say('channels.columns.weight')}
                >
                  {number(channel, 'weight')}
                </td>
                <td data-column="actions">
                  <RowMenu
                    label={say('channels.actionsOf', { name })}
                    actions={actionsOf(channel)}
                  />
                </td>
              </tr>
            );
          })}
        </tbody>
        <Totals of={channels} />
      </table>
    </div>
  );
}

function Totals({ of: channels }: { readonly of: readonly Channel[] }) {
  const say = useWords();
  const formats = useFormats();
  const sum = (member: 'attempts' | 'failed') =>
    channels.reduce((total, { recent }) => total + (recent?.[member] ?? 0), 0);
  const [attempts, failed] = [sum('attempts'), sum('failed')];
  return (
    <tfoot>
      <tr>
        <th scope="row" data-column="channel">
          {say('channels.total', { count: channels.length })}
        </th>
        <td data-column="state" />
        <td data-column="hours" />
        <td className="number" data-column="attempts" data-label={say('channels.columns.attempts')}>
          {formats.count(attempts)}
        </td>
        <td className="number" data-column="success" data-label={say('channels.columns.success')}>
          {attempts > 0 && <Percent of={(attempts - failed) / attempts} />}
        </td>
        <td className={styles['firstToken']} data-column="firstToken" />
        <td data-column="words" />
        <td data-column="keys" />
        <td data-column="priority" />
        <td data-column="weight" />
        <td data-column="actions" />
      </tr>
    </tfoot>
  );
}

/** What the upstream said when it failed last, or our word for it. */
function LastFailure({ of: { recent } }: { readonly of: Channel }) {
  const say = useWords();
  const formats = useFormats();
  const last = recent?.last_failure ?? null;
  if (last === null) return null;
  return (
    <span className="cut">
      <Link className="quiet" to="/requests/$id" params={{ id: last.request }}>
        {formats.time(last.time)}
      </Link>{' '}
      {last.status !== null && `${last.status} `}
      {last.words === null ? (
        resultText(last.error, say)
      ) : (
        <code title={last.words}>{last.words}</code>
      )}
    </span>
  );
}

/** More would make the line long. */
const mostKeys = 2;

/** The credentials by their hints; what is wrong with one stands behind it. */
function Credentials({ of: { api_keys: keys } }: { readonly of: Channel }) {
  const say = useWords();
  if (keys.length === 0) return <span className="quiet">{say('channels.noKey')}</span>;
  return (
    <>
      {keys.slice(0, mostKeys).map(({ hint, state }, at) => (
        <span key={at} className={styles['key']}>
          <code>{hint}</code>
          {state !== null && state !== 'ready' && (
            <span className={`outcome ${state === 'disabled' ? 'failed' : 'warned'}`}>
              <Icon name={state === 'disabled' ? 'cross' : 'warning'} size={12} />
              {say(`channels.keyStates.${state}`)}
            </span>
          )}
        </span>
      ))}
      {keys.length > mostKeys && (
        <span className="quiet">{say('channels.moreKeys', { count: keys.length - mostKeys })}</span>
      )}
    </>
  );
}
