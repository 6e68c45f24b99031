import {
  carriesEnvelopes,
  createConverter,
  withoutEnvelopes,
  type Conversion,
  type Converter,
  type FoundMedia,
  type KeptState,
  type StateSealer,
  type StateStore,
} from '#conversion/index.ts';
import { outlineRequest } from '#estimation/index.ts';
import {
  textCodecs,
  textProtocols,
  type OpenedRequest,
  type WireRequest,
} from '#protocols/index.ts';
import { conversationOf } from '#routing/index.ts';
import { asBuffer } from './bytes.ts';
import { readResponseJob } from './read-response.ts';
import { termsOf, textOfTerms } from './terms-text.ts';
import type {
  ConvertedText,
  Job,
  JobRequest,
  JobValues,
  PatchedBody,
  PlainMedia,
  Question,
  ReadSource,
  Reply,
  RequestFacts,
} from './jobs.ts';
import { readEmbedResponseJob, readEmbedJob } from './embeddings.ts';
import { readImageResponseJob, readImagesJob } from './images.ts';
import { nameItemsJob, putItemsJob } from './items.ts';
import { memberNames } from './member-names.ts';
import {
  editAsGenerationJob,
  readChatPicturesJob,
  readContentsPicturesJob,
  readImagesPicturesJob,
} from './picture-requests.ts';
import { readPicturesJob } from './pictures.ts';
import { factsOrRefusal } from './plain-error.ts';
import { readVideoJob } from './videos.ts';

/** Asks the main thread. */
export type Ask = (question: Question) => Promise<Reply>;

export interface Performer {
  /** @throws the error that the same work throws on the main thread */
  perform(job: Job): Promise<JobValues[Job['kind']]>;
  /** Releases the last request. */
  forget(): void;
}

/** The last request, so that the steps after reading do not read it again. */
interface Known {
  readonly exchange: string;
  readonly opened: OpenedRequest;
  request: WireRequest | null;
  conversion: Conversion | null;
}

/** Runs jobs one after another. Pure except for the questions it asks. */
export function createPerformer(sealer: StateSealer, ask: Ask): Performer {
  const remembered = new Map<string, KeptState>();
  let kept: (readonly [call: string, kept: KeptState])[] = [];
  /** Null: the main thread may know any. */
  let inMain: ReadonlySet<string> | null = new Set();
  let known: Known | null = null;

  const store: StateStore = {
    find: (_owner, call) => remembered.get(call) ?? null,
    // For a response: the main thread stores it.
    keep: (_owner, call, state) => void kept.push([call, state]),
    callsOf: () => [...remembered.keys()],
    async recall(_owner, all) {
      const calls = [...new Set(all)].filter(
        (call) => inMain?.has(call) !== false && !remembered.has(call),
      );
      if (calls.length === 0) return;
      for (const [call, kept] of await ask({ calls })) {
        remembered.set(call, kept);
      }
    },
  };
  const converter = createConverter({
    protocols: textProtocols,
    codecs: textCodecs,
    sealer,
    store,
  });

  const open = (of: JobRequest): Known => {
    if (known?.exchange === of.exchange) return known;
    known = null;
    remembered.clear();
    const opened = textProtocols[of.protocol].openRequest(asBuffer(of.body), of.path);
    return (known = { exchange: of.exchange, opened, request: null, conversion: null });
  };
  const read = (of: JobRequest): WireRequest => {
    const own = open(of);
    own.request ??= textProtocols[of.protocol].readRequest(own.opened);
    // The bytes arrive with each job; those of the reading were returned.
    return { ...own.request, body: asBuffer(of.body) };
  };

  return {
    async perform(job) {
      switch (job.kind) {
        case 'read': {
          const { model } = open(job).opened;
          return { model, facts: factsOrRefusal(() => factsOf(read(job), job)) };
        }
        case 'patch':
          inMain = job.remembered === null ? null : new Set(job.remembered);
          return patch(read(job), job, converter);
        case 'response': {
          kept = [];
          const reading = job.terms === null ? null : converter.read(termsOf(job.terms));
          return readResponseJob(job, reading?.reader ?? null, () => ({
            losses: reading?.responseLosses.all() ?? [],
            kept,
          }));
        }
        case 'embed-read':
          return readEmbedJob(job);
        case 'embed-response':
          return readEmbedResponseJob(job);
        case 'image-read':
          return readImagesJob(job);
        case 'image-response':
          return readImageResponseJob(job);
        case 'video-read':
          return readVideoJob(job);
        case 'picture-response':
          return readPicturesJob(job);
        case 'chat-pictures':
          return readChatPicturesJob(job);
        case 'contents-pictures':
          return readContentsPicturesJob(job);
        case 'images-pictures':
          return readImagesPicturesJob(job);
        case 'edit-as-generation':
          return editAsGenerationJob(job);
        case 'item-names':
          return nameItemsJob(job);
        case 'item-texts':
          return putItemsJob(job);
        case 'outline':
          return outlineRequest(textCodecs[job.protocol].decodeRequest(read(job)));
        case 'convert': {
          inMain = job.remembered === null ? null : new Set(job.remembered);
          const request = read(job);
          const own = open(job);
          own.conversion ??= converter.open({ ...job.converted, request });
          try {
            return textOf(await own.conversion.convert(job.target, mediaOf(job.media)));
          } catch (error) {
            // The conversion may still need bytes that were returned.
            own.conversion = null;
            throw error;
          }
        }
      }
    },
    forget() {
      known = null;
      remembered.clear();
    },
  };
}

function factsOf(
  request: WireRequest,
  { protocol, source }: { protocol: JobRequest['protocol']; source: ReadSource },
): RequestFacts {
  const { path: _, scan: __, json, body, model, ...checked } = request;
  return {
    checked: { ...checked, extent: { ...checked.extent } },
    members: memberNames(json),
    isSealed: carriesEnvelopes(body, protocol),
    conversation: conversationOf({ ...source, model, json }),
  };
}

async function patch(
  request: WireRequest,
  { protocol, target, owner, maker }: Extract<Job, { kind: 'patch' }>,
  converter: Pick<Converter, 'recallReasoning'>,
): Promise<PatchedBody> {
  const own = textProtocols[protocol];
  const isStripped = carriesEnvelopes(request.body, protocol);
  const native = isStripped ? withoutEnvelopes(own, request) : request;
  if (maker === null || target.echo === undefined) {
    return { ...own.patchRequest(native, target), isStripped, place: null };
  }
  const { texts, place } = await converter.recallReasoning(native, owner, maker);
  const echoing = { ...target, echo: { ...target.echo, texts } };
  return { ...own.patchRequest(native, echoing), isStripped, place };
}

/** Bytes arrive as plain ones. */
function mediaOf(media: PlainMedia): FoundMedia {
  return new Map(media.map(([url, { mime, bytes }]) => [url, { mime, bytes: asBuffer(bytes) }]));
}

function textOf(converted: Awaited<ReturnType<Conversion['convert']>>): ConvertedText {
  const { reader: _, responseLosses: __, learn: ___, terms, ...rest } = converted;
  return { ...rest, terms: textOfTerms(terms) };
}
