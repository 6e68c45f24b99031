import { emailAddress, isName, flag, string } from '../leaf.ts';
import { amount, choice, defineKind, groups, member, text, yesOrNo } from './kind.ts';

/** What programs may be: a member only has to do with things of their own, and a program has none. */
export const programRoles = ['admin', 'operator', 'billing', 'viewer'] as const;
/** What people may be at the console. */
export const userRoles = [...programRoles, 'member'] as const;

export const user = defineKind('user', {
  email: member(text(emailAddress()), { identity: true, doc: 'compared case-insensitively' }),
  name: member(text(string('a name', isName, { fallback: null })), {
    option: ['NAME', 'the name to show'],
  }),
  role: member(choice(userRoles, { fallback: 'member' }), {
    alwaysWritten: true,
    doc: 'or `viewer`, `billing`, `operator`, `admin`: [who sees what](console.md#who-sees-what)',
    option: ['ROLE', 'member (default), viewer, billing, operator or admin'],
  }),
  balance: member(amount('0'), {
    set: 'booked',
    stored: { column: 'opening_credit' },
    alwaysWritten: true,
    doc: 'opening credit, booked once when the user is created; use `sluice user credit` later. Below 0.01 USD every priced request gets 402',
    option: ['USD', 'opening balance; default: 0'],
  }),
  quota: member(amount(null), {
    doc: 'what the user may spend in total',
    option: ['USD', 'how much the user may spend in total'],
  }),
  groups: member(groups(), {
    refersTo: 'group',
    doc: 'the groups that the user may give to their own keys [in the console](console.md#keys); `[]`: no own keys. Keys of the file and of commands are not limited by it',
    option: ['NAME', 'a group of which the user may make keys in the console; default: default'],
  }),
  enabled: member(yesOrNo(flag({ fallback: true }))),
});
