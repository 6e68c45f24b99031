import { expect, test } from 'vitest';
import type { TextProtocolName } from '#canonical/index.ts';
import { GatewayError } from '#errors/index.ts';
import { textProtocols } from '#protocols/index.ts';
import { convert, readWireText, textProtocolNames } from '../support/convert.ts';
import { inTurn, isLong } from '../support/runs.ts';

/*
 * S-21: the time of a long request grows with its length and not with the square of it, whatever is wrong with it. The
 * yardstick is what parsing it takes in the same process; both are CPU time of this thread, so that a busy machine
 * changes neither.
 */

const many = 8_000;

interface Language {
  readonly user: string;
  readonly assistant: string;
  calls(ids: readonly string[]): string;
  results(ids: readonly string[]): string;
  body(messages: readonly string[]): string;
  /** One with this schema of its arguments. */
  tool(name: string, schema: string): string;
  /** One of these has to be called. */
  choice(names: readonly string[]): string;
}

const quoted = (text: string) => JSON.stringify(text);

const languages: Readonly<Record<TextProtocolName, Language>> = {
  chat: {
    user: '{"role":"user","content":"a"}',
    assistant: '{"role":"assistant","content":"b"}',
    calls: (ids) =>
      `{"role":"assistant","tool_calls":[${ids.map((id) => `{"id":${quoted(id)},"type":"function","function":{"name":"f","arguments":"{}"}}`).join()}]}`,
    results: (ids) =>
      ids.map((id) => `{"role":"tool","tool_call_id":${quoted(id)},"content":"r"}`).join(),
    body: (messages) => `"messages":[${messages.join()}]`,
    tool: (name, schema) =>
      `{"type":"function","function":{"name":${quoted(name)},"parameters":${schema}}}`,
    choice: (names) =>
      `"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[${names.map((name) => `{"type":"function","function":{"name":${quoted(name)}}}`).join()}]}}`,
  },
  responses: {
    user: '{"role":"user","content":"a"}',
    assistant: '{"role":"assistant","content":"b"}',
    calls: (ids) =>
      ids
        .map((id) => `{"type":"function_call","call_id":${quoted(id)},"name":"f","arguments":"{}"}`)
        .join(),
    results: (ids) =>
      ids
        .map((id) => `{"type":"function_call_output","call_id":${quoted(id)},"output":"r"}`)
        .join(),
    body: (messages) => `"input":[${messages.join()}]`,
    tool: (name, schema) => `{"type":"function","name":${quoted(name)},"parameters":${schema}}`,
    choice: (names) =>
      `"tool_choice":{"type":"allowed_tools","mode":"auto","tools":[${names.map((name) => `{"type":"function","name":${quoted(name)}}`).join()}]}`,
  },
  messages: {
    user: '{"role":"user","content":"a"}',
    assistant: '{"role":"assistant","content":"b"}',
    calls: (ids) =>
      `{"role":"assistant","content":[${ids.map((id) => `{"type":"tool_use","id":${quoted(id)},"name":"f","input":{}}`).join()}]}`,
    results: (ids) =>
      `{"role":"user","content":[${ids.map((id, index) => `{"type":"tool_result","tool_use_id":${quoted(id)},"content":"r${index}"}`).join()}]}`,
    body: (messages) => `"max_tokens":9,"messages":[${messages.join()}]`,
    tool: (name, schema) => `{"name":${quoted(name)},"input_schema":${schema}}`,
    choice: () => '"tool_choice":{"type":"any"}',
  },
  'generate-content': {
    user: '{"role":"user","parts":[{"text":"a"}]}',
    assistant: '{"role":"model","parts":[{"text":"b"}]}',
    calls: (ids) =>
      `{"role":"model","parts":[${ids.map((id) => `{"functionCall":{"id":${quoted(id)},"name":"f","args":{}}}`).join()}]}`,
    results: (ids) =>
      `{"role":"user","parts":[${ids.map((id) => `{"functionResponse":{"id":${quoted(id)},"name":"f","response":{}}}`).join()}]}`,
    body: (messages) => `"contents":[${messages.join()}]`,
    tool: (name, schema) =>
      `{"functionDeclarations":[{"name":${quoted(name)},"parameters":${schema}}]}`,
    choice: (names) =>
      `"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":[${names.map(quoted).join()}]}}`,
  },
};

const times = <Value>(count: number, make: (index: number) => Value): Value[] =>
  Array.from({ length: count }, (_, index) => make(index));
const ids = times(many, (index) => `c${index}`);
const some = ids.slice(0, many / 2);
const string = '{"type":"string"}';
const objectOf = (name: string) => `{"type":"object","properties":{"${name}":${string}}}`;

interface Shape {
  readonly name: string;
  /** With which it is converted in every run: one that it means most work for, and that does not refuse it at once. */
  readonly client: TextProtocolName;
  readonly write: (language: Language) => string;
}

