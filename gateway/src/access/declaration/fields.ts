import type { EntryOf, Kind, Member } from '#config/index.ts';

/** One field that differs. `before` and `after` are JSON text; both null where the value is secret. */
export interface FieldChange {
  readonly field: string;
  readonly before: string | null;
  readonly after: string | null;
  readonly secret: boolean;
}

/** A secret stands for its value in a comparison and is never shown. */
export class Hidden {
  readonly value: string;

  constructor(value: string) {
    this.value = value;
  }
}

/** An entry as the fields of the file, in comparable form. */
export type Fields = Readonly<Record<string, unknown>>;

/** What differs, in the order of `after`. */
export function compareFields(before: Fields, after: Fields): FieldChange[] {
  const changes: FieldChange[] = [];
  for (const [field, value] of Object.entries(after)) {
    const oldValue = before[field];
    const secret = value instanceof Hidden || oldValue instanceof Hidden;
    const [left, right] = [comparable(oldValue), comparable(value)];
    if (left === right) continue;
    changes.push({ field, before: secret ? null : left, after: secret ? null : right, secret });
  }
  return changes;
}

function comparable(value: unknown): string | null {
  if (value === undefined) return null;
  return value instanceof Hidden ? value.value : JSON.stringify(value);
}

/** An entry without what only its hash is kept of. */
export type ShownOf<Of extends Kind> = Omit<EntryOf<Of>, 'secret'>;

/**
 * An entry as the members of the file, for a plan and an audit log. Entries of kinds without `enabled` in the file are
 * enabled by being in it.
 * @param hash of the secret, of a kind that has one
 */
export function fieldsOf<Of extends Kind>(
  kind: Of,
  entry: ShownOf<Of>,
  hash: string | null = null,
): Fields {
  const values = entry as Readonly<Record<string, unknown>>;
  const fields: Record<string, unknown> = {};
  for (const member of kind.list) {
    const { name, identity, set, property } = member;
    if (identity === true || set === 'booked' || name === 'enabled') continue;
    fields[name] = comparableOf(member, values[property], hash);
  }
  fields['enabled'] = values['enabled'] ?? true;
  return fields;
}

function comparableOf(member: Member, value: unknown, hash: string | null): unknown {
  if (member.stored === 'hash') return new Hidden(hash ?? '');
  if (member.stored === 'sealed') return new Hidden(JSON.stringify(value));
  const form = (member.compare ?? member.write) as ((value: unknown) => unknown) | undefined;
  return form === undefined ? value : form(value);
}
