import { isIP } from 'node:net';
import { textProtocolNames } from '#canonical/index.ts';
import {
  buildSnapshot,
  type CatalogueSnapshot,
  type Channel,
  type StoredChannel,
  type StoredModel,
} from '#catalogue/index.ts';
import { kinds, type Names, readEntry } from '#config/index.ts';
import { GatewayError } from '#errors/index.ts';
import type { Caller } from '#identity/index.ts';
import { createChannelAffinity, createChannelHealth } from '#routing/index.ts';
import {
  type ConnectionStep,
  isOfTheLink,
  type UpstreamClient,
  type UpstreamListener,
  type UpstreamRequest,
} from '#upstream/index.ts';
import type { ExchangeRecord } from '#usage/index.ts';
import { createRelay, type RelayParts } from '../relay.ts';
import { TrialResponse } from './trial-response.ts';

const trialSteps = ['resolve', 'connect', 'tls', 'status', 'first_token', 'end'] as const;
export type TrialStepName = (typeof trialSteps)[number];

interface TrialStep {
  readonly step: TrialStepName;
  /** Since the step before; null: it was not reached, or is not seen. */
  readonly ms: number | null;
  readonly ok: boolean;
}

/** Why a channel does not work, or that it does. */
export type TrialClass =
  | 'works'
  | 'no-text-model'
  | 'no-address'
  | 'not-allowed'
  | 'no-connection'
  | 'closed'
  | 'tls'
  | 'credential'
  | 'funds'
  | 'unknown'
  | 'limited'
  | 'refused'
  | 'upstream'
  | 'time'
  | 'form'
  | 'cut';

interface TrialResult {
  readonly class: TrialClass;
  readonly steps: TrialStep[];
  /** The name that was sent; null: nothing was. */
  readonly model: string | null;
  /** The upstream's status; null: there was none. */
  readonly status: number | null;
  /** What the model said, or the message of the error as a client would get it. At most 500 characters. */
  readonly text: string;
  /** What the upstream said about its failure, cleaned; null: nothing in a known form. */
  readonly words: string | null;
  /** What was sent, without secrets; null: nothing was. */
  readonly request: SentRequest | null;
  /** As the upstream reported them; null: it did not. */
  readonly usage: { readonly input: number; readonly output: number } | null;
}

interface SentRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body: string;
}

/** What a trial shares with the relay of clients. The rest of its relay is of its own. */
export type TrialParts = Omit<
  RelayParts,
  | 'affinity'
  | 'health'
  | 'journal'
  | 'keepsErrorTexts'
  | 'observer'
  | 'snapshot'
  | 'tasks'
  | 'upstream'
>;

interface TrialOptions {
  readonly parts: TrialParts;
  /** A client of its own, which tells the steps of its connections. */
  readonly connect: (onStep: (step: ConnectionStep) => void) => UpstreamClient;
  /** The address of the simulator that runs here; null: none does. */
  readonly simulatorUrl: () => string | null;
}

export type ChannelTrial = (channel: StoredChannel, model: string | null) => Promise<TrialResult>;

const longestMs = 30_000;
const longestText = 500;
const noSteps: ReadonlyMap<TrialStepName, number> = new Map();

/**
 * Tries channels: one small streamed request with a tool goes to the upstream as a client's would, through a relay of its
 * own. No other request knows of it: nobody is charged, no row is written, and no breaker hears of a failure.
 */
