import type { en } from '../words/en.ts';
import { curlOf, keyPlaceholder, protocols } from './curl.ts';

/** One thing to do: lines that belong into a file or to another place. */
interface ClientStep {
  readonly place:
    | { readonly file: string }
    | { readonly named: keyof (typeof en)['clients']['places'] };
  readonly text: string;
}

/** What somebody runs or writes to reach the gateway with a client. */
export interface ClientSnippet {
  readonly name: ClientName;
  readonly steps: readonly ClientStep[];
  /** The version with which these steps were tried; null: they were not. */
  readonly tried: string | null;
  /** What else has to be known. */
  readonly note?: keyof (typeof en)['clients']['notes'];
}

interface Place {
  /** Of the gateway. */
  readonly url: string;
  readonly model: string;
  /** For small errands, such as titles; absent: the same. */
  readonly small?: string;
  /** Absent: the placeholder. */
  readonly key?: string;
}

interface Client {
  readonly tried: string | null;
  readonly note?: (place: Required<Place>) => ClientSnippet['note'];
  readonly steps: (place: Required<Place>) => readonly ClientStep[];
}

const shell = (...lines: readonly string[]): ClientStep => ({
  place: { named: 'shell' },
  text: lines.join('\n'),
});
const file = (name: string, ...lines: readonly string[]): ClientStep => ({
  place: { file: name },
  text: lines.join('\n'),
});
/** A value in a program or a file: all of them read this notation. */
const quoted = (text: string) => JSON.stringify(text);
/** A word of a shell; variables in it are filled in. */
const word = (text: string) => (/^[\w$@%+=:,./-]*$/.test(text) ? text : `'${text}'`);
/** For clients that read the secret from the environment. Whoever has the variable needs no line. */
const exportKey = (key: string) =>
  key === keyPlaceholder ? [] : [`export SLUICE_KEY=${word(key)}`];
const isOwnMachine = (url: string) =>
  ['localhost', '127.0.0.1', '[::1]'].includes(new URL(url).hostname);

const clients = {
  'Claude Code': {
    tried: 'Claude Code 2.1.330',
    note: () => 'claudeCode',
    steps: ({ url, model, small, key }) => [
      shell(
        `export ANTHROPIC_BASE_URL=${url}`,
        `export ANTHROPIC_AUTH_TOKEN=${word(key)}`,
        `export ANTHROPIC_MODEL=${word(model)}`,
        `export ANTHROPIC_DEFAULT_HAIKU_MODEL=${word(small)}`,
        'claude',
      ),
    ],
  },
  Codex: {
    tried: 'Codex 0.171',
    steps: ({ url, model, key }) => [
      file(
        '~/.codex/config.toml',
        `model = ${quoted(model)}`,
        'model_provider = "sluice"',
        '',
        '[model_providers.sluice]',
        'name = "Sluice"',
        `base_url = ${quoted(`${url}/v1`)}`,
        `model_catalog_url = ${quoted(`${url}/v1/models`)}`,
        'env_key = "SLUICE_KEY"',
        'wire_api = "responses"',
      ),
      shell(...exportKey(key), 'codex'),
    ],
  },
  'Gemini CLI': {
    tried: 'Gemini CLI 0.61',
    note: ({ url }) =>
      url.startsWith('http:') && !isOwnMachine(url) ? 'geminiNeedsHttps' : undefined,
    steps: ({ url, model, key }) => [
      file(
        '~/.gemini/settings.json',
        '{ "security": { "auth": { "selectedType": "gemini-api-key" } } }',
      ),
      shell(
        `export GOOGLE_GEMINI_BASE_URL=${url}`,
        `export GEMINI_API_KEY=${word(key)}`,
        `export GEMINI_MODEL=${word(model)}`,
        'gemini',
      ),
    ],
  },
  opencode: {
    tried: 'opencode 1.18.33',
    steps: ({ url, model, key }) => [
      file(
        'opencode.json',
        '{',
        `  "model": ${quoted(`sluice/${model}`)},`,
        '  "provider": {',
        '    "sluice": {',
        '      "npm": "@ai-sdk/openai-compatible",',
        '      "name": "Sluice",',
        '      "options": {',
        `        "baseURL": ${quoted(`${url}/v1`)},`,
        '        "apiKey": "{env:SLUICE_KEY}"',
        '      },',
        `      "models": { ${quoted(model)}: {} }`,
        '    }',
        '  }',
        '}',
      ),
      shell(...exportKey(key), 'opencode'),
    ],
  },
  Cline: {
    tried: 'Cline 3.0.65',
    steps: ({ url, model, key }) => [
      {
        place: { named: 'cline' },
        text: [
          'API Provider  OpenAI Compatible',
          `Base URL      ${url}/v1`,
          `API Key       ${key}`,
          `Model ID      ${model}`,
        ].join('\n'),
      },
    ],
  },
  Continue: {
    tried: 'Continue 1.5.47',
    steps: ({ url, model, key }) => [
      file(
        '~/.continue/config.yaml',
        'name: Sluice',
        'version: 1.0.0',
        'schema: v1',
        'models:',
        `  - name: ${quoted(model)}`,
        '    provider: openai',
        `    model: ${quoted(model)}`,
        `    apiBase: ${quoted(`${url}/v1/`)}`,
        `    apiKey: ${quoted(key)}`,
      ),
    ],
  },
  Cursor: {
    tried: null,
    note: () => 'cursor',
    steps: ({ url, model, key }) => [
      {
        place: { named: 'cursor' },
        text: [
          `OpenAI API Key            ${key}`,
          `Override OpenAI Base URL  ${url}/v1`,
          `Add a model               ${model}`,
        ].join('\n'),
      },
    ],
  },
  'Open WebUI': {
    tried: 'Open WebUI 0.12.4',
    note: () => 'openWebUi',
    steps: ({ url, key }) => [
      {
        place: { named: 'openWebUi' },
        text: [`OPENAI_API_BASE_URL=${url}/v1`, `OPENAI_API_KEY=${key}`].join('\n'),
      },
    ],
  },
  Python: {
    tried: 'openai 3.57.0',
    steps: ({ url, model, key }) => [
      file(
        'hello.py',
        'from openai import OpenAI',
        '',
        `client = OpenAI(base_url=${quoted(`${url}/v1`)}, api_key=${quoted(key)})`,
        'answer = client.chat.completions.create(',
        `    model=${quoted(model)},`,
        '    messages=[{"role": "user", "content": "Hello!"}],',
        ')',
        'print(answer.choices[0].message.content)',
      ),
    ],
  },
  TypeScript: {
    tried: 'openai 7.59.0',
    steps: ({ url, model, key }) => [
      file(
        'hello.ts',
        'import OpenAI from "openai";',
        '',
        `const client = new OpenAI({ baseURL: ${quoted(`${url}/v1`)}, apiKey: ${quoted(key)} });`,
        'const answer = await client.chat.completions.create({',
        `  model: ${quoted(model)},`,
        '  messages: [{ role: "user", content: "Hello!" }],',
        '});',
        'console.log(answer.choices[0]?.message.content);',
      ),
    ],
  },
  curl: {
    tried: 'curl 7.88',
    steps: ({ url, model, key }) => [
      shell(
        curlOf({
          url,
          path: protocols.chat.path(),
          body: protocols.chat.body(model, 'Hello!'),
          key,
        }),
      ),
    ],
  },
} as const satisfies Readonly<Record<string, Client>>;

