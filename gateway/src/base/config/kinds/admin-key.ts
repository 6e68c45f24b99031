import { distinctList } from '../collection.ts';
import { addressRange, name, timestamp } from '../leaf.ts';
import { choice, defineKind, member, moment, names, text } from './kind.ts';
import { programRoles } from './user.ts';

/** What a program administers the gateway with. No file declares it, and nothing of it changes. */
export const adminKey = defineKind('admin_key', {
  name: member(text(name('a name')), { identity: true, option: ['NAME', 'a unique name'] }),
  role: member(choice(programRoles), { option: ['ROLE', 'viewer, billing, operator or admin'] }),
  expires_at: member(moment(timestamp({ fallback: null })), {
    option: ['TIME', 'for example 2027-01-01T00:00:00Z; default: in 90 days'],
  }),
  ips: member(names(distinctList(addressRange(), () => [])), {
    item: 'an address or a network',
    option: ['CIDR', 'an address it may be used from; default: any'],
  }),
});
