import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

const root = path.resolve(import.meta.dirname, '../../..');

/** Every tracked file that is text, with its lines. */
const texts = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' })
  .split('\0')
  .filter((file) => file !== '' && existsSync(path.join(root, file)))
  .map((file) => ({ file, text: readFileSync(path.join(root, file), 'utf8') }))
  .filter(({ text }) => !text.includes('\0'));

function places(pattern: RegExp, within = /./): string[] {
  return texts
    .filter(({ file }) => within.test(file))
    .flatMap(({ file, text }) =>
      text
        .split('\n')
        .map((line, at) => ({ line, at }))
        .filter(({ line }) => pattern.test(line))
        .map(({ line, at }) => `${file}:${at + 1}: ${line.trim().slice(0, 120)}`),
    );
}

/** Not after a host name or another path segment, where the same word is somebody's URL. */
const machinePath = /(?<![\w.})-])\/(?:work|home|root|Users)\/[\w.-]/;
const registryHost =
  /\b(?:registry|npm|artifactory|nexus)\.[a-z0-9-]+\.(?:com|org|net|io|dev|cn|internal|local)\b/;
describe('the tracked text', () => {
  test('exists', () => expect(texts.length).toBeGreaterThan(20));

  test.each([
    ['a path of somebody’s machine', machinePath, `read ${['', 'home', 'ada', 'x'].join('/')}`],
    ['the host of a package registry', registryHost, ['registry', 'npmjs', 'org'].join('.')],
  ])('never names %s', (_, pattern, example) => {
    expect(example).toMatch(pattern);
    expect(places(pattern)).toEqual([]);
  });
});
