import { expect, test } from 'vitest';
import { renameAliases } from './request-head.ts';

test.each([
  [{ 'vendorb-version': '2026-10-21' }, { 'anthropic-version': '2026-10-21' }],
  [
    { 'vendorb-version': '2026-10-21', 'anthropic-version': '' },
    { 'anthropic-version': '2026-10-21' },
  ],
  [
    { 'vendorb-version': '2026-10-21', 'anthropic-version': '2023-06-01' },
    { 'anthropic-version': '2023-06-01' },
  ],
  [{ 'vendorb-version': '' }, { 'anthropic-version': '' }],
  [{ 'x-vendord-async': 'enable' }, { 'x-dashscope-async': 'enable' }],
  [{ accept: '*/*' }, { accept: '*/*' }],
])('%j is read as %j', (sent, read) => {
  const headers = { ...sent };
  renameAliases(headers);
  expect(headers).toEqual(read);
});
