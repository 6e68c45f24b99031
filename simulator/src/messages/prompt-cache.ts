import { hash } from 'node:crypto';
import type { PromptPart } from '../scenario/question.ts';
import { sumTokens, type InputUsage } from '../scenario/usage.ts';

/** How many blocks before a mark are compared with earlier prompts, the marked one included. */
const lookback = 20;
const lifetimes = { '5m': 5 * 60_000, '1h': 60 * 60_000 } as const;

/** Tokens of the shortest prompt that is cached, by model. The first that matches. */
const leastTokens: readonly (readonly [RegExp, number])[] = [
  [/haiku-4-5|opus-4-[56]/, 4096],
  [/opus-4-7/, 2048],
  [/(opus|fable|mythos)-5/, 512],
  [/./, 1024],
];

interface Entry {
  readonly lifetime: number;
  until: number;
}

/**
 * The vendor's prompt cache: entries are written at marks only, and found up to 20 blocks before a mark, if everything
 * before them is the same. A read renews them.
 */
export interface PromptCache {
  /** @param account whose cache it is: no other one finds its entries */
  count(account: string, model: string, prompt: readonly PromptPart[]): InputUsage;
}

/** Whether the simulated model counts its caches from what it was really sent before. */
export function remembersPrompts(model: string): boolean {
  return model.includes('prompt-cache');
}

/** @param now in milliseconds */
export function createPromptCache(now: () => number = Date.now): PromptCache {
  const entries = new Map<string, Entry>();

  return {
    count(account, model, prompt) {
      const time = now();
      const least = leastTokens.find(([names]) => names.test(model))![1];
      const prefixes = prefixesOf(`${account}\n${model}`, prompt);
      const marks = [...prompt.keys()].filter((at) => prompt[at]?.mark !== undefined);
      let readTo = 0;
      for (const mark of marks) {
        for (let at = mark; at > mark - lookback && at >= readTo; at -= 1) {
          const entry = entries.get(prefixes[at]!);
          if (entry === undefined || entry.until <= time) continue;
          entry.until = time + entry.lifetime;
          readTo = at + 1;
          break;
        }
      }
      let written = readTo;
      const writes = { '5m': 0, '1h': 0 };
      for (const mark of marks) {
        const end = mark + 1;
        if (end <= written || sumTokens(prompt.slice(0, end)) < least) continue;
        const ttl = prompt[mark]!.mark!;
        const lifetime = lifetimes[ttl];
        writes[ttl] += sumTokens(prompt.slice(written, end));
        entries.set(prefixes[mark]!, { lifetime, until: time + lifetime });
        written = end;
      }
      return {
        freshInput: sumTokens(prompt.slice(written)),
        cacheRead: sumTokens(prompt.slice(0, readTo)),
        cacheWrite5m: writes['5m'],
        cacheWrite1h: writes['1h'],
      };
    },
  };
}

/** A name for the prompt up to and including each part. */
function prefixesOf(start: string, prompt: readonly PromptPart[]): string[] {
  let prefix = start;
  return prompt.map(({ side, content = '' }) => {
    prefix = hash('sha256', `${prefix}\n${side}\n${content}`);
    return prefix;
  });
}
