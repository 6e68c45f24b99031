import type { Loss, TextProtocolName } from '#canonical/index.ts';
import { ResponseLosses } from '#conversion/losses.ts';
import type { KeptState, StateStore } from '#conversion/state/state-store.ts';
import { GatewayError } from '#errors/index.ts';
import { verdict } from '#protocols/index.ts';
import { readEvents, sameNames } from '../../recordings/tap-run.ts';
import { requestOf } from '../../support/canonical.ts';
import { readerOf } from '../../support/converted-reader.ts';
import { type ResponseFeature, mark, type SaidOf } from './feature.ts';
import { wireResponse } from './wire.ts';

/** What a client of another protocol is given of one response. */
export interface Given {
  readonly text: string;
  readonly losses: readonly Loss[];
  /** What the gateway remembers for the rest of the conversation. */
  readonly remembered: string;
}

/** Asks for everything that has to be asked for. */
const request = requestOf({
  wantsUsage: true,
  logprobs: 1,
  choices: 2,
  reasoning: { mode: 'on', effort: 'high', budget: null, show: true },
});

/** Runs one response of an upstream through the real converter, whole and streamed. Null where there is no such form. */
export function giveResponse<Upstream extends TextProtocolName>(
  upstream: Upstream,
  client: TextProtocolName,
  said: SaidOf[Upstream] = {},
): { readonly whole: Given | null; readonly streamed: Given } {
  const { whole, stream } = wireResponse(upstream, said);
  return {
    whole: said.failure === undefined ? giveWhole(upstream, client, whole) : null,
    streamed: giveStream(upstream, client, stream),
  };
}

function giveWhole(upstream: TextProtocolName, client: TextProtocolName, body: string): Given {
  const losses = new ResponseLosses(client);
  const { store, remembered } = watchedStore();
  const reader = readerOf(upstream, client, request, losses, store);
  const text = reader.readResponse(Buffer.from(body), sameNames).body.toString('utf8');
  return { text, losses: losses.all(), remembered: remembered() };
}

function giveStream(upstream: TextProtocolName, client: TextProtocolName, stream: string): Given {
  const losses = new ResponseLosses(client);
  const { store, remembered } = watchedStore();
  const tap = readerOf(upstream, client, request, losses, store).createStreamTap(sameNames);
  let text = '';
  let isFailed = false;
  for (const event of readEvents([Buffer.from(stream)])) {
    const flags = tap.inspect(event);
    if (flags & verdict.replace) text += String(tap.replacement);
    isFailed ||= (flags & verdict.failed) !== 0;
  }
  text += isFailed ? (tap.fail?.(new GatewayError('upstream_abnormal')) ?? '') : tap.completion();
  return { text, losses: losses.all(), remembered: remembered() };
}

function watchedStore() {
  const kept: KeptState[] = [];
  const store: StateStore = {
    keep: (_owner, _name, state) => void kept.push(state),
    find: () => null,
    callsOf: () => [],
  };
  return { store, remembered: () => JSON.stringify(kept) };
}

/** What becomes of one feature of one upstream's responses at one client. */
export interface Became {
  readonly how: 'carried' | 'approximated' | 'dropped' | 'ignored' | 'lost in silence' | 'untrue';
  readonly losses: readonly Loss[];
  /** What the client reads, where its protocol has words for it. */
  readonly told: string | null;
}

/** Null for the whole response where it is only streamed. */
export function outcomeOf(
  feature: ResponseFeature,
  upstream: TextProtocolName,
  client: TextProtocolName,
): { readonly whole: Became | null; readonly streamed: Became } {
  const { whole, streamed } = giveResponse(upstream, client, feature.of[upstream]);
  const became = (given: Given): Became => ({
    how: howOf(feature, given),
    losses: given.losses,
    told: feature.told?.(client, given.text) ?? null,
  });
  return { whole: whole && became(whole), streamed: became(streamed) };
}

/** Only parts of the client's response have arrived, and a part that it has was not dropped. */
function howOf(
  feature: ResponseFeature,
  { text, losses: [loss], remembered }: Given,
): Became['how'] {
  if (feature.told !== undefined) return loss?.how ?? 'carried';
  const { shown = mark, harmless, isRemembered = false } = feature;
  const isShown = typeof shown === 'string' ? text.includes(shown) : shown.test(text);
  const isThere = isShown || (isRemembered && remembered.includes('c2ln'));
  if (loss !== undefined) return isThere && loss.how === 'dropped' ? 'untrue' : loss.how;
  if (isThere) return 'carried';
  return harmless ? 'ignored' : 'lost in silence';
}
