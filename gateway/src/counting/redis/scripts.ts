import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** One atomic step in Redis. */
export interface Script {
  readonly source: string;
  /** Under which Redis knows it once it has run. */
  readonly sha: string;
}

const read = (name: string): string =>
  readFileSync(new URL(`./${name}.lua`, import.meta.url), 'utf8');

function script(name: string): Script {
  const source = `${read('prelude')}\n${read(name)}`;
  return Object.freeze({ source, sha: createHash('sha1').update(source).digest('hex') });
}

export const scripts = Object.freeze({
  enter: script('enter'),
  admit: script('admit'),
  leave: script('leave'),
  renew: script('renew'),
  hold: script('hold'),
  settle: script('settle'),
  restore: script('restore'),
  forget: script('forget'),
  read: script('read'),
});
