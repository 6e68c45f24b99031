import { z } from 'zod';
import type { EntryOf, Kind, Member } from '#config/index.ts';
import { money, time } from './values.ts';

/*
 * The members of what a file declares, as the API shows and reads them: named as in the file, without secrets.
 */

/** How the API shows a value of each form. */
const shown = {
  text: z.string(),
  choice: z.string(),
  count: z.int(),
  amount: money,
  factor: z.string(),
  time,
  flag: z.boolean(),
  names: z.array(z.string()),
  structure: z.unknown(),
};
type ShownForms = typeof shown;

/** Only kinds of values: what they may be are the rules of the file. */
const given = {
  text: z.string('expected text').nullable().optional(),
  count: z.number('expected a whole number').nullable().optional(),
  flag: z.boolean('expected true or false').optional(),
  names: z.array(z.string()).optional(),
  structure: z.unknown().optional(),
};

type GivenForm<Name> = Name extends 'count' | 'flag' | 'names' | 'structure'
  ? (typeof given)[Name]
  : (typeof given)['text'];

type Hidden =
  | { readonly stored: 'hash' | 'sealed' }
  | { readonly insteadOf: string }
  | { readonly ignored: true };

type Members = Kind['members'];

type Shown<Of extends Members> = {
  [Name in keyof Of as Of[Name] extends Hidden ? never : Name]: null extends z.output<
    Of[Name]['schema']
  >
    ? z.ZodNullable<ShownForms[Of[Name]['form']]>
    : ShownForms[Of[Name]['form']];
};

type Given<Of extends Members, Excluded> = {
  [Name in keyof Of as Of[Name] extends Hidden | Excluded ? never : Name]: GivenForm<
    Of[Name]['form']
  >;
};

/** What the API shows of an entry of a kind, in the order of the file. */
export function shownMembers<Of extends Kind>({ list }: Of): Shown<Of['members']> {
  const members = list
    .filter(({ stored }) => stored !== 'hash' && stored !== 'sealed')
    .map(({ name, form, usualValue }) => [
      name,
      usualValue === null ? shown[form].nullable() : shown[form],
    ]);
  return Object.fromEntries(members) as Shown<Of['members']>;
}

/** The same of one entry. */
export function shownValues<Of extends Kind>(
  { list }: Of,
  entry: Omit<EntryOf<Of>, 'secret'>,
): z.input<z.ZodObject<Shown<Of['members']>>> {
  const values = entry as Readonly<Record<string, unknown>>;
  const members = list
    .filter(({ stored }) => stored !== 'hash' && stored !== 'sealed')
    .map(({ name, property, write }) => {
      const form = write as ((value: unknown) => unknown) | undefined;
      return [name, form === undefined ? values[property] : form(values[property])];
    });
  return Object.fromEntries(members) as ReturnType<typeof shownValues<Of>>;
}

/** What a body may contain besides the name when an entry is made. A new entry is enabled. */
export function givenOnce<Of extends Kind>(
  kind: Of,
): Omit<Given<Of['members'], { readonly identity: true }>, 'enabled'> {
  return givenMembers(kind, ({ name }) => name !== 'enabled') as ReturnType<typeof givenOnce<Of>>;
}

/** What a body may change. */
export function givenAnytime<Of extends Kind>(
  kind: Of,
): Given<Of['members'], { readonly identity: true } | { readonly set: string }> {
  return givenMembers(kind, ({ set }) => set === undefined) as ReturnType<typeof givenAnytime<Of>>;
}

function givenMembers({ list }: Kind, accepts: (member: Kind['list'][number]) => boolean): object {
  const members = list.filter(
    (member) =>
      member.identity !== true &&
      member.stored !== 'hash' &&
      member.stored !== 'sealed' &&
      accepts(member),
  );
  return Object.fromEntries(members.map((member) => [member.name, givenSchema(member)]));
}

function givenSchema({ form, item = 'a name' }: Member): z.ZodType {
  if (form === 'names') {
    return z.array(z.string(`expected ${item}`), 'expected a list').optional();
  }
  return form === 'count' || form === 'flag' || form === 'structure' ? given[form] : given.text;
}

/** The members up to this one, for what the API shows between them. */
export function upTo<Shape extends object>(shape: Shape, last: keyof Shape): Shape {
  const names = Object.keys(shape);
  const head = names.slice(0, names.indexOf(String(last)) + 1);
  return Object.fromEntries(
    head.map((name) => [name, shape[name as keyof Shape]]),
  ) as unknown as Shape;
}
