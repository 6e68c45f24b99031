import type { TextProtocol } from '../behaviour/text-protocols.ts';
import { textProtocols } from '../behaviour/text-protocols.ts';

export type ProtocolName = TextProtocol['name'];

export const protocolNames: readonly ProtocolName[] = textProtocols.map(({ name }) => name);

/** Every client protocol with every other upstream protocol. */
export const pairs = textProtocols.flatMap((client) =>
  protocolNames
    .filter((upstream) => upstream !== client.name)
    .map((upstream) => ({ client, upstream, name: `${client.name} to ${upstream}` })),
);

interface Served {
  readonly name: string;
  /** In the order of preference. */
  readonly protocols: readonly string[];
  /** Client-facing name and the simulator's. */
  readonly models: readonly (readonly [string, string])[];
  readonly at?: string;
  readonly more?: Readonly<Record<string, unknown>>;
}

/** YAML (which JSON is) of channels on the simulator and of the models they serve, priced. */
export function describeServed(channels: readonly Served[], capabilities: string[] = all): string {
  const described = channels.map(({ name, protocols, models, at = '', more = {} }) => ({
    name,
    provider: 'simulator',
    base_url: `SIMULATOR${at}`,
    protocols,
    models: models.map(([own, upstream]) => ({ name: own, upstream })),
    ...more,
  }));
  const names = new Set(channels.flatMap(({ models }) => models.map(([own]) => own)));
  const models = [...names].map((id) => ({
    id,
    type: 'chat',
    capabilities,
    max_output_tokens: 9000,
    price: { input: 1, output: 2 },
  }));
  return `channels: ${JSON.stringify(described)}\nmodels: ${JSON.stringify(models)}`;
}

const all = ['vision', 'tools', 'reasoning', 'sampling'];

/** `at-messages` is answered by an upstream that speaks messages only; `thinks-messages` thinks first. */
export const onePerProtocol = describeServed(
  protocolNames.map((name) => ({
    name: `only-${name}`,
    protocols: [name],
    models: [
      [`at-${name}`, 'demo-chat'],
      [`thinks-${name}`, 'demo-reasoning'],
    ],
  })),
);

/** The same at an upstream of the test's own; `twice` is served by two channels of chat. */
export const onePerProtocolAt = (url: string): string =>
  describeServed([
    ...protocolNames.map((name): Served => ({
      name: `only-${name}`,
      protocols: [name],
      models: [[`at-${name}`, 'up']],
      more: { base_url: url },
    })),
    ...[1, 2].map((priority): Served => ({
      name: `twice-${priority}`,
      protocols: ['chat'],
      models: [['twice', 'up']],
      more: { base_url: url, priority: 3 - priority, api_keys: ['sk-a', 'sk-b'] },
    })),
  ]);
