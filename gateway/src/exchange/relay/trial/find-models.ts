import { isIP } from 'node:net';
import type { Channel, StoredChannel } from '#catalogue/index.ts';
import type { Timeouts } from '#config/index.ts';
import {
  type ConnectionStep,
  isOfTheLink,
  type UpstreamCall,
  type UpstreamClient,
} from '#upstream/index.ts';
import { cleanWords, signerOf, vendorOf, wordsOf } from '#vendors/index.ts';
import { channelTarget } from '../attempts/upstream-request.ts';
import { classOf, hostOf, snapshotOf, type TrialClass, type TrialStepName } from './trial.ts';

/** What an upstream lists for the first credential of a channel. */
export interface FoundModels {
  /** `no-list`: this vendor has no list that the gateway knows. */
  readonly class: TrialClass | 'no-list';
  /** The upstream's; null: there was none. */
  readonly status: number | null;
  /** What the upstream said about its failure, cleaned; null: nothing in a known form. */
  readonly words: string | null;
  /** As requests name them, in the upstream's order. */
  readonly names: readonly string[];
}

export type ModelSearch = (channel: StoredChannel) => Promise<FoundModels>;

interface SearchOptions {
  readonly connect: (onStep: (step: ConnectionStep) => void) => UpstreamClient;
  readonly simulatorUrl: () => string | null;
  readonly timeouts: Timeouts;
}

/** Bounds of one search. */
const most = { milliseconds: 20_000, bytes: 4 * 2 ** 20, pages: 10, names: 2_000 };

/** A model as vendors name one; whatever else stands in a list is not repeated. */
const modelId = /^[\w.:/@+-]{1,200}$/;

/** Asks upstreams for their lists of models, with the same care as a trial: never at addresses of the local link. */
export function createModelSearch(options: SearchOptions): ModelSearch {
  return async (stored) => {
    const [channel] = snapshotOf(stored, options.simulatorUrl(), []).channels;
    if (channel === undefined) return failed('no-address');
    if (isOfTheLink(hostOf(channel))) return failed('not-allowed');
    const vendor = vendorOf(channel);
    const list = vendor?.modelList;
    const [protocol] = channel.protocols;
    if (vendor === undefined || list === undefined || protocol === undefined) {
      return failed('no-list');
    }
    const secret = channel.credentials[0] ?? null;
    const { origin, path, headers, timeouts } = channelTarget(channel, options.timeouts);
    const steps = new Map<TrialStepName, number>();
    // An address has nothing to resolve, and a proxy resolves the name itself.
    if (isIP(hostOf(channel)) !== 0 || channel.proxy !== null) steps.set('resolve', 0);
    const client = options.connect((step) => steps.set(step, 0));
    const names = new Set<string>();
    const deadline = performance.now() + most.milliseconds;
    try {
      let after: string | null = null;
      for (let page = 0; page < most.pages && names.size < most.names; page += 1) {
        const reply = await read(
          client,
          {
            origin,
            path: path + list.path(after),
            method: 'GET',
            headers: {
              accept: 'application/json',
              'accept-encoding': 'identity',
              ...list.headers,
              ...headers,
              ...vendor.headers(secret, protocol),
            },
            body: null,
            signer: signerOf(vendor, secret),
            timeouts,
            proxy: channel.proxy,
          },
          deadline - performance.now(),
        );
        const { status, body, reason } = reply;
        const found = status !== null && status < 300 ? list.read(body) : null;
        if (found === null) {
          const words = wordsOf(body);
          return {
            class: classOf(reason ?? '', status, steps),
            status,
            words: words === null ? null : cleanWords(words, secretsOf(channel), hostOf(channel)),
            names: [],
          };
        }
        for (const name of found.names) if (modelId.test(name)) names.add(name);
        if (found.next === null || found.next === after) break;
        after = found.next;
      }
    } finally {
      await client.close();
    }
    return { class: 'works', status: 200, words: null, names: [...names].slice(0, most.names) };
  };
}

const secretsOf = ({ credentials, headers }: Channel): readonly string[] => [
  ...credentials,
  ...Object.values(headers),
];

const failed = (className: FoundModels['class']): FoundModels => ({
  class: className,
  status: null,
  words: null,
  names: [],
});

interface Reply {
  readonly status: number | null;
  /** Parsed JSON; null: it is not JSON. */
  readonly body: unknown;
  /** Why there is no whole response; null: there is one. */
  readonly reason: string | null;
}

function read(
  client: UpstreamClient,
  request: Parameters<UpstreamClient['send']>[0],
  milliseconds: number,
): Promise<Reply> {
  const { promise, resolve } = Promise.withResolvers<Reply>();
  const chunks: Buffer[] = [];
  let size = 0;
  let status: number | null = null;
  let call: UpstreamCall | null = null;
  const end = (reason: string | null): void => {
    clearTimeout(timer);
    call?.abort();
    resolve({ status, body: reason === null ? parse(Buffer.concat(chunks)) : null, reason });
  };
  const timer = setTimeout(() => end('timeout'), Math.max(1, milliseconds));
  call = client.send(request, {
    onHead: (code) => void (status = code),
    onData(chunk) {
      size += chunk.length;
      if (size > most.bytes) end('cut');
      else chunks.push(chunk);
    },
    onEnd: () => end(null),
    onBreak: ({ reason }) => end(reason),
  });
  return promise;
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return null;
  }
}
