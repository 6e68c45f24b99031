import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { cachingCases } from '#test/support/messages-repairs/caching.ts';
import { callCases } from '#test/support/messages-repairs/calls.ts';
import { memberCases } from '#test/support/messages-repairs/members.ts';
import { thinkingCases } from '#test/support/messages-repairs/thinking.ts';
import { toolCases } from '#test/support/messages-repairs/tools.ts';
import { turnCases } from '#test/support/messages-repairs/turns.ts';
import { messages } from '../../index.ts';
import {
  whole,
  talk,
  hello,
  user,
  model,
  text,
  call,
  result,
  patch,
  type Case,
} from '#test/support/messages-repairs/requests.ts';
import { rules } from './table.ts';

const cases: readonly Case[] = [
  ...memberCases,
  ...thinkingCases,
  ...turnCases,
  ...callCases,
  ...toolCases,
  ...cachingCases,
];

/** Cases that are not in the table because their exact bytes are long. */
const longer: Readonly<Record<string, string>> = {
  'a result that comes later': talk(
    user(text('hi')),
    model(call('a')),
    `{"role":"user", "content":[${result('a', '"12"')},${text('wait')}]}`,
    model(text('ok')),
    user(text('y')),
  ),
  'calls of tools that are not defined': talk(
    user(text('hi')),
    model(call('a')),
    user(result('a')),
  ),
};

function named([what, id, before, after, options = {}]: Case) {
  return { what, id, before, after, options };
}

describe('repairs', () => {
  it.each([...cases].map(named))('$what ($id)', ({ what, id, before, after, options }) => {
    const name = options.model ?? 'claude-sonnet-4-5';
    const patched = patch(whole(before, name), { model: name, ...options });
    expect(patched.ids).toContain(id);
    let expected = whole(after === '' ? (longer[what] ?? '') : after, name);
    if (id === 'b34') {
      expected = expected.replace('{', '{"tools":[{"name":"f","input_schema":{"type":"object"}}],');
    }
    expect(patched.text).toBe(expected);
    expect(patch(patched.text, { model: name, ...options })).toMatchObject({
      ids: [],
      same: true,
    });
  });
});

describe('the table', () => {
  it('has one rule for each number', () => {
    const ids = rules.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('has a test for every rule', () => {
    const tested = new Set([...cases.map(([, id]) => id), 'b33', 'b37', 'b44']);
    expect(rules.map(({ id }) => id).filter((id) => !tested.has(id))).toEqual([]);
  });

  it('matches the documentation', () => {
    const page = readFileSync(
      new URL('../../../../../../../docs/repairs.md', import.meta.url),
      'utf8',
    );
    const told = [...page.matchAll(/^\| `(b\d+)` /gm)].map(([, id]) => String(id));
    const ids: string[] = ['b2', ...rules.map(({ id }) => id)];
    const byNumber = (a: string, b: string): number => Number(a.slice(1)) - Number(b.slice(1));
    // The second table has those that other vendors need, too.
    expect(told.slice(0, ids.length)).toEqual(ids.toSorted(byNumber));
  });
});

it('a mapped name and the declared rewrites combine with the repairs', () => {
  const before = `{ "temperature":0.5,"top_p":0.2 , "model":"alias","max_tokens":9000,${talk(user(text(''), text('a')))}}`;
  expect(patch(before, { model: 'claude-opus-4-8', limit: 500 })).toMatchObject({
    text: `{ "model":"claude-opus-4-8","max_tokens":500,${talk(user(text('a')))}}`,
    ids: ['b1', 'b2', 'b13'],
  });
});

it('numbers written as text are numbers, also as limits', () => {
  const before = `{"model":"claude-sonnet-4-5","max_tokens":"900","thinking":{"type":"enabled","budget_tokens":"2000"},${hello}}`;
  expect(patch(before, {})).toMatchObject({
    text: `{"model":"claude-sonnet-4-5","max_tokens":900,${hello}}`,
    ids: ['b3', 'b43'],
  });
  const path = { operation: 'generate', model: null, stream: null } as const;
  const request = messages.readRequest(messages.openRequest(Buffer.from(before), path));
  expect(request.maxOutputTokens).toBe(900);
});
