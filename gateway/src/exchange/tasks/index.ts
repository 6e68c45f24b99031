export { createTasks, type TasksOptions } from './create-tasks.ts';
export { listTasks, type TaskEntry, type TaskFilter } from './operator-list.repository.ts';
export type { TaskReadings } from './readings.ts';
export type { FoundResult } from './results/kept-results.ts';
export { createResults } from './results/results.ts';
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
