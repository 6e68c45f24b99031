import { describe, expect, it } from 'vitest';
import { bodies, bodyTo, streams, streamTo } from './converted-responses.ts';
import { absence, type Recording } from './recordings.ts';
import { payloads, readEvents } from './tap-run.ts';

/** What a response is to a messages client, whoever gave it and in how many pieces. */
interface Gist {
  /** Kinds of blocks, each once; thoughts, which not everybody shows, aside. */
  readonly kinds: readonly string[];
  readonly reason: string;
  readonly tools: readonly string[];
}

type Json = Readonly<Record<string, unknown>>;

function gistOf(recording: Recording): Gist {
  const isOwn = recording.protocol === 'messages';
  if (typeof recording.sse === 'string') {
    const sent = isOwn ? recording.sse : streamTo('messages', recording).sent;
    const events = payloads(readEvents([Buffer.from(sent)])) as Json[];
    const blocks = events.map((event) => event['content_block'] as Json | undefined);
    const end = events.findLast(({ type }) => type === 'message_delta')?.['delta'] as Json;
    return gist(
      blocks.filter((block) => block !== undefined),
      end['stop_reason'],
    );
  }
  const body = (
    isOwn ? recording.body : JSON.parse(String(bodyTo('messages', recording).body))
  ) as Json;
  return gist(body['content'] as Json[], body['stop_reason']);
}

function gist(blocks: readonly Json[], reason: unknown): Gist {
  const kinds = blocks.map(({ type }) => String(type)).filter((type) => !/thinking/.test(type));
  const calls = blocks.filter(({ type }) => type === 'tool_use');
  return {
    kinds: [...new Set(kinds)].toSorted(),
    reason: String(reason),
    tools: calls.map(({ name }) => String(name)).toSorted(),
  };
}

const groups = Object.entries(
  Object.groupBy(
    [...streams, ...bodies].filter(({ group }) => group !== undefined),
    ({ group, turn = 1 }) => `${group}, turn ${turn}`,
  ),
)
  .map(([name, members = []]) => ({ name, members }))
  .filter(({ members }) => new Set(members.map(({ protocol }) => protocol)).size > 1);

/**
 * Where the models themselves answered differently, the recorded responses say so before anything is converted: who
 * gave which gist. Everything else must be the same whatever protocol it came in.
 */
const differences: Readonly<Record<string, readonly string[]>> = {
  // One of the models called the tool.
  'exclusiveMinimumToolParam, turn 1': [
    'text; end_turn: chat, responses',
    'tool_use; tool_use; configure_llm: chat',
  ],
  // Asked again with results in the history, one asked for more weather.
  'parallelToolCallsRequest, turn 1': [
    'text; end_turn: chat, generate-content, messages, responses',
    'tool_use; tool_use; get_weather,get_weather: responses',
  ],
  // Claude says what it is about to do.
  'parallelToolCallsDisabledParam, turn 1': [
    'text,tool_use; tool_use; get_weather: messages',
    'tool_use; tool_use; get_weather: chat, responses',
  ],
  // Claude was given a tool of the client's in place of the vendor's.
  'codeInterpreterToolParam, turn 1': [
    'text,tool_use; tool_use; bash: messages',
    'text; end_turn: generate-content, responses',
  ],
  // OpenAI's models thought until the limit; the others had begun to speak, or were done.
  'reasoningRequestTruncated, turn 1': [
    '; max_tokens: chat, responses',
    'text; max_tokens: generate-content, messages',
  ],
  'reasoningRequestTruncated, turn 2': [
    '; max_tokens: chat',
    'text; end_turn: messages',
    'text; max_tokens: generate-content, messages',
  ],
  // Gemini reached the limit.
  'jsonSchemaFormatParam, turn 2': [
    'text; end_turn: chat, messages, responses',
    'text; max_tokens: generate-content',
  ],
};

/** Who gave which gist, one line each. */
function linesOf(members: readonly Recording[]): string[] {
  const by = Object.groupBy(members, (each) => {
    const { kinds, reason, tools } = gistOf(each);
    return [kinds, reason, ...(tools.length > 0 ? [tools] : [])].map(String).join('; ');
  });
  return Object.entries(by)
    .map(([line, all = []]) => {
      const names = new Set(all.map(({ protocol }) => protocol));
      return `${line}: ${[...names].toSorted().join(', ')}`;
    })
    .toSorted();
}

describe.skipIf(absence !== null)(`one question, several protocols ${absence ?? ''}`, () => {
  it.each(groups)('$name: one response to a messages client', ({ name, members }) => {
    const lines = linesOf(members);
    const known = differences[name];
    if (known === undefined) expect(lines).toHaveLength(1);
    else expect(lines).toEqual(known);
  });

  it('every explained difference occurs', () => {
    const names = groups.map(({ name }) => name);
    expect(Object.keys(differences).filter((name) => !names.includes(name))).toEqual([]);
  });
});
