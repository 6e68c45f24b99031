import { hash } from 'node:crypto';
import type { Block, TextProtocolName, Turn } from '#canonical/index.ts';

/** Whether models of this protocol put state on their texts. */
export function signsTexts(protocol: TextProtocolName): boolean {
  return protocol === 'generate-content';
}

/** Of each text; comparing the whole output of a tool would cost every later request time. */
const compared = 300;

/**
 * What distinguishes the same text, or a call with the same id, in two conversations: how the conversation begins, and what
 * is answered.
 * @param at which turn it is; absent: the next one
 */
export function placeOf(turns: readonly Turn[], at = turns.length): string {
  const opening = turns.find(({ role }) => role === 'user')?.blocks ?? [];
  return [...wordsOf(opening), ...wordsOf(turns[at - 1]?.blocks ?? [])].join(' ');
}

function wordsOf(blocks: readonly Block[]): string[] {
  return blocks.flatMap((block) => {
    if (block.type === 'text') return block.text.slice(0, compared);
    return block.type === 'tool-result' ? wordsOf(block.content) : [];
  });
}

/**
 * Under which the state of a call is remembered. Clients and upstreams count calls anew in each conversation, so the id alone
 * would bring one conversation's thoughts into another.
 * @param place `placeOf` the turns before it
 * @param id the one that the client knows
 */
export function callKey(place: string, id: string): string {
  return `call ${hash('sha256', JSON.stringify([place, id]), 'base64url')}`;
}

/**
 * Under which the state on a text is remembered, like that of a call under its id. Clients may trim a text before they
 * return it.
 * @param place `placeOf` the turns before it
 */
export function textKey(place: string, text: string): string {
  return `text ${hash('sha256', JSON.stringify([place, text.trim()]), 'base64url')}`;
}
