import { decimal, name } from '../leaf.ts';
import { defineKind, factor, member, text } from './kind.ts';

export const group = defineKind('group', {
  name: member(text(name('a group name')), { identity: true }),
  price_multiplier: member(
    factor(decimal('a factor', { places: 6, minimum: '0', maximum: '1000000' }, { fallback: '1' })),
    { alwaysWritten: true, doc: 'factor on every price, up to six decimals' },
  ),
});
