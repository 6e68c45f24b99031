import { type Block, type GenerationRequest, Unconvertible } from '#canonical/index.ts';
import type { EncodeTarget } from '#protocols/codec.ts';
import { messagesCodec } from '#protocols/messages/index.ts';
import { requestOf } from './canonical.ts';
import { target } from './messages-samples.ts';

/** The encoded request, as tests read it. */
export interface Body {
  readonly max_tokens: number;
  readonly system?: readonly Record<string, unknown>[];
  readonly messages: readonly { role: string; content: Record<string, unknown>[] }[];
  readonly tools?: readonly Record<string, unknown>[];
  readonly tool_choice?: unknown;
  readonly thinking?: { type: string; budget_tokens?: number };
  readonly output_config?: Record<string, unknown>;
  readonly [name: string]: unknown;
}

/** The body for an upstream, and its losses: `-` for a dropped one, `~` for an approximated one. */
export const encode = (fields: Partial<GenerationRequest>, at: Partial<EncodeTarget> = {}) => {
  const { json, losses } = messagesCodec.encodeRequest(
    requestOf({ maxOutputTokens: 8000, ...fields }),
    {
      ...target,
      capabilities: new Set(),
      ...at,
    },
  );
  const noted = losses.map(({ what, how }) => `${how === 'dropped' ? '-' : '~'}${what}`);
  return { body: json as unknown as Body, losses: noted };
};

/** The loss for which a request is refused. */
export const refused = (fields: Partial<GenerationRequest>): string => {
  try {
    encode(fields);
  } catch (error) {
    if (error instanceof Unconvertible) return error.what;
    throw error;
  }
  return 'encoded';
};

export const text = (value: string) => ({ type: 'text', text: value });
export const image = {
  type: 'image',
  source: { kind: 'data', mime: 'image/png', base64: 'AAAA' },
} as const satisfies Block;
