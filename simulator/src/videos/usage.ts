import { wrongCounts } from '../scenario/usage.ts';
import type { Task } from './task.ts';

/** Numbers that no video can have, by the word in the model's name. */
const absurdities: Readonly<Record<string, unknown>> = {
  absurd: wrongCounts.absurd,
  negative: wrongCounts.negative,
  fractional: 0.5,
  textual: 'a lot',
};

/**
 * What was made, in the unit of the vendor's bill. `generates 6` in the prompt overrides it.
 * @returns undefined if the vendor reports nothing
 */
export function quantityOf({ model, prompt }: Task, usual: number): unknown {
  if (model.includes('bare')) return undefined;
  for (const [word, value] of Object.entries(absurdities)) if (model.includes(word)) return value;
  const asked = /generates (\d{1,12}(?:\.\d{1,6})?)/.exec(prompt)?.[1];
  return asked === undefined ? usual : Number(asked);
}
