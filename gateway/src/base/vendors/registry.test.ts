import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  isSameVendor,
  knownServers,
  providerNames,
  vendorFacts,
  vendorOf,
  type ChannelAddress,
  type ProviderName,
} from './index.ts';

function at(provider: ProviderName, baseUrl: string): ChannelAddress {
  return { provider, baseUrl };
}
function compatible(baseUrl: string): ChannelAddress {
  return at('openai-compatible', baseUrl);
}

const whoIs = (provider: 'openai' | 'openai-compatible', baseUrl: string) =>
  vendorOf({ provider, baseUrl })?.name;

test('a vendor without a provider value of its own is known by the host of its address', () => {
  expect(whoIs('openai-compatible', 'https://api.groq.com/openai/v1')).toBe('groq');
  expect(whoIs('openai-compatible', 'https://api.x.ai/v1')).toBe('xai');
  expect(
    whoIs('openai-compatible', 'https://generativelanguage.googleapis.com/v1beta/openai'),
  ).toBe('gemini-chat');
  expect(whoIs('openai-compatible', 'https://api.x.ai.example/v1')).toBe('openai-compatible');
  expect(whoIs('openai-compatible', 'http://127.0.0.1:8000/v1')).toBe('openai-compatible');
  expect(whoIs('openai-compatible', 'no address')).toBe('openai-compatible');
  // What the channel says of itself counts first.
  expect(whoIs('openai', 'https://api.x.ai/v1')).toBe('openai');
});

test.each<[string, ChannelAddress, ChannelAddress, boolean]>([
  ['one vendor', at('openai', 'https://a.example'), at('openai', 'https://b.example'), true],
  ['two', at('openai', 'https://a.example'), at('gemini', 'https://a.example'), false],
  ['two servers', compatible('https://a.example/v1'), compatible('https://b.example/v1'), false],
  ['one server', compatible('https://a.example/v1'), compatible('https://a.example/v2'), true],
  [
    'a hosted vendor',
    compatible('https://api.moonshot.ai/v1'),
    compatible('https://api.moonshot.cn/v1'),
    true,
  ],
])('%s behind two channels is recognised', (_, one, other, isOne) => {
  expect(isSameVendor(one, other)).toBe(isOne);
});

test('each known server is known once', () => {
  const hosts = knownServers.map(({ baseUrl }) => new URL(baseUrl).hostname);
  expect(new Set(hosts).size).toBe(hosts.length);
  expect(new Set(knownServers.map(({ name }) => name)).size).toBe(knownServers.length);
});

test('the page of the configuration lists every provider with its facts', () => {
  const url = new URL('../../../../docs/configuration.md', import.meta.url);
  const rows = readFileSync(url, 'utf8').split('\n');
  for (const name of providerNames) {
    const { baseUrl, versionPath, protocols, runsHere } = vendorFacts[name];
    const row = rows.filter((line) => line.startsWith(`| \`${name}\` `)).join('');
    if (baseUrl !== null) expect(row).toContain(`\`${baseUrl}\``);
    if (versionPath !== '') expect(row).toContain(`\`${versionPath}\``);
    expect(row).toContain(runsHere === true ? 'all' : protocols.join(', '));
  }
});
