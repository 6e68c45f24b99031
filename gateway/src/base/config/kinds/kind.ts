import type { z } from 'zod';
import { type CamelCase, camelCase, distinctList, type Frozen, mapping } from '../collection.ts';
import { normalDecimal, shortestDecimal } from '../decimal.ts';
import { decimal, integer, isName, type LeafOptions, oneOf, string, usd } from '../leaf.ts';

/** What a file declares. */
export type KindName = 'group' | 'model' | 'alias' | 'channel' | 'user' | 'team' | 'key';
/** The same, and what only the database has. */
export type ObjectName = KindName | 'admin_key';

/** How a value looks: what a column, the API and a form of the console make of it. */
export type FormName =
  | 'text'
  | 'choice'
  | 'count'
  /** Decimal text in USD; a column has it in nano-USD. */
  | 'amount'
  /** Decimal text without a unit. */
  | 'factor'
  /** Unix milliseconds; a file and the API have it as RFC 3339. */
  | 'time'
  | 'flag'
  | 'names'
  /** A list or a mapping with parts of its own. */
  | 'structure';

export interface Form<Name extends FormName = FormName, Schema extends z.ZodType = z.ZodType> {
  readonly form: Name;
  /** Reads the value from a file. What it makes of a missing one is the value's usual one. */
  readonly schema: Schema;
  /** The value as a file and the API have it; absent: as it is. */
  readonly write?: (value: never) => unknown;
  /** The value as plans and the audit log compare and show it; absent: as a file has it. */
  readonly compare?: (value: never) => unknown;
}

/** Everything else that is known of a member. */
export interface About {
  /** For the table of `docs/configuration.md`, in Markdown. */
  readonly doc?: string;
  /** What the table has as the default, where a missing member does not simply mean a value. */
  readonly usual?: string;
  /** Entries are told apart by it; it never changes. */
  readonly identity?: true;
  /**
   * `once`: people give it where they make the entry, and only a file changes it. `booked`: it counts where the entry is
   * made, and never again. Absent: at any time.
   */
  readonly set?: 'once' | 'booked';
  /** Only whoever set it, or somebody above, may loosen it. */
  readonly limit?: true;
  /**
   * Where the row has it. Absent: in the column of its name; `settings`: in the JSON of that column; `sealed`: encrypted,
   * and never shown; `hash`: only a hash of it, and never shown; `apart`: its repository knows where.
   */
  readonly stored?: 'settings' | 'sealed' | 'hash' | 'apart' | { readonly column: string };
  /** JSON of a row leaves out the usual value: rows that were written before the member existed are equal to those after. */
  readonly sparse?: true;
  /** It, or each name in it, is the name of an entry of this kind. */
  readonly refersTo?: KindName;
  /** A file may have it, and nothing comes of it. */
  readonly ignored?: true;
  /** Another spelling of this member. */
  readonly insteadOf?: string;
  /** An export has it even if it is usual. */
  readonly alwaysWritten?: true;
  /** The words that it, each item of a list, or each name of a mapping is one of. Absent: it is free. */
  readonly choices?: readonly string[];
  /** What an item of a list is, for messages of the API. */
  readonly item?: string;
  /** Its option of a command: the placeholder of its value, and its line of the help. */
  readonly option?: readonly [value: string, help: string];
}

export type Member = Form & About;
export type Members = Readonly<Record<string, Member>>;

/** A member with what follows from its description. */
export interface ListedMember extends Form, About {
  /** In the file. */
  readonly name: string;
  /** In the code. */
  readonly property: string;
  /** What a missing one means; undefined: it must be there. */
  readonly usualValue: unknown;
}

/** One kind of entries. Everything that reads, writes, compares, stores or shows them is derived from it. */
export interface Kind<Of extends Members = Members, Entry extends z.ZodType = z.ZodType> {
  readonly name: ObjectName;
  /** Its list in the file, and its table. */
  readonly section: SectionName;
  /** The member that tells its entries apart. */
  readonly identity: string;
  readonly members: Of;
  /** In the order of the file, without other spellings and what is ignored. */
  readonly list: readonly ListedMember[];
  /** Reads an entry of the file. */
  readonly schema: Entry;
}

type SectionOf<Name extends ObjectName> = Name extends 'alias' ? 'aliases' : `${Name}s`;
export type SectionName = SectionOf<ObjectName>;

/** A kind of what a file declares. */
export interface DeclaredKind extends Kind {
  readonly name: KindName;
  readonly section: SectionOf<KindName>;
}

type ShapeOf<Of extends Members> = { [Name in keyof Of]: Of[Name]['schema'] };

/** The values that an entry of these members has, by their names in the code. */
type ValuesOf<Of extends Members> = z.output<ReturnType<typeof mapping<ShapeOf<Of>>>>;

