import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { protocolNames } from '#canonical/index.ts';

/*
 * What has to be known of a protocol is stated in its folder (`facts.ts`). Whoever compares a protocol's name instead
 * knows something that the next protocol's folder will not say.
 */

const source = path.resolve(import.meta.dirname, '../../src');

/** Where names of protocols stand by right: each in its own folder, and in the places that list them. */
const home = (file: string, name: string): boolean =>
  file.startsWith(`wire/protocols/${name}/`) ||
  /^(base\/canonical|base\/vendors|edge\/endpoints|edge\/console-api\/contract)\//.test(file);

/** Files that name protocols for a reason of their own. */
const reasons: Readonly<Record<string, string>> = {
  'wire/protocols/index.ts': 'the table of protocols',
  'wire/protocols/image-codecs.ts': 'the table of those with pictures',
  'wire/protocols/text-facts.ts': 'the table of facts',
  'process/commands/greeting.ts': 'a first call in each protocol, to copy',
  'exchange/relay/relay.ts': 'the table of operations',
  'exchange/relay/text/route-request.ts': 'the echo of reasoning is a matter of chat alone',
  'exchange/relay/images/converted/converted-requests.ts':
    'edits by form are a matter of images alone',
  'exchange/tasks/task-row.ts': 'one dialect of video counts seconds, the other one tokens',
  'money/billing/task-charge.ts': 'the same',
  'money/billing/video-bound.ts': 'the same',
};

interface Found {
  readonly file: string;
  readonly name: string;
}

const names = protocolNames.join('|');
/** Comparisons and cases; `type === 'chat'` is about models, `key` about members. */
const comparison = new RegExp(
  `(?<!\\b(?:type|key) )(?:===|!==) '(${names})'|\\bcase '(${names})':|'(${names})' (?:===|!==)`,
  'g',
);
/** No other thing of the gateway is called so. */
const plain = /'(generate-content)'/g;

const files = globSync('**/*.ts', { cwd: source }).filter((file) => !file.endsWith('.test.ts'));
const found: readonly Found[] = files.flatMap((file) => {
  const text = readFileSync(path.join(source, file), 'utf8');
  return [...text.matchAll(comparison), ...text.matchAll(plain)]
    .map((match) => ({ file, name: match.slice(1).find(Boolean) ?? '' }))
    .filter(({ name }) => !home(file, name));
});

describe('a protocol’s name', () => {
  test('is compared only in its own folder, and where a reason says why', () => {
    const strangers = found.filter(({ file }) => reasons[file] === undefined);
    // A type of model has the name of the protocol.
    expect(strangers.filter(({ file }) => file !== 'access/catalogue/prices.ts')).toEqual([]);
  });

  test('has no reason that nobody needs', () => {
    const used = new Set(found.map(({ file }) => file));
    expect(Object.keys(reasons).filter((file) => !used.has(file))).toEqual([]);
  });
});
