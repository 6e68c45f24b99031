import { z } from 'zod';

/** One way to ask, in the words of no protocol. */
export interface Ask {
  readonly model: string;
  readonly text: string;
  readonly stream: boolean;
  readonly tools?: boolean;
  readonly think?: boolean;
  /** A picture beside the text: its address, or a data URL. */
  readonly image?: string;
  readonly headers?: Record<string, string>;
}

export interface SdkCall {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

export interface SdkResponse {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly SdkCall[];
  readonly finish: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /**
   * Sends one result per call (`result 0`, `result 1`, …) after all that was said, as agents do, and then what the
   * user says next. The conversation may go on with another model.
   */
  goOn(next?: Partial<Pick<Ask, 'text' | 'model'>>): Promise<SdkResponse>;
}

/** An SDK as the tests use it. */
export interface SdkClient {
  ask(url: string, ask: Ask): Promise<SdkResponse>;
  /** Through the SDK's own helper for structured responses, where it has one. */
  parse(url: string, ask: Ask): Promise<unknown>;
}

export const city = z.object({ name: z.string(), people: z.int(), twins: z.array(z.string()) });

const weather = {
  type: 'object' as const,
  properties: { city: { type: 'string' } },
  required: ['city'],
};
const nothing = { type: 'object' as const, properties: {} };
export const tools = [
  { name: 'get_weather', schema: weather },
  { name: 'get_time', schema: nothing },
];

/** The question of the next request: what was asked stays as it was. */
export function nextAsk(ask: Ask, { model = ask.model }: Partial<Ask> = {}): Ask {
  return { ...ask, model };
}

/** What stands in a data URL; null for an address. */
export function inlineOf(image: string): { mime: string; base64: string } | null {
  const found = /^data:([^;]+);base64,(.*)$/.exec(image);
  return found === null ? null : { mime: found[1] ?? '', base64: found[2] ?? '' };
}
