import type { TestGateway } from '../support/gateway.ts';

export const said = 'The quick brown fox jumps over the lazy dog.';

export interface Counted {
  readonly status: number;
  readonly tokens: unknown;
  readonly members: readonly string[];
  readonly estimated: string | null;
  readonly id: string;
  /** The losses of the request: `x-sluice-conversion`. */
  readonly losses: string | null;
}

/** The two surfaces that count, from outside. */
export const surfaces = [
  {
    name: 'messages' as const,
    member: 'input_tokens',
    path: (_model: string) => '/v1/messages/count_tokens',
    body: (model: string, text: string): Record<string, unknown> => ({
      model,
      messages: [{ role: 'user', content: text }],
    }),
  },
  {
    name: 'generate-content' as const,
    member: 'totalTokens',
    path: (model: string) => `/v1beta/models/${encodeURIComponent(model)}:countTokens`,
    body: (_model: string, text: string): Record<string, unknown> => ({
      contents: [{ role: 'user', parts: [{ text }] }],
    }),
  },
];
export type Surface = (typeof surfaces)[number];

export async function count(
  gateway: TestGateway,
  surface: Surface,
  model: string,
  body: unknown = surface.body(model, said),
): Promise<Counted> {
  const response = await gateway.post(surface.path(model), body);
  const parsed = (await response.json()) as Record<string, unknown>;
  return {
    status: response.status,
    tokens: parsed[surface.member],
    members: Object.keys(parsed),
    estimated: response.headers.get('x-sluice-estimated'),
    losses: response.headers.get('x-sluice-conversion'),
    id: response.headers.get('x-request-id') ?? '',
  };
}

/** A line of YAML: a channel on the simulator that serves the model of its name. */
export const channel = (name: string, at: string, protocols: string, more = '') =>
  `  - { name: "${name}", provider: simulator, base_url: "SIMULATOR${at}", protocols: [${protocols}], models: ["${name}"]${more} }`;
