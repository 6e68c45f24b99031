import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { createSecrets } from '#database/index.ts';
import type { PresentedLink } from '#tasks/index.ts';
import { judgeLink, signedLink } from './links.ts';

const secrets = createSecrets(Buffer.alloc(32, 'a'));
const expiresAt = 1_795_000_000_500;

function presented(link: string): PresentedLink {
  const { pathname, searchParams } = new URL(link);
  const [, , , task = '', name = ''] = pathname.split('/');
  return {
    task,
    name,
    expires: searchParams.get('expires') ?? '',
    signature: searchParams.get('signature') ?? '',
  };
}

const link = signedLink(secrets, 'https://ai.example.com/', {
  task: 't1',
  name: 'video.mp4',
  expiresAt,
});

test('a link is valid until its second, and expired from then on', () => {
  expect(judgeLink(secrets, presented(link), 1_794_999_999_999)).toBe('valid');
  expect(judgeLink(secrets, presented(link), 1_795_000_000_000)).toBe('expired');
});

test('the same link is made every time', () => {
  const again = { task: 't1', name: 'video.mp4', expiresAt };
  expect(signedLink(secrets, 'https://ai.example.com', again)).toBe(link);
});

test('another master key signs other links', () => {
  const others = createSecrets(randomBytes(32));
  expect(judgeLink(others, presented(link), 0)).toBe('forged');
});

test.each<Partial<PresentedLink>>([
  { task: 't2' },
  { name: 'video.mov' },
  { expires: '1795000001' },
  { expires: '01795000000' },
  { signature: '' },
  { signature: 'ä'.repeat(22) },
  { signature: `${presented(link).signature}A` },
])('forged: %j', (change) => {
  expect(judgeLink(secrets, { ...presented(link), ...change }, 0)).toBe('forged');
});
