import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { read, type Query, type Result } from '../../api/client.ts';
import { useSession } from '../../app/session.ts';
import { placesOf } from '../../format/money.ts';
import { useFormats } from '../../format/numbers.ts';
import { partName } from '../../format/parts.ts';
import { Money } from '../../pieces/money.tsx';
import { NameLink } from '../../pieces/name-link.tsx';
import { PagedList } from '../../pieces/paged-list.tsx';
import { Table } from '../../pieces/table.tsx';
import { useKeys } from '../../pieces/use-keys.ts';
import { useWords } from '../../words/index.ts';
import { FilterField, FilterForm } from './filter-form.tsx';
import styles from './page.module.css';
import { taskKinds, type RecordsSearch } from './search.ts';
import { TaskPanel } from './task-panel.tsx';
import { TaskState } from './task-state.tsx';

type Task = Result<'listTasks'>['data'][number];

const lookEvery = 5_000;

/** Video tasks: those that are open, how each of the others ended, and the course of one. */
export function Tasks() {
  const say = useWords();
  const formats = useFormats();
  const navigate = useNavigate();
  const { permissions } = useSession();
  const search = useSearch({ from: '/inside/records' });
  // Another list is shown without the task that was open beside this one.
  const { task, ...ofList } = search;
  const { kind = 'open', user, model } = ofList;
  const query: Query<'listTasks'> = {
    kind,
    ...(user !== undefined && { user }),
    ...(model !== undefined && { model }),
  };
  const list = useInfiniteQuery({
    queryKey: ['tasks', query],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      read<'listTasks'>(
        '/tasks',
        { ...query, ...(pageParam !== undefined && { cursor: pageParam }) },
        signal,
      ),
    getNextPageParam: ({ next }) => next ?? undefined,
    placeholderData: (previous) => previous,
    refetchInterval: ({ state }) => ((state.data?.pages.length ?? 0) > 1 ? false : lookEvery),
  });
  const [first] = list.data?.pages ?? [];
  const tasks = list.data?.pages.flatMap(({ data }) => data) ?? [];
  const close = () => void navigate({ to: '/records', search: ofList });
  useKeys({
    '/': () => document.getElementById('task-model')?.focus(),
    Escape: () => task !== undefined && close(),
  });

  return (
    <>
      <FilterForm names={['user', 'model']}>
        <nav className="segments" aria-label={say('records.taskKind')}>
          {taskKinds.map((each) => (
            <Link
              key={each}
              to="/records"
              search={{ ...ofList, kind: each }}
              activeOptions={{ exact: true }}
              aria-current={each === kind ? 'true' : undefined}
            >
              {say(`records.taskKinds.${each}`)}
              {first !== undefined && (
                <span className="quiet">{formats.count(first.counts[each])}</span>
              )}
            </Link>
          ))}
        </nav>
        <FilterField
          label={say('records.model')}
          id="task-model"
          name="model"
          defaultValue={model}
        />
        {permissions.includes('usage.read') && (
          <FilterField label={say('records.person')} name="user" defaultValue={user} />
        )}
      </FilterForm>
      <PagedList
        list={list}
        isEmpty={tasks.length === 0}
        empty={say(`records.noTasks.${kind}`)}
        more={say('records.moreTasks')}
      >
        <TaskTable tasks={tasks} search={search} />
      </PagedList>
      {task !== undefined && <TaskPanel id={task} onClose={close} />}
      <p className={'quiet list-end'}>{say('records.tasksNote')}</p>
    </>
  );
}

function TaskTable({
  tasks,
  search,
}: {
  readonly tasks: readonly Task[];
  readonly search: RecordsSearch;
}) {
  const say = useWords();
  const formats = useFormats();
  const isOpen = (search.kind ?? 'open') === 'open';
  const amountOf = (task: Task) => (isOpen ? task.held : task.cost);
  const places = placesOf(tasks.map(amountOf));
  const pricePlaces = placesOf(tasks.map(({ price }) => price?.price));
  return (
    <Table
      label={say('records.taskList')}
      heads={[
        say('records.task'),
        say('records.state'),
        say('records.model'),
        [say('records.person'), 'less'],
        [say('records.channel'), 'less'],
        [say('records.submitted'), 'less'],
        [say(isOpen ? 'records.looked' : 'records.ended'), 'less'],
        [say('records.price'), 'number less'],
        [say(isOpen ? 'records.held' : 'records.charged'), 'number'],
      ]}
    >
      {tasks.map((task) => {
        const amount = amountOf(task);
        const last = isOpen ? task.looked : task.ended;
        return (
          <tr key={task.id} aria-selected={task.id === search.task}>
            <td>
              <Link className="link" to="/records" search={{ ...search, task: task.id }}>
                <code>{shortId(task.id)}</code>
              </Link>
            </td>
            <td>
              <TaskState task={task} />
            </td>
            <td className={styles['name']}>
              <NameLink kind="model" name={task.model} />
            </td>
            <td className={`less ${styles['name']}`}>
              <NameLink kind="user" name={task.user} />
              {task.team !== null && <span className="quiet"> {task.team}</span>}
            </td>
            <td className="less">
              {task.channel === null ? '–' : <NameLink kind="channel" name={task.channel} />}
            </td>
            <td className="less" title={formats.fullTime(task.time)}>
              {formats.time(task.time)}
            </td>
            <td className="less">{last === null ? '–' : formats.time(last)}</td>
            <td className="number less">
              {task.price === null ? (
                say('records.free')
              ) : (
                <span title={partName(task.price.part, say, formats.count)}>
                  <Money amount={task.price.price} width={pricePlaces} />
                </span>
              )}
            </td>
            <td className="number">
              {amount === null ? (
                <span className="quiet">–</span>
              ) : (
                <Money amount={amount} width={places} />
              )}
            </td>
          </tr>
        );
      })}
    </Table>
  );
}

/** Enough of an id to tell tasks apart; whole in the panel. */
const shortId = (id: string) => (id.length > 14 ? `${id.slice(0, 13)}…` : id);
