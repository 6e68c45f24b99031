import { expect, test } from 'vitest';
import { brokenEndingError } from '#protocols/index.ts';
import { failureOfResponse } from './outcome.ts';

/* A client can bring a model to write calls that cannot be read, which says nothing about the channel. */
test.each([
  ['MALFORMED_FUNCTION_CALL', 'none'],
  ['malformed_tool_use', 'none'],
  ['too_many_tool_calls', 'none'],
  ['abort', 'channel'],
  ['network_error', 'channel'],
])('a response that broke off with %s is the fault of: %s', (word, blame) => {
  expect(failureOfResponse(null, {}, brokenEndingError(word))).toMatchObject({
    result: `ending=${word}`,
    classification: { kind: 'failover', as: 'abnormal', blame },
  });
});
