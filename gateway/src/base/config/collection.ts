import { z } from 'zod';
import { isAbsent, isMapping, Scalar } from './scalar.ts';

/** A mapping with exactly these keys. A missing or `null` mapping is an empty one. */
export function mapping<Shape extends z.ZodRawShape>(shape: Shape) {
  const keys = Object.keys(shape);
  // zod skips the schema of a missing key, but that schema knows the default.
  const everyKey = Object.fromEntries(keys.map((key) => [key, undefined]));
  const open = withoutScalar('a mapping', () => ({}));
  return z.preprocess(
    (input, context) => {
      const value = open(input, context);
      return isMapping(value) ? Object.assign(Object.create(null), everyKey, value) : value;
    },
    z.strictObject(shape, {
      // The issue does not list the known keys; its message carries them to `issues.ts`.
      error: (issue) => (issue.code === 'unrecognized_keys' ? keys.join(' ') : undefined),
    }),
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
