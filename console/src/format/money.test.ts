import { expect, it } from 'vitest';
import { exactMoney, placesOf, shortMoney } from './money.ts';

it.each([
  ['0.0002314', '0.000', '2314'],
  ['0.042081248', '0.0', '4208'],
  ['0.114727050', '0.', '1147'],
  ['12.3456', '', '12.35'],
  ['1234.5', '', '1,234'],
  ['2987.43', '', '2,987'],
  ['999.994', '', '999.99'],
  ['0', '0.00', ''],
  ['0.5', '0.', '50'],
  ['0.000000004', '0.00000000', '4'],
])('shows %s as %s and %s', (amount, quiet, ink) => {
  expect(shortMoney(amount)).toMatchObject({ quiet, ink, sign: '' });
});

it('pads with hidden zeros up to the places of the column', () => {
  expect(shortMoney('1.25', 6).padding).toBe('0000');
  expect(shortMoney('2987.43', 6).padding).toBe('.000000');
});

it('keeps every digit of an exact amount', () => {
  expect(exactMoney('0.042081248')).toMatchObject({ quiet: '0.0', ink: '42081248' });
  expect(exactMoney('1234567.5')).toMatchObject({ quiet: '', ink: '1,234,567.50' });
});

it.each([
  [['12566', '25'], 2],
  [['2987.43', '5600'], 0],
  [['0.00000295', null, '0.425'], 8],
  [[], 0],
])('knows the places of a column of %j', (amounts, places) => {
  expect(placesOf(amounts)).toBe(places);
});
