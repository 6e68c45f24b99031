import { expect, test } from 'vitest';
import { explainLoss } from './loss-words.ts';

test.each([
  ['dropped:seed', 'seed', 'dropped', 'the seed of the sampling: left out'],
  [
    'approximated:reasoning.budget',
    'reasoning.budget',
    'approximated',
    'the amount of reasoning, in tokens: carried over approximately',
  ],
  ['dropped:answer.audio', 'answer.audio', 'dropped', 'sound: left out'],
  [
    'dropped:tools.web_search',
    'tools.web_search',
    'dropped',
    'a tool that only its vendor runs: left out',
  ],
  [
    'dropped:answer.web_search_call',
    'answer.web_search_call',
    'dropped',
    'a block that only its vendor understands: left out',
  ],
  ['dropped:toString', 'toString', 'dropped', 'the member toString: left out'],
])('%s is explained', (code, name, how, text) => {
  expect(explainLoss(code)).toEqual({ name, how, text });
});
