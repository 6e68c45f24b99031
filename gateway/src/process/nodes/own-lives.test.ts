import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { addLife, forgetLives, livesOf } from './own-lives.ts';

let dataDir: string;
let file: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'sluice-lives-'));
  file = join(dataDir, 'lives');
});
afterEach(() => rmSync(dataDir, { recursive: true }));

const rewrite = (change: (text: string) => string): void =>
  writeFileSync(file, change(readFileSync(file, 'utf8')));

test('a folder remembers its lives until they are forgotten', () => {
  expect(livesOf(dataDir)).toEqual({ ended: [], doubtful: [] });
  const lives = [addLife(dataDir), addLife(dataDir), addLife(dataDir)];
  expect(livesOf(dataDir)).toEqual({ ended: lives, doubtful: [] });
  forgetLives(dataDir, [lives[1]!]);
  const last = addLife(dataDir);
  expect(livesOf(dataDir).ended).toEqual([lives[0], lives[2], last]);
});

test('a copy of the folder proves nothing', () => {
  addLife(dataDir);
  const copy = mkdtempSync(join(tmpdir(), 'sluice-lives-'));
  copyFileSync(file, join(copy, 'lives'));
  expect(livesOf(copy)).toEqual({ ended: [], doubtful: [] });
  rmSync(copy, { recursive: true });
});

test.each([
  [
    'a clone of the disk on another machine',
    (text: string) => text.replace(/ \S+\//, ' other-run/'),
  ],
  ['another device', (text: string) => text.replace(/\/\d+\n/, '/0\n')],
  ['an earlier version', (text: string) => text.replace(/ \S+\n/, '\n')],
])('%s proves nothing for sure, also after lives were forgotten', (_, change) => {
  const [old, other] = [addLife(dataDir), addLife(dataDir)];
  rewrite(change);
  expect(livesOf(dataDir)).toEqual({ ended: [other], doubtful: [old] });
  forgetLives(dataDir, [other]);
  expect(livesOf(dataDir)).toEqual({ ended: [], doubtful: [old] });
});

test('a crash while lives are forgotten leaves the file as it was', () => {
  const lives = [addLife(dataDir), addLife(dataDir)];
  // What the crash leaves behind is in the way of nobody.
  writeFileSync(`${file}.new`, 'life_0');
  expect(livesOf(dataDir).ended).toEqual(lives);
  forgetLives(dataDir, [lives[0]!]);
  expect(livesOf(dataDir).ended).toEqual([lives[1]]);
});
