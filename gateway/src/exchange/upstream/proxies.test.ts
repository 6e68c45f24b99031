import { expect, test } from 'vitest';
import { createProxies } from './proxies.ts';

const [http, https] = ['http://one:3128/', 'http://two:3128/'];
const through = (noProxy: string) =>
  createProxies({ http, https, direct: noProxy.split(',').filter((entry) => entry !== '') });

test('the scheme chooses the proxy, and the channel overrides it', () => {
  const proxies = through('');
  expect(proxies.of('http://a.example', null)).toBe(http);
  expect(proxies.of('https://a.example', null)).toBe(https);
  expect(proxies.of('https://a.example', 'http://own:1/')).toBe('http://own:1/');
  expect(proxies.of('https://a.example', 'direct')).toBeNull();
  const none = createProxies({ http: null, https: null, direct: [] });
  expect(none.of('https://a.example', null)).toBeNull();
  expect(none.of('https://a.example', 'http://own:1/')).toBe('http://own:1/');
  expect(none.of('https://a.example', 'direct')).toBeNull();
});

test('an exception holds for the proxies of the environment only', () => {
  expect(through('*').of('https://a.example', 'http://own:1/')).toBe('http://own:1/');
});

test.each([
  ['*', 'https://a.example'],
  ['b.example,a.example', 'https://a.example'],
  ['A.Example', 'https://a.example.'],
  ['example', 'https://a.example'],
  ['.a.example', 'https://a.example'],
  ['.a.example', 'https://b.a.example'],
  ['*.a.example', 'https://b.a.example'],
  ['a.example:8443', 'https://a.example:8443'],
  ['a.example:443', 'https://a.example'],
  ['*:80', 'http://a.example'],
  ['127.0.0.1', 'http://127.0.0.1:8000'],
  ['10.0.0.0/8', 'http://10.1.2.3'],
  ['10.0.0.0/8:80', 'http://10.1.2.3'],
  ['::1', 'http://[::1]:8000'],
  ['[::1]:8000', 'http://[::1]:8000'],
  ['fd00::/8', 'http://[fd12::1]'],
])('NO_PROXY=%s: %s is reached directly', (noProxy, origin) => {
  expect(through(noProxy).of(origin, null)).toBeNull();
});

test.each([
  ['', 'https://a.example'],
  ['a.example', 'https://b.example'],
  ['a.example', 'https://ba.example'],
  ['*.a.example', 'https://a.example'],
  ['a.example:8443', 'https://a.example'],
  ['*:80', 'https://a.example'],
  ['10.0.0.0/8', 'http://11.1.2.3'],
  ['10.0.0.0/8', 'http://10.example'],
  ['127.0.0.1', 'http://[::1]'],
  ['[::1]:8000', 'http://[::1]:8001'],
])('NO_PROXY=%s: %s is reached through the proxy', (noProxy, origin) => {
  expect(through(noProxy).of(origin, null)).not.toBeNull();
});
