import { isRecord, type JsonRecord } from '../../shared/values.ts';

/** A call whose arguments come value by value, which clients can request. */
export interface PartialCall {
  readonly call: number;
  readonly args: Record<string, unknown>;
}

/** Adds one part. Each entry has a place and a piece of its value. Pieces of a text are joined. */
export function addArguments(target: Record<string, unknown>, entries: unknown): void {
  for (const entry of Array.isArray(entries) ? entries.filter(isRecord) : []) {
    const { jsonPath } = entry;
    const path = typeof jsonPath === 'string' ? steps(jsonPath) : [];
    if (path.length > 0) put(target, path, valueOf(entry));
  }
}

function valueOf(entry: JsonRecord): unknown {
  const { stringValue, numberValue, boolValue } = entry;
  return stringValue ?? numberValue ?? boolValue ?? null;
}

type Step = string | number;

/** `$.a.b[0]['c d']` */
function steps(path: string): Step[] {
  const pathSteps = path.matchAll(/\.([^.[\]]+)|\[(\d+)\]|\[(?:'([^']*)'|"([^"]*)")\]/g);
  return Array.from(pathSteps, ([, name, index, single, double]) =>
    index === undefined ? (name ?? single ?? double ?? '') : Number(index),
  );
}

/** Arguments are the model's data: no name in them may reach a prototype, no index may create a huge list. */
function put(target: Record<string, unknown>, path: readonly Step[], value: unknown): void {
  let at: object = target;
  for (const [place, step] of path.entries()) {
    if (Array.isArray(at) && (typeof step !== 'number' || step > at.length)) return;
    const before: unknown = Object.getOwnPropertyDescriptor(at, step)?.value;
    if (place === path.length - 1) {
      const joined =
        typeof before === 'string' && typeof value === 'string' ? before + value : value;
      define(at, step, joined);
      return;
    }
    const fresh: object = typeof path[place + 1] === 'number' ? [] : {};
    const next = typeof before === 'object' && before !== null ? before : fresh;
    if (next !== before) define(at, step, next);
    at = next;
  }
}

function define(target: object, name: Step, value: unknown): void {
  const rights = { enumerable: true, configurable: true, writable: true };
  Object.defineProperty(target, name, { value, ...rights });
}
