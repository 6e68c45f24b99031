import type { TextProtocolName } from '#canonical/index.ts';

/** One thing that a response can hold, alone in it, as each upstream protocol that has it says it. */
export interface ResponseFeature {
  readonly area: ResponseArea;
  /** Markdown. */
  readonly name: string;
  readonly of: { readonly [Upstream in TextProtocolName]?: SaidOf[Upstream] };
  /** What shows that it arrived; `mark` when absent. */
  readonly shown?: string | RegExp;
  /** In place of the mark: what the client gets, in its protocol's own words. */
  readonly told?: (client: TextProtocolName, response: string) => string;
  /** Why it does not arrive everywhere as it is, or how it does. */
  readonly why?: string;
  /** Whether it is enough that the gateway remembers it. */
  readonly isRemembered?: true;
  /** Nothing that a client does depends on it: it may stay away in silence. */
  readonly harmless?: true;
}

export const responseAreas = [
  'Text',
  'Calls',
  'Reasoning',
  'Images, audio, files',
  'Tools that the vendor runs',
  'Finish reasons',
  'Usage',
  'About the response',
  'Failures',
] as const;
export type ResponseArea = (typeof responseAreas)[number];

export type Members = Readonly<Record<string, unknown>>;

/** What makes a response another one than the plainest of its protocol. */
export interface SaidOf {
  readonly chat: AnyResponse & {
    readonly message?: Members;
    readonly choice?: Members;
    readonly second?: Members;
  };
  readonly responses: AnyResponse & { readonly output?: readonly Members[] };
  readonly messages: AnyResponse & { readonly content?: readonly Members[] };
  readonly 'generate-content': AnyResponse & {
    readonly parts?: readonly Members[];
    readonly candidate?: Members;
    readonly second?: readonly Members[];
  };
}

interface AnyResponse {
  /** Members of the response itself. */
  readonly response?: Members;
  /** An event after which the stream has failed; such a response is only streamed. */
  readonly failure?: Members;
  /** How many things with names of their own this is made of; one when absent. */
  readonly things?: number;
}

/** Starts a list of features of one area. */
export const inArea = (
  area: ResponseArea,
  features: readonly Omit<ResponseFeature, 'area'>[],
): ResponseFeature[] => features.map((feature) => ({ area, ...feature }));

/** Stands somewhere in what is looked for. */
export const mark = 'marked';
/** A count that nothing else in a response has. */
export const count = 70_001;

/** Pieces of responses, as each protocol writes them. */
export const outputMessage = (...content: readonly Members[]): Members => ({
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  status: 'completed',
  content,
});
export const outputText = (text: string, more: Members = {}): Members => ({
  type: 'output_text',
  text,
  annotations: [],
  ...more,
});
export const textBlock = (text: string, more: Members = {}): Members => ({
  type: 'text',
  text,
  ...more,
});
