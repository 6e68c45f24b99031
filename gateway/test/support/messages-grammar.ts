import { expect } from 'vitest';

interface Frame {
  readonly name: string;
  readonly data: Record<string, unknown>;
}

/** Written without the gateway's reader, so that one misreading does not hide on both sides. */
export function readFrames(text: string): Frame[] {
  expect(text === '' || text.endsWith('\n\n')).toBe(true);
  return text
    .split('\n\n')
    .filter((part) => part !== '')
    .map((part) => {
      const [first, second, ...others] = part.split('\n');
      expect(others).toEqual([]);
      expect(first).toMatch(/^event: [a-z_]+$/);
      expect(second).toMatch(/^data: \{/);
      const data = JSON.parse(String(second).slice(6)) as Record<string, unknown>;
      const name = String(first).slice(7);
      expect(data['type']).toBe(name);
      return { name, data };
    });
}

const deltasOf: Readonly<Record<string, readonly string[]>> = {
  text: ['text_delta'],
  thinking: ['thinking_delta', 'signature_delta'],
  tool_use: ['input_json_delta'],
  redacted_thinking: [],
};

/**
 * Asserts that a stream is legal: one message, one block open at a time, numbered from 0, deltas of the block's kind,
 * nothing empty, and the end in its order. Answers the arguments of the calls.
 */
export function assertLegal(text: string): string[] {
  const frames = readFrames(text).filter(({ name }) => name !== 'ping');
  const names = frames.map(({ name }) => name);
  expect(names.filter((name) => !name.startsWith('content_block'))).toEqual([
    'message_start',
    'message_delta',
    'message_stop',
  ]);
  expect([names.at(0), names.at(-2), names.at(-1)]).toEqual([
    'message_start',
    'message_delta',
    'message_stop',
  ]);
  const calls: string[] = [];
  let next = 0;
  let open: { type: string; written: string; signed: boolean } | null = null;
  for (const { name, data } of frames) {
    if (!name.startsWith('content_block')) {
      expect(open).toBe(null);
      continue;
    }
    expect(data['index']).toBe(next);
    if (name === 'content_block_start') {
      expect(open).toBe(null);
      const block = data['content_block'] as Record<string, unknown>;
      const type = String(block['type']);
      expect(Object.keys(deltasOf)).toContain(type);
      if (type === 'tool_use') {
        expect(block['input']).toEqual({});
        expect(block['id']).toMatch(/^[a-zA-Z0-9_-]+$/);
      }
      open = { type, written: '', signed: type === 'redacted_thinking' };
      continue;
    }
    if (open === null) throw new Error(`${name} without an open block`);
    if (name === 'content_block_delta') {
      const delta = data['delta'] as Record<string, string>;
      expect(deltasOf[open.type]).toContain(delta['type']);
      expect(open.signed).toBe(false);
      if (delta['type'] === 'signature_delta') open.signed = true;
      const words =
        delta['text'] ?? delta['thinking'] ?? delta['partial_json'] ?? delta['signature'];
      expect(words).not.toBe('');
      open.written += String(words);
      continue;
    }
    if (open.type !== 'redacted_thinking') expect(open.written).not.toBe('');
    if (open.type === 'tool_use') calls.push(open.written);
    open = null;
    next += 1;
  }
  return calls;
}