const shapes: readonly Shape[] = [
  { name: 'one speaker', client: 'chat', write: ({ user, body }) => body(times(many, () => user)) },
  {
    name: 'two speakers',
    client: 'generate-content',
    write: ({ user, assistant, body }) =>
      body([...times(many, (index) => (index % 2 === 0 ? user : assistant)), user]),
  },
  {
    name: 'instructions',
    client: 'responses',
    write: ({ user, body }) =>
      body([user, ...times(many, () => '{"role":"system","content":"a"}')]),
  },
  {
    name: 'instructions of another name',
    client: 'chat',
    write: ({ user, body }) =>
      body([user, ...times(many, () => '{"role":"developer","content":"a"}')]),
  },
  {
    name: 'calls of one turn',
    client: 'messages',
    write: ({ user, calls, results, body }) => body([user, calls(ids), results(ids.toReversed())]),
  },
  {
    name: 'calls of one turn without results',
    client: 'messages',
    write: ({ user, calls, body }) => body([user, calls(ids), user]),
  },
  {
    name: 'calls of many turns without results',
    client: 'messages',
    write: ({ user, calls, body }) => body([user, ...some.flatMap((id) => [calls([id]), user])]),
  },
  {
    name: 'calls of one turn with late results',
    client: 'responses',
    write: ({ user, assistant, calls, results, body }) =>
      body([user, calls(ids), user, assistant, results(ids)]),
  },
  {
    name: 'calls of many turns with late results',
    client: 'chat',
    write: ({ user, assistant, calls, results, body }) =>
      body([user, ...some.flatMap((id) => [calls([id]), user]), assistant, results(some)]),
  },
  {
    name: 'calls of one id',
    client: 'generate-content',
    write: ({ user, calls, results, body }) =>
      body([user, calls(ids.map(() => 'c')), results(ids.map(() => 'c'))]),
  },
  {
    name: 'calls with odd ids',
    client: 'chat',
    write: ({ user, calls, results, body }) =>
      body([user, calls(ids.map(() => 'é')), results(ids.map(() => 'é'))]),
  },
  {
    name: 'results of one call',
    client: 'messages',
    write: ({ user, calls, results, body }) =>
      body([user, calls(['c']), results(ids.map(() => 'c'))]),
  },
  {
    name: 'a choice among tools',
    client: 'generate-content',
    write: ({ user, tool, choice, body }) =>
      `${body([user])},"tools":[${ids.map((id) => tool(id, '{"type":"object"}')).join()}],${choice(ids.map((id) => `x${id}`))}`,
  },
  {
    name: 'tools with odd names',
    client: 'messages',
    write: ({ user, tool, body }) =>
      `${body([user])},"tools":[${ids.map((id) => tool(`é${id}`, '{"type":"object"}')).join()}]`,
  },
  {
    name: 'a schema with required members',
    client: 'responses',
    write: ({ user, tool, body }) => {
      const properties = ids.map((id) => `"${id}":${string}`).join();
      const required = ids.toReversed().map(quoted).join();
      const schema = `{"type":"object","properties":{${properties}},"required":[${required}],"additionalProperties":false}`;
      return `${body([user])},"tools":[${tool('f', schema)}]`;
    },
  },
  ...(
    [
      ['allOf', 'responses'],
      ['anyOf', 'chat'],
    ] as const
  ).map(([word, client]): Shape => ({
    name: `a schema of ${word}`,
    client,
    write: ({ user, tool, body }) => {
      const schema = `{"type":"object","${word}":[${ids.map(objectOf).join()}]}`;
      return `${body([user])},"tools":[${tool('f', schema)}]`;
    },
  })),
];

/** Milliseconds of this thread's CPU. */
async function cpuOf(work: () => unknown): Promise<number> {
  const before = process.threadCpuUsage();
  await work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

async function unlessRefused(work: () => unknown): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    expect(error.entry.status).toBe(400);
  }
}

/** Several times what any of these takes. What does something for each of its parts with each of the others takes more. */
const most = 80;

/** Too short to be measured. Milliseconds. */
const least = 5;

/** How often the text can be parsed in the time of the work; in one of three rounds no pause of the collector counts. */
async function cost(text: string, work: () => unknown): Promise<number> {
  const ratios: number[] = [];
  while (ratios.length < 3 && !ratios.some((ratio) => ratio < most)) {
    const worked = await cpuOf(() => unlessRefused(work));
    const parsed = await cpuOf(() => JSON.parse(text));
    ratios.push(worked / Math.max(parsed, least));
  }
  return Math.min(...ratios);
}

/** Every protocol once on each side. */
const upstreams: Readonly<Record<TextProtocolName, TextProtocolName>> = {
  chat: 'messages',
  messages: 'chat',
  responses: 'generate-content',
  'generate-content': 'responses',
};

test.each(shapes)('$name, converted', async ({ client: one, write }) => {
  for (const client of isLong ? textProtocolNames : [one]) {
    const protocol = upstreams[client];
    const text = `{"model":"m",${write(languages[client])}}`;
    const request = readWireText(client, text);
    const taken = await cost(text, () => convert({ client, request, target: { protocol } }));
    expect(taken, `${client} as ${protocol}`).toBeLessThan(most);
  }
});

test.each(shapes.map((shape, index) => ({ ...shape, index })))(
  '$name, repaired',
  async ({ write, index }) => {
    const text = `{"model":"m",${write(languages.messages)}}`;
    const request = readWireText('messages', text);
    for (const upstreamModel of inTurn(index, ['claude-opus-4-8', 'other'])) {
      const target = { upstreamModel, maxOutputTokens: 9000 };
      const taken = await cost(text, () => textProtocols.messages.patchRequest(request, target));
      expect(taken, upstreamModel).toBeLessThan(most);
    }
  },
);
