import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { isObject, parseJson } from '../json.ts';
import type { Task } from './task.ts';

/** Where tasks outlive the process: a line of JSON for each, without its body. Several processes may share it. */
export interface TaskFile {
  add(task: Task): void;
  /** The newest ones, oldest first. */
  read(): readonly Task[];
}

const mostRead = 10_000;

export function openTaskFile(path: string): TaskFile {
  return {
    add: (task) => appendFileSync(path, `${JSON.stringify({ ...task, body: {} })}\n`),
    read() {
      if (!existsSync(path)) return [];
      const lines = readFileSync(path, 'utf8').split('\n').slice(-mostRead);
      return lines.map(parseJson).filter(isObject).map(toTask);
    },
  };
}

/** `Infinity` is null in JSON. */
function toTask(line: Record<string, unknown>): Task {
  const task = line as unknown as Task;
  return { ...task, expiresAt: task.expiresAt ?? Infinity };
}
