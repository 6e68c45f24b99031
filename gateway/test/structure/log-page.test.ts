import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

/* An operator who reads a message in the log finds it, with what to do, in docs/observability.md. */

const root = resolve(import.meta.dirname, '../../..');
const sources = globSync('gateway/src/**/*.ts', { cwd: root })
  .filter((file) => !file.endsWith('.test.ts'))
  .map((file) => readFileSync(join(root, file), 'utf8'));

interface Message {
  /** Up to its first varying part. */
  readonly beginning: string;
  readonly varies: boolean;
}

const varying = /\$\{|…/;
const messageOf = (text: string): Message => ({
  beginning: text.split(varying, 1)[0]!,
  varies: varying.test(text),
});

/** The messages that are logged at these levels. */
function logged(levels: string): Message[] {
  const call = new RegExp(`\\blog(?:ger)?\\.(?:${levels})\\(\\s*(['"\`])((?:(?!\\1)[^])*)\\1`, 'g');
  return sources.flatMap((source) =>
    Array.from(source.matchAll(call), ([, , text = '']) => messageOf(text)),
  );
}

/** Of the table of messages: its rows have a level. */
const documented = readFileSync(join(root, 'docs/observability.md'), 'utf8')
  .split('\n')
  .filter((line) => /^\| `[^|]*\| (?:30|40|50) /.test(line))
  .flatMap((line) => Array.from(line.split('|')[1]!.matchAll(/`([^`]+)`/g), ([, text]) => text!))
  .map(messageOf);

/** The page has the message, or what it begins with. */
const describes = (row: Message, message: Message): boolean =>
  message.beginning.startsWith(row.beginning) ||
  // One that is put together, such as what happened to a channel, has several rows.
  (message.varies && row.beginning.startsWith(message.beginning));

test('every warning and error of the log is on the page of observability', () => {
  const messages = logged('warn|error');
  expect(messages.length).toBeGreaterThan(20);
  const missing = messages.filter((message) => !documented.some((row) => describes(row, message)));
  expect(missing).toEqual([]);
});

test('every message on the page of observability is in the source', () => {
  const messages = logged('info|warn|error');
  const stale = documented.filter(
    (row) =>
      !messages.some((message) => {
        if (!describes(row, message)) return false;
        const rest = row.beginning.slice(message.beginning.length).trim();
        return sources.some((source) => source.includes(rest));
      }),
  );
  expect(stale).toEqual([]);
});
