import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** A script that Redis runs atomically. */
export interface Script {
  readonly source: string;
  /** The hash under which Redis knows the script once it has run. */
  readonly sha: string;
}

const steps = ['admit', 'leave', 'renew', 'count', 'look'] as const;
/** The steps of a batch. Each has a file in `steps/` that says what it takes and replies. */
export type Step = (typeof steps)[number];

const read = (name: string): string =>
  readFileSync(new URL(`./${name}.lua`, import.meta.url), 'utf8');

function script(...parts: readonly string[]): Script {
  const source = parts.join('\n');
  return Object.freeze({ source, sha: createHash('sha1').update(source).digest('hex') });
}

const stepFunctions = steps.map(
  (step) => `steps.${step} = function(keys, values, now)\n${read(`steps/${step}`)}end`,
);

export const scripts = Object.freeze({
  enter: script(read('prelude'), read('enter')),
  batch: script(read('prelude'), 'local steps = {}', ...stepFunctions, read('batch')),
});
