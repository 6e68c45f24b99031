/** A protocol in which the playground asks. */
export type Protocol = 'chat' | 'messages' | 'responses' | 'generate-content' | 'images';

const names = {
  chat: ['chat', 'messages', 'responses', 'generate-content'],
  image: ['images'],
} as const satisfies Readonly<Record<string, readonly Protocol[]>>;

/** What a model of this type can be asked in; nothing: the playground cannot ask it. */
export function protocolsFor(type: string): readonly Protocol[] {
  return Object.hasOwn(names, type) ? names[type as keyof typeof names] : [];
}

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
  /** Addresses that carry their own content. */
  readonly pictures?: readonly string[];
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
      const pictures = all.flatMap((part) => {
        const data = at(part, 'inlineData');
        return pictureOf(textAt(data, 'mimeType'), textAt(data, 'data')) ?? [];
      });
      return {
        ...given('text', join(false)),
        ...given('reasoning', join(true)),
        ...(pictures.length > 0 && { pictures }),
        ...given('error', textAt(data, 'error', 'message')),
      };
    },
  },
  images: {
    path: () => '/v1/images/generations',
    body: ({ model, messages }) => ({ model, prompt: messages.at(-1)?.text ?? '' }),
    read(data) {
      const found = at(data, 'data');
      const all = Array.isArray(found) ? found : [];
      const pictures = all.flatMap((each) => {
        const content = textAt(each, 'b64_json') ?? '';
        return pictureOf(typeOf(content), content) ?? [];
      });
      // One that the upstream keeps is not loaded from there.
      const links = all.flatMap((each) => textAt(each, 'url') ?? []);
      return {
        ...(pictures.length > 0 && { pictures }),
        ...given('text', links.join('\n\n')),
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

function pictureOf(type = '', content = ''): string | undefined {
  const isPicture = /^image\/(png|jpeg|webp|gif)$/.test(type) && /^[A-Za-z0-9+/=]+$/.test(content);
  return isPicture ? `data:${type};base64,${content}` : undefined;
}

/** The type of a picture by its first bytes, in base64. */
function typeOf(content: string): string {
  if (content.startsWith('iVBOR')) return 'image/png';
  if (content.startsWith('/9j/')) return 'image/jpeg';
  return content.startsWith('UklGR') ? 'image/webp' : '';
}

function given(name: 'text' | 'reasoning' | 'error', value: string | undefined): Delta {
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
