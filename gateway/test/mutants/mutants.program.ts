import { spawnSync } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { seededRandom } from '../support/seeded-random.ts';

/*
 * Changes one line of the source at a time and runs the tests that are related to its file: a change that no test finds
 * stands for a promise that nobody keeps. Arguments: a seed, how many changes, and part of the files' paths.
 */

const [seed = '1', most = '10', part = ''] = process.argv.slice(2);
const random = seededRandom(Number(seed));
const draw = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;

/** Beyond this time, the related tests hang. */
const mostMs = 1_800_000;

interface Change {
  readonly file: string;
  readonly line: number;
  readonly before: string;
  readonly after: string;
}

/** One small change each; null where it does not apply to the line. */
const kinds: readonly ((line: string) => string | null)[] = [
  (line) => replaced(line, /\bif \((.*)\)( \{| return.*;| continue;| throw.*;)$/, 'if (!($1))$2'),
  (line) => replaced(line, /^\s+(?:await |void )?[\w.#[\]]+(?:\(.*\)| [-+]?= .*);$/, ''),
  (line) => replaced(line, /(?<=[ (-])(\d[\d_]*)(?=[;,) ])/, '($1 + 1)'),
  (line) => replaced(line, / (===|<|<=|>|>=) /, ' !== '),
];

function replaced(line: string, pattern: RegExp, by: string): string | null {
  return pattern.test(line) ? line.replace(pattern, by) : null;
}

function isProgram(text: string): boolean {
  try {
    stripTypeScriptTypes(text);
    return true;
  } catch {
    return false;
  }
}

/** A change of a random line that leaves a program; null: none of its lines can be changed so. */
function changeOf(file: string): Change | null {
  const lines = readFileSync(file, 'utf8').split('\n');
  for (let tries = 0; tries < 50; tries += 1) {
    const at = Math.floor(random() * lines.length);
    const before = lines[at]!;
    const after = draw(kinds)(before);
    if (after === null || after === before || /^\s*(?:\/\/|\*|\/\*)/.test(before)) continue;
    if (isProgram(lines.with(at, after).join('\n'))) return { file, line: at + 1, before, after };
  }
  return null;
}

/** Whether a test fails with it. */
function isFound({ file, line, after }: Change): boolean {
  const text = readFileSync(file, 'utf8');
  try {
    writeFileSync(
      file,
      text
        .split('\n')
        .with(line - 1, after)
        .join('\n'),
    );
    const related = ['vitest', 'related', '--run', '--bail', '1', '--reporter', 'dot', file];
    const ended = spawnSync('npx', related, { stdio: 'ignore', timeout: mostMs });
    if (ended.signal === 'SIGINT' || ended.status === 130) throw new Error('interrupted');
    if (ended.error !== undefined && ended.signal === null) throw ended.error;
    // A hang is a failure too.
    return ended.status !== 0;
  } finally {
    writeFileSync(file, text);
  }
}

if (spawnSync('git', ['diff', '--quiet', '--', 'gateway/src']).status !== 0) {
  throw new Error(
    'gateway/src has changes: commit them first, because its files are changed and put back',
  );
}
// The tests end, and the file is put back.
process.on('SIGINT', () => {});
const files = globSync('gateway/src/**/*.ts')
  .filter((file) => !file.endsWith('.test.ts') && file.includes(part))
  .toSorted();
const changes: Change[] = [];
for (let tries = 0; changes.length < Number(most) && tries < 10_000; tries += 1) {
  const change = changeOf(draw(files));
  if (change !== null) changes.push(change);
}
let found = 0;
for (const change of changes) {
  const isIt = isFound(change);
  found += Number(isIt);
  const { file, line, before, after } = change;
  const verdict = isIt ? 'found    ' : 'NOT FOUND';
  process.stdout.write(`${verdict} ${file}:${line}\n  - ${before.trim()}\n  + ${after.trim()}\n`);
}
process.stdout.write(`${found} of ${changes.length} found, seed ${seed}\n`);
