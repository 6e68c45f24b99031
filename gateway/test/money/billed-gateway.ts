import { afterAll, beforeAll, expect } from 'vitest';
import { shareGateway } from '../behaviour/support.ts';
import {
  startTestGateway,
  testKey,
  type TestGateway,
  type TestGatewayOptions,
} from '../support/gateway.ts';
import { startOwnUpstream, type OwnUpstream } from '../support/own-upstream.ts';
import { expectExactBooks } from './books.ts';

/** Who pays for what is asked with the test key, which has a quota of all that they have. */
export const payer = 'tester@example.com';

/** USD per million tokens: 0.001 USD for each that goes in, 0.002 for each that comes out. */
const price = '{ input: 1000, cache_read: 100, cache_write: 1250, output: 2000 }';

const allProtocols = 'protocols: [chat, responses, messages, generate-content]';

interface ChannelOptions {
  readonly name: string;
  /** What clients call the one model that it serves. */
  readonly model: string;
  /** Below the simulator's address, such as `/fault(status=500)`. */
  readonly at?: string;
  /** More of its YAML, such as `priority: 9`. */
  readonly more?: string;
}

/** YAML of an entry of `channels`: the simulator, in every text protocol. */
export function simulatorChannel({ name, model, at = '', more }: ChannelOptions): string {
  const rest = more === undefined ? '' : `, ${more}`;
  return `  - { name: ${name}, provider: simulator, base_url: "SIMULATOR${at}", ${allProtocols}, models: [{ name: ${model}, upstream: demo-chat }]${rest} }`;
}

/** YAML of an entry of `channels`: the upstream that says what a test wants, in every text protocol. */
export function ownChannel({ name, model, more }: Omit<ChannelOptions, 'at'>): string {
  const rest = more === undefined ? '' : `, ${more}`;
  return `  - { name: ${name}, provider: simulator, base_url: "UPSTREAM", ${allProtocols}, models: [${model}]${rest} }`;
}

export interface BilledGatewayOptions {
  /** USD. */
  readonly balance: number;
  /**
   * YAML of the entries of `channels`, which every such gateway has. `SIMULATOR` in it stands for the simulator's
   * address, `UPSTREAM` for that of the upstream that says what a test wants.
   */
  readonly channels: string;
  /** Models at the price above that are known to read 4 000 tokens and write 1 000. */
  readonly models: readonly string[];
  /** YAML of more models. */
  readonly moreModels?: string;
  /** YAML of more users and keys, a line each. */
  readonly moreUsers?: string;
  readonly moreKeys?: string;
  /** YAML of other settings. */
  readonly settings?: string;
  readonly logger?: TestGatewayOptions['logger'];
}

export interface BilledGateway {
  readonly gateway: TestGateway;
  readonly upstream: OwnUpstream;
  /** Nano-USD that the payer began with. */
  readonly opening: bigint;
}

/** One gateway for all tests of a file, with one user who pays, the simulator and an upstream of the test's own. */
export function shareBilledGateway(options: BilledGatewayOptions): BilledGateway {
  let gateway: TestGateway | null = null;
  let upstream: OwnUpstream | null = null;
  beforeAll(async () => {
    upstream = await startOwnUpstream();
    gateway = await startTestGateway({
      config: describe(options).replaceAll('UPSTREAM', upstream.url),
      ...(options.logger !== undefined && { logger: options.logger }),
    });
  });
  afterAll(async () => {
    await gateway?.close();
    await upstream?.close();
  });
  return {
    get gateway() {
      return started(gateway);
    },
    get upstream() {
      return started(upstream);
    },
    opening: BigInt(options.balance) * 10n ** 9n,
  };
}

/**
 * A gateway for all tests of a file, which serves the model `priced` at 0.001 USD for each token that goes in, 0.002
 * for each that comes out.
 * @param accounts YAML of `users`, `keys`, `teams`
 */
export function sharePricedGateway(accounts: string): { readonly gateway: TestGateway } {
  return shareGateway({ config: pricedConfig(accounts) });
}

function pricedConfig(accounts: string): string {
  return `
channels:
${simulatorChannel({ name: 'sim', model: 'priced' })}
models:
  - { id: priced, type: chat, max_output_tokens: 1000, price: { input: 1000, output: 2000 } }
${accounts}
`;
}

/** Nothing was logged as an error, and rows, ledger, balance and counters are one to the nano-USD. */
export async function assertBilledExactly({ gateway, opening }: BilledGateway): Promise<void> {
  await expectExactBooks(gateway, { email: payer, opening, secret: testKey });
  expect(gateway.errors).toEqual([]);
}

function describe(options: BilledGatewayOptions): string {
  const { balance, channels, models, moreModels = '', moreUsers = '', moreKeys = '' } = options;
  const limits = 'context_window: 4000, max_output_tokens: 1000';
  const entries = models.map((id) => `  - { id: ${id}, type: chat, ${limits}, price: ${price} }`);
  return `
${options.settings ?? ''}
channels:
${channels}
models:
${entries.join('\n')}
${moreModels}
users:
  - { email: ${payer}, balance: ${balance} }
${moreUsers}
keys:
  - { name: test, user: ${payer}, secret: ${testKey}, quota: ${balance} }
${moreKeys}
`;
}

function started<Part>(part: Part | null): Part {
  if (part === null) throw new Error('only inside of tests');
  return part;
}