/** Names a form and says what else is known of the member. */
export function member<Of extends Form, const Rest extends About = {}>(
  form: Of,
  about?: Rest,
): Of & Rest {
  return Object.freeze({ ...form, ...about }) as Of & Rest;
}

/** @param complete fills in what depends on several members */
export function defineKind<
  const Of extends Members,
  const Name extends ObjectName,
  Entry = ValuesOf<Of>,
>(
  name: Name,
  members: Of,
  complete: (values: ValuesOf<Of>) => Entry = (values) => values as unknown as Entry,
) {
  const shape = Object.fromEntries(
    Object.entries(members).map(([key, { schema }]) => [key, schema]),
  ) as unknown as ShapeOf<Of>;
  const [identity = 'name'] = Object.entries(members).find(([, each]) => each.identity) ?? [];
  return Object.freeze({
    name,
    section: (name === 'alias' ? 'aliases' : `${name}s`) as SectionOf<Name>,
    identity,
    members,
    list: Object.entries(members)
      .filter(([, { insteadOf, ignored }]) => insteadOf === undefined && ignored !== true)
      .map(([key, each]): ListedMember => ({
        ...each,
        name: key,
        property: camelCase(key),
        usualValue: usualValue(each),
      })),
    schema: mapping(shape).transform(complete as (values: unknown) => Entry),
  });
}

/** An entry of this kind, checked and complete. */
export type EntryOf<Of extends Kind> = Frozen<z.output<Of['schema']>>;

/** The members of an entry that are described by `Test`, by their names in the code. */
export type NamesWith<Of extends Kind, Test> = {
  [Name in keyof Of['members'] & string]: Of['members'][Name] extends Test
    ? CamelCase<Name>
    : never;
}[keyof Of['members'] & string];

type ColumnName<Of, Name> = Of extends { readonly stored: infer Where }
  ? Where extends { readonly column: infer Column }
    ? Column
    : never
  : Name;

interface ColumnForms {
  readonly text: string;
  readonly choice: string;
  readonly factor: string;
  readonly count: number;
  readonly time: number;
  /** Nano-USD. */
  readonly amount: bigint;
  readonly flag: number;
  /** JSON. */
  readonly names: string;
  readonly structure: string;
}

/** What the columns of a row have of an entry, `enabled` aside, which every row has. */
export type ColumnsOf<Of extends Kind> = {
  [
    Name in Exclude<keyof Of['members'], 'enabled'> as ColumnName<Of['members'][Name], Name> &
      string
  ]:
    | ColumnForms[Of['members'][Name]['form']]
    | (null extends z.output<Of['members'][Name]['schema']> ? null : never);
};

/** What a missing member means; undefined: it must be there. */
function usualValue({ schema }: Form): unknown {
  const result = schema.safeParse(undefined);
  return result.success ? (result.data ?? null) : undefined;
}

const form = <const Name extends FormName, Schema extends z.ZodType>(
  name: Name,
  schema: Schema,
  more: Pick<Form, 'write' | 'compare'> = {},
): Form<Name, Schema> => ({ form: name, schema, ...more });

/** `10.00` and `10` are one amount. */
export const shortestAmount = (value: string | null) =>
  value === null ? null : shortestDecimal(value);

/** A mapping without members that are null. */
export const withoutAbsent = (values: object): object =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));

export const text = <Schema extends z.ZodType>(schema: Schema) => form('text', schema);
export const choice = <const Value extends string, const Options extends LeafOptions = {}>(
  values: readonly Value[],
  options?: Options,
) => ({ ...form('choice', oneOf(values, options)), choices: values });
export const count = <Schema extends z.ZodType>(schema: Schema) => form('count', schema);
export const names = <Schema extends z.ZodType>(schema: Schema) => form('names', schema);
export const yesOrNo = <Schema extends z.ZodType>(schema: Schema) => form('flag', schema);
export const moment = <Schema extends z.ZodType>(schema: Schema) =>
  form('time', schema, {
    write: (time: number | null) => (time === null ? null : new Date(time).toISOString()),
  });
export const factor = <Schema extends z.ZodType>(schema: Schema) =>
  form('factor', schema, { compare: normalDecimal });
export const structure = <Schema extends z.ZodType>(
  schema: Schema,
  more: Pick<Form, 'write' | 'compare'> = {},
) => form('structure', schema, more);

/** USD. */
export const amount = <Fallback extends string | null>(fallback: Fallback) =>
  form('amount', decimal('an amount in USD', usd, { fallback }), { compare: shortestAmount });
/** Requests in some time, or at once; null: no limit. */
export const rate = () => count(integer(0, 1_000_000_000, { fallback: null }));
/** The groups that somebody may give keys. */
export const groups = () => names(distinctList(string('a group name', isName), () => ['default']));
