import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

/*
 * S-08: `===` ends at the first character that differs, and its time tells how far a guess was right. A secret of ours
 * is looked up by its keyed hash, or compared by `timingSafeEqual`.
 */

const source = path.resolve(import.meta.dirname, '../../src');

const secretName = /(?:secret|password|hash|signature|digest|token|apiKey|masterKey)\)?$/i;
const isConstant = (side: string): boolean => /^(?:null|undefined|true|false|-?\d|['"])/.test(side);

/** Whether a line compares something that is called a secret with anything but a constant. */
function compares(line: string): boolean {
  const sides = line.matchAll(/(typeof )?([\w.?'")\]]+) [!=]==? ([\w.?'"-]+)/g);
  return Array.from(sides).some(
    ([, type, left = '', right = '']) =>
      type === undefined &&
      !isConstant(left) &&
      !isConstant(right) &&
      (secretName.test(left) || secretName.test(right)),
  );
}

/** Nobody who could measure the time chooses one of the two. */
const unmeasured: Readonly<Record<string, string>> = {
  'access/identity/keys.repository.ts': 'existing?.hash === columns.hash',
  'exchange/routing/channel-state.ts': 'each.secret === secret',
  'edge/endpoints/authentication.ts': 'value === secret',
};

test('no secret is compared by its characters', () => {
  for (const example of ['given === secret', 'row.hash !== hash', 'if (token == own) {']) {
    expect([example, compares(example)]).toEqual([example, true]);
  }
  for (const example of ['secret === null', "typeof secret === 'string'", "password !== ''"]) {
    expect([example, compares(example)]).toEqual([example, false]);
  }
  const found = globSync('{access,edge,process,store}/**/*.ts', {
    cwd: source,
  })
    .filter((file) => !file.endsWith('.test.ts'))
    .flatMap((file) =>
      readFileSync(path.join(source, file), 'utf8')
        .split('\n')
        .filter((line) => compares(line) && !/^\s*(?:\/\/|\*|\/\*)/.test(line))
        .filter((line) => !line.includes(unmeasured[file] ?? '\0'))
        .map((line) => `${file}: ${line.trim()}`),
    );
  expect(found).toEqual([]);
});
