import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { clientNames, clientSnippet } from '../../../console/src/snippets/clients.ts';
import { en } from '../../../console/src/words/en.ts';

/* docs/clients.md and the console show the same steps. */

const page = await readFile(resolve(import.meta.dirname, '../../../docs/clients.md'), 'utf8');
const place = { url: 'http://127.0.0.1:8080', model: 'demo-chat', key: 'sk-YourKey' };

/** The formatter of the page chooses the quotes in it. */
const withoutQuotes = (text: string) => text.replaceAll(/["']/g, '"');
const sectionOf = (name: string) => page.split(`\n## ${name}\n`)[1]?.split('\n## ')[0] ?? '';
const rowOf = (name: string) =>
  page.split('\n').find((line) => line.startsWith(`| [${name}](`)) ?? '';

test.each(clientNames)('%s: its section has the steps of the console', (name) => {
  const { steps, tried } = clientSnippet(name, place);
  const section = sectionOf(name);
  const blocks = Array.from(section.matchAll(/^```\w+\n(.*?)\n```$/gms), ([, text = '']) =>
    withoutQuotes(text),
  );
  expect(blocks.slice(0, steps.length)).toEqual(steps.map(({ text }) => withoutQuotes(text)));
  for (const { place: where } of steps) {
    expect(section).toContain(
      'file' in where ? `\`${where.file}\`` : en.clients.places[where.named],
    );
  }
  expect(rowOf(name)).toContain(`| ${tried ?? 'not tried'} `);
});

test('the page has no other clients in its table than the console', () => {
  const names = Array.from(page.matchAll(/^\| \[(.+?)\]\(/gm), ([, name]) => name);
  expect(names).toEqual(clientNames);
});
