import { expect, test } from 'vitest';
import { lossCodes, lossHeader, LossList } from './losses.ts';

test('each loss once, by name, in a header that is one line', () => {
  const losses = new LossList();
  losses.dropped('seed');
  losses.approximated('json');
  losses.dropped('a\r\nb: c');
  losses.dropped('seed');
  expect(lossHeader(losses.all())).toBe('dropped=a__b__c,seed; approx=json');
  expect(lossCodes(losses.all())).toEqual(['dropped:a__b__c', 'approximated:json', 'dropped:seed']);
  expect(lossHeader([])).toBeNull();
});

test('as many as a client may invent, no more than a header holds', () => {
  const losses = new LossList();
  for (let at = 0; at < 1000; at += 1) losses.dropped('x'.repeat(100) + at);
  for (let at = 0; at < 1000; at += 1) losses.dropped(`field_${at}`);
  expect(lossHeader(losses.all())?.length).toBeLessThan(2400);
});
