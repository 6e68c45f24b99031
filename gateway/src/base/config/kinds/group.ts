import { decimal, flag, name } from '../leaf.ts';
import { defineKind, factor, member, text, yesOrNo } from './kind.ts';

export const group = defineKind('group', {
  name: member(text(name('a group name')), { identity: true }),
  price_multiplier: member(
    factor(decimal('a factor', { places: 6, minimum: '0', maximum: '1000000' }, { fallback: '1' })),
    { alwaysWritten: true, doc: 'factor on every price, up to six decimals' },
  ),
  enabled: member(yesOrNo(flag({ fallback: true })), {
    doc: '`false`: requests with keys of the group are refused. Not for `default`, which keys have that name no group',
  }),
});
