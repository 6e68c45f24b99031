import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef, type ReactNode } from 'react';
import { read, type Result } from '../../api/client.ts';
import { useFormats } from '../../format/numbers.ts';
import { partName } from '../../format/parts.ts';
import { Icon } from '../../pieces/icon.tsx';
import { Money } from '../../pieces/money.tsx';
import { NameLink } from '../../pieces/name-link.tsx';
import { resultText } from '../../pieces/result-text.ts';
import { ErrorState, Skeleton } from '../../pieces/states.tsx';
import { useWords, type Say } from '../../words/index.ts';
import styles from './page.module.css';
import { TaskState } from './task-state.tsx';

type Detail = Result<'readTask'>;

const lookEvery = 5_000;

/** The course of one task, what it holds and at which price. */
export function TaskPanel({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const say = useWords();
  const task = useQuery({
    queryKey: ['task', id],
    queryFn: ({ signal }) => read<'readTask'>(`/tasks/${encodeURIComponent(id)}`, {}, signal),
    refetchInterval: ({ state }) => (state.data?.ended === null ? lookEvery : false),
  });
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), [id]);
  return (
    <section className={styles['panel']} aria-label={say('records.course')}>
      <header className={styles['head']}>
        <h2 className="title" tabIndex={-1} ref={heading}>
          <code>{id}</code>
        </h2>
        <button
          type="button"
          className="button bare"
          aria-label={say('records.close')}
          onClick={onClose}
        >
          <Icon name="close" />
        </button>
      </header>
      {task.isError && <ErrorState error={task.error} onRetry={() => void task.refetch()} />}
      {task.isPending && <Skeleton rows={5} />}
      {task.data !== undefined && (
        <div className={styles['two']}>
          <Course task={task.data} />
          <Facts task={task.data} />
        </div>
      )}
    </section>
  );
}

interface Event {
  readonly time: string;
  readonly text: string;
}

/** What happened to a task, as far as its row knows, in order. */
function eventsOf(task: Detail, say: Say): Event[] {
  const { time, held, price, attempts, accepted, updated, looked, ended } = task;
  const isHeld = price !== null;
  const events: Event[] = [
    {
      time,
      text:
        isHeld && held !== null
          ? say('records.events.submittedHeld', { amount: held, price: price.price })
          : isHeld
            ? say('records.events.submittedPriced', { price: price.price })
            : say('records.events.submittedFree'),
    },
    ...attempts
      .filter(({ result }) => result !== 'completed')
      .map(({ channel, result, started_at }) => ({
        time: started_at,
        text: say('records.events.refusedBy', { channel, result: resultText(result, say) }),
      })),
  ];
  if (accepted !== null) {
    events.push({
      time: accepted,
      text: say('records.events.accepted', { channel: task.channel ?? '' }),
    });
  }
  if (ended === null) {
    if (updated > (accepted ?? time) && task.state === 'running') {
      events.push({ time: updated, text: say('records.events.running') });
    }
    if (looked !== null && looked > updated) {
      events.push({ time: looked, text: say('records.events.looked') });
    }
    return events;
  }
  const code = task.failure?.code ?? null;
  const ending = code === null ? '' : ` (${code})`;
  events.push({
    time: ended,
    text:
      task.failure?.kind === 'cancelled'
        ? say('records.events.cancelled')
        : task.state === 'succeeded'
          ? say('records.events.succeeded')
          : task.state === 'expired'
            ? say('records.events.expired')
            : say('records.events.failed') + ending,
  });
  if (task.lost !== null) events.push({ time: looked ?? ended, text: say('records.events.lost') });
  return events;
}

function Course({ task }: { readonly task: Detail }) {
  const say = useWords();
  const formats = useFormats();
  return (
    <table className={`table ${styles['course']}`}>
      <thead>
        <tr>
          <th scope="col">{say('records.time')}</th>
          <th scope="col">{say('records.whatHappened')}</th>
        </tr>
      </thead>
      <tbody>
        {eventsOf(task, say).map(({ time, text }) => (
          <tr key={`${time} ${text}`}>
            <td title={formats.fullTime(time)}>{formats.time(time)}</td>
            <td>{text}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

type Fact = readonly [name: string, value: ReactNode];

function Facts({ task }: { readonly task: Detail }) {
  const say = useWords();
  const formats = useFormats();
  const { demand, price, multiplier, held, cost, looked, ended } = task;
  const facts: Fact[] = [
    [say('records.state'), <TaskState key="state" task={task} />],
    [
      say('records.demand'),
      [
        task.model,
        say('records.seconds', { count: demand.seconds }),
        demand.resolution,
        ...(demand.with_video ? [say('records.withVideo')] : []),
      ].join(', '),
    ],
    [say('records.submittedWith'), <NameLink key="key" kind="key" name={task.key} />],
  ];
  if (task.payer !== null) {
    facts.push([say('records.payer'), task.payer === 'team' ? (task.team ?? '') : task.user]);
  }
  if (price !== null) {
    facts.push([
      partName(price.part, say, formats.count),
      <span key="price">
        <Money amount={price.price} /> USD
        {multiplier !== null && multiplier !== '1' && ` × ${multiplier} (${task.group})`}
      </span>,
    ]);
  }
  if (held !== null) facts.push([say('records.held'), <Money key="held" amount={held} isExact />]);
  if (cost !== null) {
    facts.push([say('records.charged'), <Money key="cost" amount={cost} isExact />]);
  }
  facts.push([say('records.looked'), looked === null ? '–' : formats.time(looked)]);
  if (task.upstream_id !== null) {
    facts.push([say('records.upstreamId'), <code key="id">{task.upstream_id}</code>]);
  }
  return (
    <div>
      <dl className={styles['facts']}>
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {ended !== null && (
        <p>
          <Link className="link" to="/requests/$id" params={{ id: task.request }}>
            {say('records.receipt')}
          </Link>
        </p>
      )}
    </div>
  );
}