export function createChannelTrial({ parts, connect, simulatorUrl }: TrialOptions): ChannelTrial {
  return async (channel, requestedModel) => {
    const model = requestedModel ?? firstModel(channel);
    const hasText = textProtocolNames.some((name) => channel.protocols.includes(name));
    if (model === null || !hasText) return failedResult('no-text-model', noSteps, model);
    const tried = { ...channel, models: [served(channel, model)] };
    const snapshot = snapshotOf(tried, simulatorUrl(), [freeModel(model)]);
    const [target] = snapshot.channels;
    if (target === undefined) return failedResult('no-address', noSteps, model);
    const host = hostOf(target);
    if (isOfTheLink(host)) {
      return failedResult('not-allowed', noSteps, model);
    }

    const startedAt = performance.now();
    const times = new Map<TrialStepName, number>();
    const note = (step: TrialStepName): void => {
      if (!times.has(step)) times.set(step, performance.now());
    };
    // An address has nothing to resolve, and a proxy resolves the name itself.
    if (isIP(host) !== 0 || target.proxy !== null) note('resolve');
    const client = connect(note);
    let record: ExchangeRecord | null = null;
    let sent: SentRequest | null = null;
    const relay = createRelay({
      ...parts,
      tasks: noTasks,
      // Nobody keeps them: they are for whoever tries the channel.
      keepsErrorTexts: true,
      snapshot: () => snapshot,
      upstream: {
        send(request, listener) {
          sent = withoutSecrets(request, target);
          return client.send(request, notingHead(listener, note));
        },
        close: () => client.close(),
      },
      health: createChannelHealth(() => {}),
      affinity: createChannelAffinity(),
      journal: {
        append: async (written) => void (record = written),
        begin() {},
        usable: true,
        unpaidFor: () => null,
      },
      observer: { opened() {}, closed() {}, finished() {} },
    });
    const response = new TrialResponse(note);
    const timer = setTimeout(() => response.leave(), longestMs);
    let error: GatewayError | null = null;
    try {
      await relay.run({
        id: 'req_trial',
        arrivedAt: Date.now(),
        startedAt,
        caller: trialCaller,
        pendingRateCheck: null,
        protocol: 'chat',
        operation: 'generate',
        framing: 'event-stream',
        body: bodyFor(model),
        pathModel: null,
        pathStream: null,
        headers: { 'content-type': 'application/json', 'user-agent': 'sluice-trial' },
        client: response,
      });
    } catch (failure) {
      if (!(failure instanceof GatewayError)) throw failure;
      error = failure;
    } finally {
      clearTimeout(timer);
      await client.close();
    }
    if (record === null) return failedResult('upstream', times, model);
    const isSecure = isTls(target);
    return resultOf({ record, error, response, times, startedAt, model, isSecure, sent });
  };
}

/** A catalogue of one channel, in use whatever its settings say. */
export function snapshotOf(
  channel: StoredChannel,
  simulatorUrl: string | null,
  models: readonly StoredModel[],
): CatalogueSnapshot {
  const channels = [{ ...channel, enabled: true, groups: ['default'] }];
  return buildSnapshot(
    { groups: [], channels, models, aliases: [] },
    { revision: 0, simulatorUrl, previous: null, onProblem: () => {} },
  );
}

/** Without the brackets of an address. */
export const hostOf = ({ baseUrl }: Pick<Channel, 'baseUrl'>): string =>
  new URL(baseUrl).hostname.replaceAll(/[[\]]/g, '');

const isTls = ({ baseUrl }: { readonly baseUrl: string }) => baseUrl.startsWith('https:');

/** A chat makes none. */
const noTasks: RelayParts['tasks'] = {
  create: () => Promise.reject(new Error('a trial makes no task')),
  accept: () => Promise.reject(new Error('a trial makes no task')),
  refuse: () => Promise.reject(new Error('a trial makes no task')),
};

/** The first model that is named exactly. */
const firstModel = ({ models }: StoredChannel): string | null =>
  models.find(({ name }) => !name.includes('*'))?.name ?? null;

function served({ models }: StoredChannel, model: string) {
  return models.find(({ name }) => name === model) ?? { name: model, upstream: model };
}

/** A model costs nothing here, whatever it costs otherwise. */
const freeModel = (id: string): StoredModel => ({
  ...readEntry(kinds.model, { id, type: 'chat', price: { input: '0', output: '0' } }, noNames),
  enabled: true,
  owner: 'system',
  createdAt: 0,
  updatedAt: 0,
  revision: 0,
});

/** A model that only has a price names nothing. */
const noNames: Names = Object.freeze({
  groups: new Set<string>(),
  users: new Set<string>(),
  teams: new Set<string>(),
  declaredModels: new Map<string, string>(),
  bundledModels: new Set<string>(),
  bundledAliases: new Set<string>(),
  aliases: new Map<string, string>(),
});

const trialCaller: Caller = Object.freeze({
  keyId: 'trial',
  keyName: 'trial',
  userId: 'trial',
  teamId: null,
  user: { id: 'trial', funding: 0n, quota: null },
  team: null,
  memberBudget: null,
  group: 'default',
  models: null,
  ips: [],
  expiresAt: null,
  quota: null,
  rpm: null,
  rph: null,
  maxConcurrency: null,
  conversion: 'lenient',
  capOutput: false,
  enabled: true,
});

