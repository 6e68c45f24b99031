import type { OpenDatabase } from '#database/index.ts';
import { removeInSteps } from '#usage/index.ts';
import { vendorOf } from '#vendors/index.ts';
import { removeOldTasks } from './counts.repository.ts';
import { createEngine, type Engine } from './engine.ts';
import { createFinder } from './finder.ts';
import { createPace } from './pace.ts';
import { createTally, type TaskParts } from './parts.ts';
import { createReadings } from './readings.ts';
import { createRemover } from './remover.ts';
import { createSubmits } from './submits.ts';
import type { Tasks } from './tasks.ts';

export interface TasksOptions extends Omit<
  TaskParts,
  'owner' | 'pace' | 'results' | 'tally' | 'stop' | 'onEnded' | 'vendorOf'
> {
  /** The id of this node, which no other one has. */
  readonly nodeId: string;
  /** Among which the looks at a channel are shared. */
  readonly liveNodes: () => number;
  /** Null or absent: results are not copied. */
  readonly results?: TaskParts['results'];
  /** Called for each task that has ended here, after it is stored. */
  readonly onEnded?: TaskParts['onEnded'];
}

/** How long a task is kept after its end, in milliseconds. */
const keepFor = 7 * 86_400_000;

/** Begins to follow the tasks that are open. */
export function createTasks(options: TasksOptions): Tasks {
  const { tasks, engine } = assembleTasks(options, vendorOf);
  engine.wake(0);
  return tasks;
}

/** The same, before anything is looked at. @param vendor the vendor at an address */
export function assembleTasks(
  options: TasksOptions,
  vendor: TaskParts['vendorOf'],
): { readonly tasks: Tasks; readonly engine: Engine } {
  const { nodeId, liveNodes, results = null, onEnded = () => {}, ...commonParts } = options;
  const stopping = new AbortController();
  const parts: TaskParts = {
    ...commonParts,
    owner: nodeId,
    results,
    onEnded,
    vendorOf: vendor,
    pace: createPace(commonParts.clock.monotonic, liveNodes),
    tally: createTally(),
    stop: stopping.signal,
  };
  const { readings, count } = createReadings(parts);
  const submits = createSubmits(parts, (dueAt) => engine.wake(dueAt));
  const engine = createEngine(parts, {
    submitting: () => submits.openIds,
    count,
    onStop: () => stopping.abort(),
  });
  const stopRemoving = removeWhenOld(parts.database, parts.log);
  const tasks: Tasks = {
    create: submits.create,
    accept: submits.accept,
    refuse: submits.refuse,
    ...createFinder(parts),
    remove: createRemover(parts),
    findResult: async (link) => (await parts.results?.find(link)) ?? null,
    readings,
    async close() {
      stopRemoving();
      submits.stop();
      await Promise.all([engine.close(), parts.results?.close()]);
    },
  };
  return { tasks, engine };
}

/** Removes old tasks in small steps. Returns a function that stops it. */
function removeWhenOld(database: OpenDatabase, log: TaskParts['log']): () => void {
  return removeInSteps(
    'tasks that ended a week ago',
    (today, most) => removeOldTasks(database, today - keepFor, most),
    (message) => log.warn('old tasks were not removed', { component: 'tasks', detail: message }),
  );
}
