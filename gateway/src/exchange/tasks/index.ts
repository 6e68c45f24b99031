export { createTasks, type TasksOptions } from './create-tasks.ts';
export { isFree, leaseEnd, leaseFor, leaseMilliseconds } from './lease.repository.ts';
export {
  countTasks,
  findTask,
  listTasks,
  type TaskDetail,
  type TaskEntry,
  type TaskFilter,
  type TaskKind,
} from './operator-list.repository.ts';
export type { TaskReadings } from './readings.ts';
export { readResultSource, type ResultSource } from './result-source.repository.ts';
export type { CopyTally, FoundResult, PresentedLink, Results } from './results.ts';
export type {
  AcceptedTask,
  NewTask,
  OpenTask,
  TaskOwner,
  TaskPage,
  TaskQuery,
  TaskRefusal,
  Tasks,
} from './tasks.ts';
