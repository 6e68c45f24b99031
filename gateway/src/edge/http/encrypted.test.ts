import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { createIsEncrypted } from './encrypted.ts';

const proxy = { remoteAddress: '192.168.0.9' };
const other = { remoteAddress: '10.1.1.1' };

test.each([
  ['a connection with TLS', { ...other, encrypted: true }, 'http', [], true],
  ['one without', other, undefined, [], false],
  ['one that claims it itself', other, 'https', [], false],
  ['one that claims it itself, beside a proxy', other, 'https', ['192.168.0.9'], false],
  ['a trusted proxy that reports it', proxy, 'https', ['192.168.0.0/16'], true],
  ['a trusted proxy that reports otherwise', proxy, 'http', ['192.168.0.0/16'], false],
  ['a trusted proxy that reports nothing', proxy, undefined, ['192.168.0.0/16'], false],
  ['nobody any more', {}, 'https', ['192.168.0.0/16'], false],
])('from %s', (_what, socket, said, trusted, expected) => {
  const request = { socket, headers: { 'x-forwarded-proto': said } };
  expect(createIsEncrypted(trusted)(request as unknown as IncomingMessage)).toBe(expected);
});
