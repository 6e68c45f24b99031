import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { bundledModelsOf } from '#catalogue/bundled.ts';
import { list, readPackage, vendors, type VendorPrices } from './vendor-prices.ts';

/*
 * `npm run catalogue` writes the list anew after an update of the package. Until then these tests name each model whose
 * price is another one there.
 */

const kept = JSON.parse(readFileSync(list, 'utf8')) as VendorPrices;
const read = readPackage(kept.date);

test('the list is that of the installed package', () => {
  expect(kept.source).toBe(read.source);
});

/** Of the bundled list, where it knows better. */
const differences: Readonly<Record<string, string>> = {
  'claude-sonnet-4-5':
    'has a dearer tier there, for the window of a million that a beta header opens',
  'gpt-5.4': 'its tier begins a token earlier there',
  'gpt-4.1': 'searches of older models cost more',
  'gpt-4.1-mini': 'searches of older models cost more',
  'gpt-4.1-nano': 'searches of older models cost more',
  'gpt-4o': 'searches of older models cost more',
  'gpt-4o-mini': 'searches of older models cost more',
};

describe.each(vendors)('%s', (vendor) => {
  const models = bundledModelsOf(vendor).filter(
    ({ id }) => kept.providers[vendor]?.[id] !== undefined,
  );

  test.each(models)('$id', ({ id, contextWindow, price }) => {
    const listed = read.providers[vendor]?.[id];
    expect(listed).toEqual(kept.providers[vendor]?.[id]);
    expect(contextWindow).toBeGreaterThan(0);
    // The package has no searches of Gemini's.
    const { fees, ...tokens } = price ?? {};
    const own = vendor === 'gemini' ? tokens : { ...tokens, ...(fees !== undefined && { fees }) };
    if (differences[id] === undefined) expect(own).toEqual(listed?.price);
    else expect(own).not.toEqual(listed?.price);
  });
});
