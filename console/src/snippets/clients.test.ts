import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { clientNames, clientSnippet } from './clients.ts';

const page = readFileSync(new URL('../../../docs/clients.md', import.meta.url), 'utf8');

/** The part of the page below the heading of a client. */
function partOf(name: string): string {
  const [, rest = ''] = page.split(`\n## ${name}\n`);
  return rest.split('\n## ')[0] ?? '';
}

/** The formatter of the documentation prefers other quotes. */
const plain = (text = '') => text.replaceAll('"', "'");

test.each(clientNames)('docs/clients.md has the steps of %s as the console shows them', (name) => {
  const { steps, tried } = clientSnippet(name, {
    url: 'http://127.0.0.1:8080',
    model: 'demo-chat',
    key: 'sk-your-key',
  });
  const blocks = Array.from(partOf(name).matchAll(/```\w+\n([\s\S]*?)\n```/g), ([, text]) => text);
  expect(blocks.map(plain)).toEqual(steps.map(({ text }) => plain(text)));
  const row = page.split('\n').find((line) => line.startsWith(`| [${name}](`));
  expect(row).toContain(tried ?? 'not tried');
});