export type ClientName = keyof typeof clients;
export const clientNames = Object.keys(clients) as ClientName[];

export const isClientName = (value: unknown): value is ClientName =>
  typeof value === 'string' && Object.hasOwn(clients, value);

/** How to reach the gateway with this client. */
export function clientSnippet(
  name: ClientName,
  { url, model, small = model, key = keyPlaceholder }: Place,
): ClientSnippet {
  const place = { url, model, small, key };
  const { tried, steps, note }: Client = clients[name];
  const said = note?.(place);
  return { name, steps: steps(place), tried, ...(said !== undefined && { note: said }) };
}

/** The protocol that a client speaks, where it is not the usual one. */
const spoken: Partial<Record<ClientName, string>> = {
  'Claude Code': 'messages',
  Codex: 'responses',
  'Gemini CLI': 'generate-content',
};

/** A model to choose from. */
export interface Candidate {
  readonly id: string;
  readonly type: string;
  readonly priced: boolean;
  readonly protocols: readonly string[];
  readonly prices: readonly { readonly part: string; readonly price: string }[];
}

/** Those for which nothing is converted, if there are any, the dearest first: what a provider asks most for is its best. */
export function modelsFor(name: ClientName, models: readonly Candidate[]): Candidate[] {
  const usable = models.filter(({ type, priced }) => type === 'chat' && priced);
  const native = usable.filter(({ protocols: all }) => all.includes(spoken[name] ?? 'chat'));
  const outputOf = ({ prices }: Candidate) =>
    Number(prices.find(({ part }) => part === 'output')?.price ?? 0);
  return (native.length > 0 ? native : usable).toSorted((a, b) => outputOf(b) - outputOf(a));
}

/**
 * A model to write into the steps of a client, and one for small errands.
 * @param used what the key was used for most
 */
export function modelFor(
  name: ClientName,
  models: readonly Candidate[],
  used?: string,
): { readonly model: string; readonly small: string } {
  const ids = modelsFor(name, models).map(({ id }) => id);
  const model = ids.find((id) => id === used) ?? ids[0] ?? 'demo-chat';
  return { model, small: ids.at(-1) ?? model };
}

/** Lines for a shell of Unix as PowerShell takes them; the same where nothing differs. */
export function inPowerShell(text: string): string {
  return text.replaceAll(/^export (\w+)=(.*)$/gm, (_line, name: string, value: string) => {
    const isVariable = value.startsWith('$');
    const quoted = value.startsWith("'") ? value : `'${value}'`;
    return `$env:${name} = ${isVariable ? `$env:${value.slice(1)}` : quoted}`;
  });
}
