/**
 * Found cases that are long and say little: kept as how they are made. Short ones are files below `corpus/`, in a
 * folder per target.
 */
export interface GrownCase {
  /** The target's name. */
  readonly target: string;
  readonly what: string;
  make(): string;
}

const deep = (open: string, close: string, depth: number): string =>
  open.repeat(depth) + close.repeat(depth);

const chat = (more: object): string =>
  JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hello' }], ...more });

/** Each is named by two others that are named by two others. */
function doubling(levels: number): object {
  const definitions = Array.from({ length: levels }, (_, level) => {
    const next = { $ref: `#/$defs/d${level + 1}` };
    return [`d${level}`, { type: 'object', properties: { a: next, b: next } }];
  });
  return { $ref: '#/$defs/d0', $defs: Object.fromEntries(definitions) as object };
}

export const grownCases: readonly GrownCase[] = [
  {
    target: 'prices of models.dev',
    what: 'lists inside of lists',
    make: () => `{"openai":${deep('[', ']', 20_000)}}`,
  },
  {
    target: 'configuration of LiteLLM',
    what: 'an alias without its anchor',
    make: () => 'model_list: [{ model_name: *nobody }]\n',
  },
  {
    target: 'configuration of LiteLLM',
    what: 'brackets that nobody closes',
    make: () => `model_list: [{${'[{a: '.repeat(20_000)}`,
  },
  {
    target: 'json scan',
    what: 'lists inside of lists',
    make: () => `{"a":${deep('[', ']', 30_000)}}`,
  },
  {
    target: 'json scan',
    what: 'many different keys',
    make: () => `{${Array.from({ length: 20_000 }, (_, at) => `"k${at}":0`).join(',')}}`,
  },
  {
    target: 'json cursor',
    what: 'a text of escapes',
    make: () => `{"model":"${'\\u0061\\"'.repeat(20_000)}"}`,
  },
  { target: 'data URL', what: 'many parameters', make: () => `data:${';'.repeat(250_000)},x` },
  {
    target: 'event stream',
    what: 'carriage returns alone',
    make: () => `data: 1${'\r'.repeat(60_000)}`,
  },
  {
    target: 'stream of generate-content for responses',
    what: 'many events without data',
    make: () => {
      const parts = [{ functionCall: { id: 'call_1', name: 'a', args: { b: true } } }];
      const chunk = { candidates: [{ content: { role: 'model', parts }, index: 0 }] };
      return `data: ${JSON.stringify(chunk)}\n\n${'data\n\n'.repeat(40_000)}`;
    },
  },
  {
    target: 'request of chat for generate-content',
    what: 'schemas that name one another twice',
    make: () => {
      const parameters = doubling(24);
      return chat({ tools: [{ type: 'function', function: { name: 'a', parameters } }] });
    },
  },
];
