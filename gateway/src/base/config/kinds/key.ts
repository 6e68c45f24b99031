import { distinctList } from '../collection.ts';
import {
  addressRange,
  emailAddress,
  flag,
  isName,
  leaf,
  name,
  string,
  timestamp,
  WrongBecause,
} from '../leaf.ts';
import { isSampleSecret } from '../secret-strength.ts';
import { amount, choice, defineKind, member, moment, names, rate, text, yesOrNo } from './kind.ts';

const secret = leaf(
  'a secret that begins with sk- and has at least 32 characters',
  ({ value }) => {
    if (typeof value !== 'string' || !/^sk-[\x21-\x7e]{29,509}$/.test(value)) return undefined;
    if (!isSampleSecret(value)) return value;
    return new WrongBecause('a secret of your own', 'a well-known sample');
  },
  { fallback: null, secret: true },
);

export const key = defineKind('key', {
  name: member(text(name('a key name')), {
    identity: true,
    option: ['NAME', 'a unique name'],
  }),
  secret: member(text(secret), {
    set: 'once',
    stored: 'hash',
    doc: '`sk-…`, at least 32 characters (`sk-$(openssl rand -hex 24)`); only a hash is stored. If omitted, `sluice key create` makes one',
  }),
  user: member(text(emailAddress()), {
    set: 'once',
    stored: 'apart',
    refersTo: 'user',
    doc: 'the owner of the key, by e-mail address',
    option: ['EMAIL', 'the owner of the key'],
  }),
  team: member(text(string('a team name', isName, { fallback: null })), {
    stored: 'apart',
    refersTo: 'team',
    doc: 'the team that the key acts for, and that pays instead of the user',
    option: ['NAME', 'the team it acts for'],
  }),
  group: member(text(string('a group name', isName, { fallback: 'default' })), {
    stored: { column: 'group_name' },
    refersTo: 'group',
    alwaysWritten: true,
    doc: 'the group of channels that the key may use',
    option: ['NAME', 'the group of channels it may use; default: default'],
  }),
  models: member(names(distinctList(string('a model name', isName), () => [])), {
    stored: 'settings',
    refersTo: 'model',
    limit: true,
    item: 'a model name',
    doc: 'allowed models; empty: all models of the group',
    option: ['NAME', 'a model it may use; default: all'],
  }),
  quota: member(amount(null), {
    limit: true,
    doc: 'what the key may spend in total',
    option: ['USD', 'how much it may spend in total'],
  }),
  expires_at: member(moment(timestamp({ fallback: null })), {
    limit: true,
    doc: 'a time with its zone, such as `2027-01-01T00:00:00Z`; the key is refused from then on',
    option: ['TIME', 'for example 2027-01-01T00:00:00Z'],
  }),
  ips: member(names(distinctList(addressRange(), () => [])), {
    stored: 'settings',
    limit: true,
    item: 'an address or a network',
    doc: 'addresses or ranges from which the key may be used; empty: any',
    option: ['CIDR', 'an address it may be used from'],
  }),
  rpm: member(rate(), {
    limit: true,
    doc: 'requests per minute; 0: none at all',
    option: ['N', 'requests per minute'],
  }),
  rph: member(rate(), {
    limit: true,
    doc: 'requests per hour; 0: none at all',
    option: ['N', 'requests per hour'],
  }),
  max_concurrency: member(rate(), {
    limit: true,
    doc: 'requests at the same time; 0: none at all',
    option: ['N', 'concurrent requests'],
  }),
  conversion: member(choice(['lenient', 'strict'], { fallback: 'lenient' }), {
    stored: 'settings',
    doc: '`strict`: a request gets 400 if its conversion [would lose something](conversion.md)',
    option: ['MODE', 'lenient (default) or strict'],
  }),
  cap_output: member(yesOrNo(flag({ fallback: true })), {
    stored: 'settings',
    sparse: true,
    doc: '`false`: the output limit of its requests is never lowered ([more](billing.md#when-the-money-ends))',
    option: ['', 'never lower the output limit of its requests when little money is left'],
  }),
  enabled: member(yesOrNo(flag({ fallback: true })), { limit: true }),
});
