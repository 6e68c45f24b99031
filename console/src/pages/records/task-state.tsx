import type { Result } from '../../api/client.ts';
import { Icon } from '../../pieces/icon.tsx';
import { useWords, type TextName } from '../../words/index.ts';
import { en } from '../../words/en.ts';

type Task = Result<'listTasks'>['data'][number];

const looks: Readonly<Record<string, 'fine' | 'failed' | 'neutral' | 'warned'>> = {
  succeeded: 'fine',
  failed: 'failed',
  expired: 'warned',
};
const shapes = { fine: 'tick', failed: 'cross', warned: 'warning', neutral: 'ring' } as const;

/** How a task is, in a word and a shape. Of an open one also that nothing has been heard of it. */
export function TaskState({
  task,
}: {
  readonly task: Pick<Task, 'state' | 'failed_looks' | 'lost'>;
}) {
  const say = useWords();
  const { state, failed_looks: failedLooks, lost } = task;
  const isSilent = failedLooks > 0 && looks[state] === undefined;
  const look = isSilent ? 'warned' : (looks[state] ?? 'neutral');
  const text = Object.hasOwn(en.records.states, state)
    ? say(`records.states.${state}` as TextName)
    : state;
  return (
    <span className={`outcome ${look}`}>
      <Icon name={shapes[look]} size={12} />
      <span>
        {text}
        {isSilent && `, ${say('records.failedLooks', { count: failedLooks })}`}
        {lost !== null && `, ${say('records.madeLater')}`}
      </span>
    </span>
  );
}
