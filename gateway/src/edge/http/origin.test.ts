import { expect, test } from 'vitest';
import { isKnownHost } from './origin.ts';

test.each([
  undefined,
  'localhost',
  'LOCALHOST:8080',
  '127.0.0.1:8080',
  '10.1.2.3',
  '[::1]',
  '[2001:db8::1]:443',
  'ai.example.com',
  'AI.example.com:8443',
])('only this gateway can be %s', (host) => {
  expect(isKnownHost(host, 'https://AI.example.com/base')).toBe(true);
});

test.each([
  '',
  'evil.example',
  'x',
  'localhost.evil.example',
  'localhost@evil.example',
  'ai.example.com.evil.example',
  '127.0.0.1.evil.example',
  '127.0.0.1:8080:1',
  'localhost:',
  '[::1',
  '[x]',
  'localhost, evil.example',
  'a'.repeat(300),
])('%j may resolve here from anywhere', (host) => {
  expect(isKnownHost(host, 'https://ai.example.com')).toBe(false);
  expect(isKnownHost('ai.example.com', null)).toBe(false);
});
