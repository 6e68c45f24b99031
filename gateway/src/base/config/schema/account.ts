import { list, distinctList, mapping } from '../collection.ts';
import { userRoles, type DeclaredKey, type DeclaredTeam, type DeclaredUser } from '../config.ts';
import {
  decimal,
  flag,
  integer,
  isName,
  leaf,
  name,
  oneOf,
  string,
  timestamp,
  WrongBecause,
} from '../leaf.ts';
import { isSampleSecret } from '../secret-rules.ts';
import { addressRange, emailAddress, usd } from './settings.ts';

const amount = <Fallback>(fallback: Fallback) => decimal('an amount in USD', usd, { fallback });
const groups = () => distinctList(string('a group name', isName), () => ['default']);
const rate = () => integer(0, 1_000_000_000, { fallback: null });

export const user = mapping({
  email: emailAddress(),
  name: string('a name', isName, { fallback: null }),
  role: oneOf(userRoles, { fallback: 'member' }),
  balance: amount('0'),
  quota: amount(null),
  groups: groups(),
  enabled: flag({ fallback: true }),
}).transform((values): DeclaredUser => values);

const member = mapping({
  user: emailAddress(),
  role: oneOf(['owner', 'member'], { fallback: 'member' }),
  budget: amount(null),
});

export const team = mapping({
  name: name('a team name'),
  balance: amount('0'),
  rpm: rate(),
  budget: mapping({ daily: amount(null), monthly: amount(null), total: amount(null) }),
  time_zone: string('a time zone such as Europe/Berlin', isTimeZone, { fallback: 'UTC' }),
  groups: groups(),
  members: list(member, () => []),
}).transform((values): DeclaredTeam => values);

const keySecret = leaf(
  'a secret that begins with sk- and has at least 32 characters',
  ({ value }) => {
    if (typeof value !== 'string' || !/^sk-[\x21-\x7e]{29,509}$/.test(value)) return undefined;
    if (!isSampleSecret(value)) return value;
    return new WrongBecause('a secret of your own', 'a well-known sample');
  },
  { fallback: null, secret: true },
);

export const key = mapping({
  name: name('a key name'),
  secret: keySecret,
  user: emailAddress(),
  team: string('a team name', isName, { fallback: null }),
  group: string('a group name', isName, { fallback: 'default' }),
  models: distinctList(string('a model name', isName), () => []),
  quota: amount(null),
  expires_at: timestamp({ fallback: null }),
  ips: distinctList(addressRange(), () => []),
  rpm: rate(),
  rph: rate(),
  max_concurrency: rate(),
  conversion: oneOf(['lenient', 'strict'], { fallback: 'lenient' }),
  cap_output: flag({ fallback: true }),
  enabled: flag({ fallback: true }),
}).transform((values): DeclaredKey => values);

function isTimeZone(text: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]*$/.test(text)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}
