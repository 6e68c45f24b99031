import { describe, expect, it } from 'vitest';
import { verdict } from '../../protocol.ts';
import { messages } from '../index.ts';

const names = { clientModel: 'm', upstreamModel: 'm', toolNames: new Map([['a_b_1', 'a.b']]) };
const call = (name: string, more = '') =>
  `{"type":"tool_use", "id":"t","name" : "${name}","input":{}${more}}`;
const found = (name: string) =>
  `{"type":"tool_search_tool_result","tool_use_id":"s","content":{"type":"tool_search_tool_search_result","tool_references":[{"type":"tool_reference","tool_name":"f"}, {"type":"tool_reference","tool_name":"${name}"}]}}`;
const compacted = (name: string) =>
  `{"type":"compaction","content":"a_b_1","tool_changes":[{"type":"tool_addition","tool":{"type":"tool_definition","definition":{"name":"${name}","input_schema":{}}}},{"type":"tool_removal","tool":{"type":"tool_reference","name":"${name}"}}]}`;

type Case = readonly [what: string, block: (name: string) => string];

const echoed: readonly Case[] = [
  ['a call', call],
  ['what a tool search found', found],
  ['what a compaction tells of tools', compacted],
];

const left: readonly (readonly [what: string, block: string])[] = [
  ['a call of a tool server', '{"type":"mcp_tool_use","name":"a_b_1","input":{}}'],
  ['a call of one of a set', call('a_b_1', ',"toolset_name":"browser"')],
  ['a call of a name that was not changed', call('f')],
  ['a text', '{"type":"text","text":"a_b_1"}'],
  ['a block nobody knows yet', '{"type":"new","name":"a_b_1"}'],
];

function started(block: string, split = false) {
  const tap = messages.createStreamTap({ ...names, usageInjected: false });
  const data = `{"type":"content_block_start","index":1, "content_block": ${block},"x":1.0}`;
  const lines = split ? data.split(', ').join(',\ndata: ') : data;
  const raw = Buffer.from(`event: content_block_start\ndata: ${lines}\n\n`);
  const joined = split ? Buffer.from(data.split(', ').join(',\n')) : raw.subarray(33, -2);
  const seen = tap.inspect({ raw, name: 'content_block_start', data: joined });
  const isReplaced = (seen & verdict.replace) !== 0;
  return { text: String(isReplaced ? tap.replacement : raw), seen, isReplaced };
}

describe.each(echoed)('the client’s tool name in %s', (_, block) => {
  it('is restored in an event, whose other bytes stay', () => {
    for (const split of [false, true]) {
      const { text, seen } = started(block('a_b_1'), split);
      expect(text).toBe(started(block('a.b'), split).text);
      expect(seen).toBe(verdict.content | verdict.replace);
    }
  });

  it('is restored in a whole response, whose other bytes stay', () => {
    const body = (name: string) =>
      Buffer.from(
        `{ "model":"m","content":[${block(name)} , ${call('f')}],"big":12345678901234567890}`,
      );
    expect(messages.readResponse(body('a_b_1'), names).body.toString()).toBe(
      body('a.b').toString(),
    );
  });
});

it.each(left)('%s stays unchanged', (_, block) => {
  expect(started(block).isReplaced).toBe(false);
  const body = Buffer.from(`{"content":[${block}]}`);
  expect(messages.readResponse(body, names).body).toBe(body);
});
