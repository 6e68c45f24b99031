import { LossList } from '#canonical/index.ts';
import { expect, test } from 'vitest';
import { lossCodes, lossHeader } from './losses.ts';

test('each loss once, by name, in a header of one line', () => {
  const losses = new LossList();
  losses.dropped('seed');
  losses.approximated('stop');
  losses.add('a\r\nb: c', 'dropped');
  losses.dropped('seed');
  expect(lossHeader(losses.all())).toBe('dropped=a__b__c,seed; approx=stop');
  expect(lossCodes(losses.all())).toEqual(['dropped:a__b__c', 'dropped:seed', 'approximated:stop']);
  expect(lossHeader([])).toBeNull();
});

test('a client may invent many, but no more than fit a header', () => {
  const losses = new LossList();
  const dropped = (what: string) => losses.add(what, 'dropped');
  for (let at = 0; at < 1000; at += 1) dropped('x'.repeat(100) + at);
  for (let at = 0; at < 1000; at += 1) dropped(`field_${at}`);
  const header = lossHeader(losses.all());
  expect(header?.length).toBeLessThan(2400);
  // The first 1,000 are one by their beginnings.
  expect(header).toMatch(/,\+969$/);
});