/** Room to think is in the limit: a model that reasons would otherwise say nothing. */
const bodyFor = (model: string): Buffer =>
  Buffer.from(
    JSON.stringify({
      model,
      stream: true,
      stream_options: { include_usage: true },
      max_completion_tokens: 1_024,
      messages: [{ role: 'user', content: 'Reply with the word OK. Do not call the tool.' }],
      tools: [
        {
          type: 'function',
          function: {
            name: 'note',
            description: 'Keeps a note.',
            parameters: {
              type: 'object',
              properties: { text: { type: 'string' } },
              required: ['text'],
            },
          },
        },
      ],
    }),
  );

function notingHead(listener: UpstreamListener, note: (step: 'status') => void): UpstreamListener {
  return {
    onHead(status, headers) {
      note('status');
      listener.onHead(status, headers);
    },
    onData: (chunk) => listener.onData(chunk),
    onEnd: () => listener.onEnd(),
    onBreak: (error) => listener.onBreak(error),
  };
}

/** The request as it is sent, with a mark in the place of every credential and of the channel's own headers. */
function withoutSecrets(
  { method, origin, path, headers, body }: UpstreamRequest,
  { credentials, headers: own }: Pick<Channel, 'credentials' | 'headers'>,
): SentRequest {
  const secrets = [...credentials, ...Object.values(own)];
  const hide = (text: string) => secrets.reduce((rest, each) => rest.replaceAll(each, '…'), text);
  return {
    method,
    url: hide(origin + path),
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, hide(value)]),
    ),
    body: body instanceof Buffer ? hide(body.toString()) : '',
  };
}

interface Ended {
  readonly record: ExchangeRecord;
  readonly error: GatewayError | null;
  readonly response: TrialResponse;
  readonly times: ReadonlyMap<TrialStepName, number>;
  readonly startedAt: number;
  readonly model: string;
  readonly isSecure: boolean;
  readonly sent: SentRequest | null;
}

function resultOf({
  record,
  error,
  response,
  times,
  startedAt,
  model,
  isSecure,
  sent,
}: Ended): TrialResult {
  const attempt = record.attempts.at(-1);
  const { outcome, tokens, usageSource } = record;
  const works = outcome === 'completed';
  // Only the clock of the trial ends it early.
  const className = works
    ? 'works'
    : response.disconnected
      ? 'time'
      : classOf(attempt?.result ?? '', attempt?.status ?? null, times);
  const text = works ? response.text : (error?.message ?? response.errorMessage);
  return {
    class: className,
    steps: stepsOf(times, startedAt, { works, isSecure }),
    model,
    status: attempt?.status ?? null,
    text: text.slice(0, longestText),
    words: attempt?.words ?? null,
    request: sent,
    usage: usageSource === 'reported' ? { input: tokens.input, output: tokens.output } : null,
  };
}

export function classOf(
  result: string,
  status: number | null,
  times: ReadonlyMap<TrialStepName, number>,
): TrialClass {
  if (status !== null && status >= 400)
    return classByStatus[status] ?? (status < 500 ? 'refused' : 'upstream');
  if (result.endsWith('timeout')) return 'time';
  if (result === 'tls') return 'tls';
  if (!times.has('status') && status === null) {
    if (times.has('connect')) return 'closed';
    return times.has('resolve') ? 'no-connection' : 'no-address';
  }
  return result === 'reset' || result === 'cut' ? 'cut' : 'form';
}

const classByStatus: Readonly<Record<number, TrialClass>> = {
  401: 'credential',
  402: 'funds',
  403: 'credential',
  404: 'unknown',
  405: 'unknown',
  408: 'time',
  429: 'limited',
};

/** Each step begins where the last one ended. */
function stepsOf(
  times: ReadonlyMap<TrialStepName, number>,
  startedAt: number,
  { works, isSecure }: { readonly works: boolean; readonly isSecure: boolean },
): TrialStep[] {
  let before = startedAt;
  // A step that is not seen, such as the name of an address, was taken if a later one was.
  const last = trialSteps.findLastIndex((step) => times.has(step));
  return trialSteps
    .filter((step) => step !== 'tls' || isSecure)
    .map((step) => {
      const time = times.get(step);
      if (time === undefined)
        return { step, ms: null, ok: trialSteps.indexOf(step) < last || works };
      const ms = Math.round(time - before);
      before = time;
      return { step, ms, ok: step !== 'end' || works };
    });
}

const failedResult = (
  className: TrialClass,
  times: ReadonlyMap<TrialStepName, number>,
  model: string | null,
): TrialResult => ({
  class: className,
  steps: trialSteps.map((step) => ({ step, ms: null, ok: times.has(step) })),
  model,
  status: null,
  text: '',
  words: null,
  request: null,
  usage: null,
});
