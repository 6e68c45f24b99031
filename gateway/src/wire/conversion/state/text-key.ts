import { hash } from 'node:crypto';
import type { TextProtocolName, Turn } from '#canonical/index.ts';

/** Whether models of this protocol put state on their texts. */
export function signsTexts(protocol: TextProtocolName): boolean {
  return protocol === 'generate-content';
}

/**
 * What distinguishes the same text in two conversations: the words that it answers.
 * @param at which turn the text is; absent: the next one
 */
export function placeOf(turns: readonly Turn[], at = turns.length): string {
  const blocks = turns[at - 1]?.blocks ?? [];
  return blocks.flatMap((block) => (block.type === 'text' ? block.text : [])).join(' ');
}

/**
 * Under which the state on a text is remembered, like that of a call under its id. Clients may trim a text before they
 * return it.
 * @param place `placeOf` the turns before it
 */
export function textKey(place: string, text: string): string {
  return `text ${hash('sha256', JSON.stringify([place, text.trim()]), 'base64url')}`;
}
