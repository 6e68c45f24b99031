import { z } from 'zod';
import { isAbsent, isMapping, Scalar } from './scalar.ts';

/** `drain_timeout` → `drainTimeout`. */
export type CamelCase<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name;

/** The same members under the names that the code has for them. */
export type CamelCased<Values> = {
  [Key in keyof Values as Key extends string ? CamelCase<Key> : Key]: Values[Key];
};

/** The code's name of a member of the file. */
export const camelCase = <const Name extends string>(name: Name): CamelCase<Name> =>
  name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase()) as CamelCase<Name>;

/** The file's name of what the code has: `cacheWrite1h` → `cache_write_1h`. */
export const snakeCase = (name: string): string =>
  name.replaceAll(/[A-Z]|\d{1,4}h$/g, (part) => `_${part.toLowerCase()}`);

/** Arrays and mappings that nobody may change, at every level. */
export type Frozen<Value> = Value extends Buffer
  ? Value
  : Value extends readonly (infer Item)[]
    ? readonly Frozen<Item>[]
    : Value extends object
      ? { readonly [Key in keyof Value]: Frozen<Value[Key]> }
      : Value;

/**
 * A mapping with exactly these keys, which the code has under their camelCase names. A missing or `null` mapping is an
 * empty one.
 */
export function mapping<Shape extends z.ZodRawShape>(shape: Shape) {
  const keys = Object.keys(shape);
  const names = new Map(keys.map((key) => [key, camelCase(key)]));
  // zod skips the schema of a missing key, but that schema knows the default.
  const everyKey = Object.fromEntries(keys.map((key) => [key, undefined]));
  const open = withoutScalar('a mapping', () => ({}));
  return z
    .preprocess(
      (input, context) => {
        const value = open(input, context);
        return isMapping(value) ? Object.assign(Object.create(null), everyKey, value) : value;
      },
      z.strictObject(shape, {
        // The issue does not list the known keys; its message carries them to `issues.ts`.
        error: (issue) => (issue.code === 'unrecognized_keys' ? keys.join(' ') : undefined),
      }),
    )
    .transform(
      (values) =>
        Object.fromEntries(
          Object.entries(values).map(([key, value]) => [names.get(key) ?? key, value]),
        ) as CamelCased<typeof values>,
    );
}

/** A mapping from names the user chooses. */
export function dictionary<Value extends z.ZodType>(value: Value) {
  return z.preprocess(
    withoutScalar('a mapping', () => ({})),
    z.record(z.string(), value),
  );
}

/** A list. A missing or `null` list is `fallback()`; without a fallback it is a problem. */
export function list<Item extends z.ZodType>(item: Item, fallback?: () => readonly string[]) {
  return z.preprocess((input, context) => {
    if (isAbsent(input) && fallback !== undefined)
      return fallback().map((text) => new Scalar(text, text));
    return withoutScalar('a list', () => undefined)(input, context);
  }, z.array(item));
}

/** A list whose items must differ. */
export function distinctList<Item extends z.ZodType<string>>(
  item: Item,
  fallback?: () => readonly string[],
) {
  return list(item, fallback).superRefine((items, context) => {
    items.forEach((value, index) => {
      if (items.indexOf(value) === index) return;
      const issue = { expected: 'each entry once', got: 'a duplicate' };
      context.addIssue({ code: 'custom', path: [index], message: '', params: { issue } });
    });
  });
}

/** zod accepts any object as a mapping, so scalars are filtered out first. */
function withoutScalar(expected: string, absent: () => unknown) {
  return (input: unknown, context: z.core.$RefinementCtx): unknown => {
    if (input instanceof Scalar && input.broken) {
      context.issues.push({ code: 'custom', input, message: '', params: { issue: null } });
      return z.NEVER;
    }
    if (isAbsent(input)) return absent();
    const isRight = expected === 'a list' ? Array.isArray(input) : isMapping(input);
    if (isRight) return input;
    context.issues.push({ code: 'custom', input, message: '', params: { expected } });
    return z.NEVER;
  };
}
