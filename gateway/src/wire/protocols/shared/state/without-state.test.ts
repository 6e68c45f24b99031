import { expect, test } from 'vitest';
import type { TextProtocolName } from '#canonical/index.ts';
import { textProtocols } from '../../index.ts';
import { skipSignature, withoutState } from './without-state.ts';

const call = (id: string) => ({ type: 'function_call', id, call_id: 'c', name: 'f' });
const reasoning = (id: string) => ({ type: 'reasoning', id, encrypted_content: 'x' });
const thinking = { type: 'thinking', thinking: 'hm', signature: 'x' };
const text = { type: 'text', text: 'x' };
const schema = { properties: { signature: { type: 'string' } }, example: thinking };
const details = [{ type: 'reasoning.text', text: 'hm', signature: 'x' }];
const extra = (signature: string) => ({ google: { thought_signature: signature } });

test.each<[TextProtocolName, number, object, object]>([
  [
    'responses',
    Infinity,
    {
      input: [
        'odd',
        { type: 'message', id: 'msg_0' },
        reasoning('rs_1'),
        call('fc_1'),
        { type: 'compaction', encrypted_content: 'x' },
        { type: 'item_reference', id: 'rs_2' },
        { type: 'web_search_call', id: 'ws_1' },
      ],
      tools: [schema],
    },
    {
      input: [
        'odd',
        { type: 'message', id: 'msg_0' },
        { type: 'function_call', call_id: 'c', name: 'f' },
        { type: 'compaction', encrypted_content: 'x' },
        { type: 'web_search_call', id: 'ws_1' },
      ],
      tools: [schema],
    },
  ],
  [
    'responses',
    1,
    { input: [reasoning('rs_1'), call('fc_1'), reasoning('rs_2'), call('fc_2')] },
    {
      input: [{ type: 'function_call', call_id: 'c', name: 'f' }, reasoning('rs_2'), call('fc_2')],
    },
  ],
  [
    'messages',
    Infinity,
    {
      messages: [
        { role: 'user', content: 'thinking' },
        { role: 'assistant', content: [thinking, text] },
        { role: 'assistant', content: [{ type: 'redacted_thinking', data: 'x' }] },
      ],
      tools: [schema],
    },
    {
      messages: [
        { role: 'user', content: 'thinking' },
        { role: 'assistant', content: [text] },
      ],
      tools: [schema],
    },
  ],
  [
    'generate-content',
    Infinity,
    {
      contents: [
        {
          role: 'model',
          parts: [
            { text: 'hm', thought: true, thoughtSignature: 'x' },
            { text: '', thoughtSignature: 'x' },
            { functionCall: { name: 'f' }, thought_signature: 'x' },
            { functionCall: { name: 'f' }, thoughtSignature: skipSignature },
            { inlineData: { data: 'x' } },
          ],
        },
      ],
    },
    {
      contents: [
        {
          role: 'model',
          parts: [
            { text: 'hm', thought: true },
            { functionCall: { name: 'f' }, thoughtSignature: skipSignature },
            { functionCall: { name: 'f' }, thoughtSignature: skipSignature },
            { inlineData: { data: 'x' } },
          ],
        },
      ],
    },
  ],
  [
    'chat',
    1,
    {
      messages: [
        {
          role: 'assistant',
          reasoning_details: details,
          tool_calls: [{ id: 'c', extra_content: extra('x') }, { id: 'd' }],
        },
        { role: 'assistant', reasoning_details: details },
      ],
    },
    {
      messages: [
        {
          role: 'assistant',
          tool_calls: [{ id: 'c', extra_content: extra(skipSignature) }, { id: 'd' }],
        },
        { role: 'assistant', reasoning_details: details },
      ],
    },
  ],
])('%s: %s carriers of state', (protocol, most, before, after) => {
  const copy = structuredClone(before);
  const { json, leftOut } = withoutState(
    textProtocols[protocol],
    before as Record<string, unknown>,
    most,
  );
  expect(json).toEqual(after);
  expect(before).toEqual(copy);
  const carriers = withoutState(
    textProtocols[protocol],
    before as Record<string, unknown>,
    Infinity,
  ).leftOut;
  expect(leftOut).toBe(Math.min(most, carriers));
});

test.each<[TextProtocolName, object]>([
  ['responses', { input: 'reasoning' }],
  ['messages', { messages: [{ role: 'user', content: [text] }, null] }],
  ['generate-content', { contents: { parts: [] } }],
  ['chat', { messages: [{ role: 'assistant', tool_calls: [null, 3] }] }],
])('%s: a request without state stays', (protocol, json) => {
  expect(withoutState(textProtocols[protocol], json as Record<string, unknown>, Infinity)).toEqual({
    json,
    leftOut: 0,
  });
});
