import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { textCodecs } from '#protocols/index.ts';
import { messages } from '#protocols/messages/index.ts';
import { nameTools } from '#conversion/tools/tool-names.ts';
import { call, requestOf, tool, assistant } from '../support/canonical.ts';
import { jsonText } from './json-text.ts';
import { traitsOf } from '../support/upstream-traits.ts';

const models = ['claude-sonnet-4-5', 'anthropic.claude-sonnet-4-5', 'demo-chat'];
const limits: Readonly<Record<string, number>> = { 'claude-sonnet-4-5': 128 };

const legal = fc.stringMatching(/^[a-zA-Z0-9_-]{1,12}$/);
const name = fc.oneof(
  legal,
  fc.string({ maxLength: 90, unit: 'binary' }),
  fc.constantFrom('a.b', 'a b', 'a_b', 'a_b_68a436', '', 'cut \ud83d', 'cut \ud83e'),
  legal.map((start) => start.padEnd(140, 'x')),
  legal.map((start) => `${'x'.repeat(130)}${start}`),
  legal.map((start) => start.padEnd(100, 'x')),
);

interface Named {
  readonly defined: readonly string[];
  readonly called: readonly string[];
  readonly chosen: string | null;
}

const named: fc.Arbitrary<Named> = fc
  .record({
    names: fc.uniqueArray(name, { minLength: 1, maxLength: 8 }),
    gone: fc.nat(3),
    chooses: fc.boolean(),
  })
  .map(({ names, gone, chooses }) => {
    const defined = names.slice(0, Math.max(1, names.length - gone));
    return { defined, called: names, chosen: chooses ? defined[0]! : null };
  });

function bodyOf({ defined, called, chosen }: Named, model: string) {
  return {
    model,
    max_tokens: 100,
    tools: defined.map((each) => ({ name: each, input_schema: { type: 'object' } })),
    ...(chosen !== null && { tool_choice: { type: 'tool', name: chosen } }),
    messages: [
      { role: 'user', content: 'go' },
      {
        role: 'assistant',
        content: called.map((each, at) => ({
          type: 'tool_use',
          id: `c${at}`,
          name: each,
          input: {},
        })),
      },
      {
        role: 'user',
        content: called.map((each, at) => ({
          type: 'tool_result',
          tool_use_id: `c${at}`,
          content: [{ type: 'tool_reference', tool_name: each }],
        })),
      },
    ],
  };
}

interface Body {
  readonly tools: readonly { name: string }[];
  readonly tool_choice?: { name: string };
  readonly messages: readonly {
    content: readonly { name?: string; content?: readonly { tool_name: string }[] }[];
  }[];
}

function patch(text: string) {
  const path = { operation: 'generate', model: null, stream: null } as const;
  const request = messages.readRequest(messages.openRequest(Buffer.from(text), path));
  const patched = messages.patchRequest(request, {
    upstreamModel: request.model,
    maxOutputTokens: null,
  });
  return { ...patched, request, json: JSON.parse(patched.body.toString('utf8')) as Body };
}

/** What a whole response that calls each of the tools says to the client. */
function answered(names: readonly string[], { toolNames }: ReturnType<typeof patch>): string[] {
  const response = JSON.stringify({
    type: 'message',
    model: 'up',
    content: names.map((each) => ({ type: 'tool_use', id: 'c', name: each, input: {} })),
  });
  const echo = { clientModel: 'mine', upstreamModel: 'up', ...(toolNames && { toolNames }) };
  const { body } = messages.readResponse(Buffer.from(response), echo);
  const json = JSON.parse(body.toString('utf8')) as { content: { name: string }[] };
  return json.content.map((block) => block.name);
}

describe('names of tools for a messages upstream', () => {
  it('are unique and legal, the same everywhere, and come back as they were', () => {
    let renamed = 0;
    fc.assert(
      fc.property(
        fc
          .tuple(named, fc.constantFrom(...models))
          .chain(([value, model]) =>
            fc.tuple(fc.constant(value), fc.constant(model), jsonText(bodyOf(value, model))),
          ),
        ([value, model, text]) => {
          const patched = patch(text);
          const { json } = patched;
          const upstream = json.messages[1]!.content.map((block) => block.name!);
          const allowed = new RegExp(`^[a-zA-Z0-9_-]{1,${limits[model] ?? 64}}$`);
          for (const each of upstream) expect(each).toMatch(allowed);
          expect(new Set(upstream).size).toBe(value.called.length);
          for (const [at, each] of value.called.entries()) {
            if (allowed.test(each)) expect(upstream[at]).toBe(each);
          }
          expect(json.tools.map((each) => each.name)).toEqual(
            upstream.slice(0, value.defined.length),
          );
          if (value.chosen !== null) expect(json.tool_choice?.name).toBe(upstream[0]);
          const mentioned = json.messages[2]!.content.map((block) => block.content![0]!.tool_name);
          expect(mentioned).toEqual(upstream);
          expect(answered(upstream, patched)).toEqual(value.called);
          expect(patch(text).body).toEqual(patched.body);
          expect(patch(patched.body.toString('utf8')).rewrites).toEqual([]);

          const isSame = upstream.every((each, at) => each === value.called[at]);
          expect(patched.rewrites).toEqual(isSame ? [] : ['b29']);
          if (isSame) expect(patched.body).toBe(patched.request.body);
          else renamed += 1;
        },
      ),
      { numRuns: 200 },
    );
    expect(renamed).toBeGreaterThan(50);
  });

  it('are the ones of a converted request', () => {
    fc.assert(
      fc.property(named, fc.constantFrom(...models), ({ defined, called }, model) => {
        const native = patch(JSON.stringify(bodyOf({ defined, called, chosen: null }, model)));
        const { upstreamTraits } = textCodecs.messages;
        const names = nameTools(
          requestOf({
            tools: defined.map((each) => tool(each)),
            turns: [assistant(...called.map((each) => call({ name: each })))],
          }),
          upstreamTraits!({ traits: traitsOf('simulator', model), model }),
        );
        expect(native.json.messages[1]!.content.map((block) => block.name)).toEqual(
          called.map((each) => names.toUpstream(each, undefined)),
        );
      }),
      { numRuns: 300 },
    );
  });

  it('are the same when tools come and go', () => {
    fc.assert(
      fc.property(named, fc.nat(11), ({ called }, at) => {
        const [model] = models as [string];
        const all = patch(JSON.stringify(bodyOf({ defined: called, called, chosen: null }, model)));
        const index = at % called.length;
        const one = [called[index]!];
        const alone = patch(
          JSON.stringify(bodyOf({ defined: one, called: one, chosen: null }, model)),
        );
        // Unless another tool really has the name.
        fc.pre(
          !called.some((each, other) => other !== index && each === alone.json.tools[0]!.name),
        );
        expect(all.json.tools[index]!.name).toBe(alone.json.tools[0]!.name);
      }),
      { numRuns: 300 },
    );
  });
});
