import { mapping } from '../collection.ts';
import { decimal, name } from '../leaf.ts';

export const group = mapping({
  name: name('a group name'),
  price_multiplier: decimal(
    'a factor',
    { places: 6, minimum: '0', maximum: '1000000' },
    { fallback: '1' },
  ),
});
