/** A protocol in which the playground asks. */
export type Protocol = 'chat' | 'messages' | 'responses' | 'generate-content';
export const protocolNames: readonly Protocol[] = [
  'chat',
  'messages',
  'responses',
  'generate-content',
];

export interface Message {
  readonly role: 'user' | 'assistant';
  readonly text: string;
}

/** What is asked, whatever the protocol. */
export interface Question {
  readonly model: string;
  readonly messages: readonly Message[];
  /** Empty: none. */
  readonly system: string;
  /** Null: as the model does. */
  readonly maxTokens: number | null;
  readonly temperature: number | null;
}

/** What an event adds to an answer. */
export interface Delta {
  readonly text?: string;
  readonly reasoning?: string;
  /** An address that carries its own content. */
  readonly picture?: string;
  /** The answer ends with this. */
  readonly error?: string;
}

export interface Speaker {
  path(question: Question): string;
  body(question: Question): object;
  /** @param data of an event, parsed */
  read(data: Json): Delta;
}

/** Parsed JSON of which nothing is known. */
type Json = unknown;

/** `messages` requires a limit. */
const usualLimit = 4_096;

export const speakers: Readonly<Record<Protocol, Speaker>> = {
  chat: {
    path: () => '/v1/chat/completions',
    body: ({ model, messages, system, maxTokens, temperature }) => ({
      model,
      messages: [
        ...(system === '' ? [] : [{ role: 'system', content: system }]),
        ...messages.map(({ role, text }) => ({ role, content: text })),
      ],
      ...(maxTokens !== null && { max_tokens: maxTokens }),
      ...(temperature !== null && { temperature }),
      stream: true,
    }),
    read: (data) => ({
      ...given('text', textAt(data, 'choices', 0, 'delta', 'content')),
      ...given('reasoning', textAt(data, 'choices', 0, 'delta', 'reasoning_content')),
      ...given('error', textAt(data, 'error', 'message')),
    }),
  },
  messages: {
    path: () => '/v1/messages',
    body: ({ model, messages, system, maxTokens, temperature }) => ({
      model,
      max_tokens: maxTokens ?? usualLimit,
      ...(system !== '' && { system }),
      messages: messages.map(({ role, text }) => ({ role, content: text })),
      ...(temperature !== null && { temperature }),
      stream: true,
    }),
    read: (data) => ({
      ...given('text', textAt(data, 'delta', 'text')),
      ...given('reasoning', textAt(data, 'delta', 'thinking')),
      ...given('error', textAt(data, 'error', 'message')),
    }),
  },
  responses: {
    path: () => '/v1/responses',
    body: ({ model, messages, system, maxTokens, temperature }) => ({
      model,
      ...(system !== '' && { instructions: system }),
      input: messages.map(({ role, text }) => ({ role, content: text })),
      ...(maxTokens !== null && { max_output_tokens: maxTokens }),
      ...(temperature !== null && { temperature }),
      // Nothing of a try is kept anywhere.
      store: false,
      stream: true,
    }),
    read(data) {
      const type = textAt(data, 'type') ?? '';
      const delta = textAt(data, 'delta');
      return {
        ...(type === 'response.output_text.delta' && given('text', delta)),
        ...(/^response\.reasoning(_summary)?_text\.delta$/.test(type) && given('reasoning', delta)),
        ...(type === 'error' &&
          given('error', textAt(data, 'message') ?? textAt(data, 'error', 'message'))),
        ...(type === 'response.failed' &&
          given('error', textAt(data, 'response', 'error', 'message'))),
      };
    },
  },
  'generate-content': {
    path: ({ model }) =>
      `/v1beta/models/${encodeURIComponent(model)}:streamGenerateContent?alt=sse`,
    body: ({ messages, system, maxTokens, temperature }) => ({
      contents: messages.map(({ role, text }) => ({
        role: role === 'user' ? 'user' : 'model',
        parts: [{ text }],
      })),
      ...(system !== '' && { systemInstruction: { parts: [{ text: system }] } }),
      ...((maxTokens !== null || temperature !== null) && {
        generationConfig: {
          ...(maxTokens !== null && { maxOutputTokens: maxTokens }),
          ...(temperature !== null && { temperature }),
        },
      }),
    }),
    read(data) {
      const parts = at(data, 'candidates', 0, 'content', 'parts');
      const all = Array.isArray(parts) ? parts : [];
      const join = (isThought: boolean) =>
        all
          .filter((part) => (at(part, 'thought') === true) === isThought)
          .map((part) => textAt(part, 'text') ?? '')
          .join('');
      const [picture] = all.flatMap((part) => pictureOf(at(part, 'inlineData')) ?? []);
      return {
        ...given('text', join(false)),
        ...given('reasoning', join(true)),
        ...given('picture', picture),
        ...given('error', textAt(data, 'error', 'message')),
      };
    },
  },
};

/** What a refusal says; null: nothing that is meant for people. */
export function refusalText(body: string): string | null {
  try {
    const parsed: Json = JSON.parse(body);
    return textAt(parsed, 'error', 'message') ?? textAt(parsed, 0, 'error', 'message') ?? null;
  } catch {
    return null;
  }
}

function pictureOf(data: Json): string | undefined {
  const type = textAt(data, 'mimeType') ?? '';
  const content = textAt(data, 'data') ?? '';
  const isPicture = /^image\/(png|jpeg|webp|gif)$/.test(type) && /^[A-Za-z0-9+/=]+$/.test(content);
  return isPicture ? `data:${type};base64,${content}` : undefined;
}

function given<Name extends keyof Delta>(name: Name, value: string | undefined): Delta {
  return value === undefined || value === '' ? {} : { [name]: value };
}

function textAt(value: Json, ...path: readonly (string | number)[]): string | undefined {
  const found = at(value, ...path);
  return typeof found === 'string' ? found : undefined;
}

function at(value: Json, ...path: readonly (string | number)[]): Json {
  let found = value;
  for (const step of path) {
    if (typeof found !== 'object' || found === null) return undefined;
    found = (found as Readonly<Record<string | number, Json>>)[step];
  }
  return found;
}
