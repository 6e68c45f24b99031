import { isAbsent, isMapping, type RawMapping, type RawValue, textOf } from './scalar.ts';

/** A key of the file, or some of its values, that are checked and stored and that nothing acts on yet. */
export interface NotInForce {
  /** As problems name it; `[]` stands for every entry of a list. */
  readonly path: string;
  /** Only these values; absent: any. */
  readonly values?: readonly string[];
}

/** All of them, as in docs/configuration.md. Whoever makes one of them work takes it off this list. */
export const notInForce: readonly NotInForce[] = [
  { path: 'teams[].members[].role', values: ['owner'] },
];

/** One line for everything in a file that does nothing yet, in the order of the list above. */
export function describeNotInForce(root: RawMapping): string[] {
  return notInForce.flatMap(({ path, values }) =>
    placesOf(root, path.split(/\.|(?=\[\])/), '').flatMap((place) => {
      const text = textOf(place.value);
      if (isAbsent(place.value) || text === '') return [];
      if (values === undefined) return [`${place.path}: not in force yet`];
      return text !== null && values.includes(text)
        ? [`${place.path}: ${text} is not in force yet`]
        : [];
    }),
  );
}

interface Place {
  readonly path: string;
  readonly value: RawValue;
}

function placesOf(value: RawValue, steps: readonly string[], path: string): Place[] {
  const [step, ...rest] = steps;
  if (step === undefined) return [{ path, value }];
  if (step === '[]') {
    if (!Array.isArray(value)) return [];
    return value.flatMap((item: RawValue, at) => placesOf(item, rest, `${path}[${at}]`));
  }
  if (!isMapping(value)) return [];
  return placesOf(value[step], rest, path === '' ? step : `${path}.${step}`);
}
