import { lossNames, responseLossNames } from '#canonical/index.ts';

/** A part of a request or response that a conversion could not carry over. */
export interface ExplainedLoss {
  /** As in rows and `x-sluice-conversion`, such as `seed`. */
  readonly name: string;
  readonly how: 'dropped' | 'approximated';
  /** The same in words. */
  readonly text: string;
}

const words: Readonly<Record<string, string>> = { ...lossNames, ...responseLossNames };

/** @param code as rows have it, such as `dropped:seed` */
export function explainLoss(code: string): ExplainedLoss {
  const how = code.startsWith('approximated:') ? 'approximated' : 'dropped';
  const name = code.slice(code.indexOf(':') + 1);
  const ending = how === 'dropped' ? 'left out' : 'carried over approximately';
  return { name, how, text: `${meaningOf(name)}: ${ending}` };
}

function meaningOf(name: string): string {
  if (Object.hasOwn(words, name)) return words[name]!;
  if (name.startsWith('tools.')) return 'a tool that only its vendor runs';
  if (name.startsWith('answer.')) return 'a block that only its vendor understands';
  return `the member ${name}`;
}
