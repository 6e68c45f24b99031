import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import {
  images,
  type OpenedImages,
  imageCodecs,
  type ImageStreamTap,
  verdict,
} from '#protocols/index.ts';
import { EventTooLarge } from '#upstream/event-stream.ts';
import { eachEvent, sliced } from '../../recordings/tap-run.ts';
import { createRandom, seedOf } from '../random.ts';
import { holds, type FuzzTarget } from '../target.ts';
import { isClientError, isUpstreamError } from './refusals.ts';

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
const head = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
const b64 = head.toString('base64');
const everything = new Set(['edits', 'streaming', 'layers', 'multi_reference']);
const names = { clientModel: 'm', upstreamModel: 'up' };

const generationSamples = [
  {
    model: 'm',
    prompt: 'a cat',
    n: 2,
    size: '1024x1024',
    quality: 'high',
    stream: true,
    user: 'u',
  },
  {
    model: 'm',
    prompt: 'é',
    image: ['https://example.com/a.png', b64, `data:image/png;base64,${b64}`],
  },
  { model: 'm', image: [b64], layer_decomposition: true, background: null },
  {
    model: 'm',
    prompt: 'x'.repeat(9000),
    sequential_image_generation: 'auto',
    sequential_image_generation_options: { max_images: 3 },
  },
].map(json);

const type = 'multipart/form-data; boundary=Xx';

function formSample(
  parts: readonly (readonly [headers: string, content: Buffer | string])[],
): Buffer {
  const pieces = parts.flatMap(([headers, content]) => [
    Buffer.from(`--Xx\r\nContent-Disposition: form-data; ${headers}\r\n\r\n`),
    Buffer.from(content),
    Buffer.from('\r\n'),
  ]);
  return Buffer.concat([...pieces, Buffer.from('--Xx--\r\n')]);
}

const formSamples = [
  formSample([
    ['name="model"', 'm'],
    ['name="prompt"', 'a hat'],
    ['name="image"; filename="a.png"\r\nContent-Type: image/png', head],
  ]),
  formSample([
    ['name="image[]"; filename="ü \\".png"', Buffer.concat([head, Buffer.from('\r\n--\r\n-')])],
    ['name=prompt', ''],
    ['name="image[1]"; filename*=utf-8\'\'a', head],
    ['name="mask"; filename="m"', head],
    ['name="n"', '2'],
    ['name="stream"', 'true'],
    ['name="user"', 'u'],
    ['name="model"', 'm'],
  ]),
];

function patch(open: (body: Buffer) => OpenedImages, input: Buffer): void {
  const opened = open(input);
  const patched = images.patchRequest(opened, 'up');
  const again = open(patched.body);
  holds(again.model === 'up', 'the upstream’s model is named');
  const without = ({ members }: OpenedImages) => ({ ...members, model: null });
  holds(isDeepStrictEqual(without(again), without(opened)), 'all else stays what it is');
  const files = ({ body, files: list }: OpenedImages) =>
    list.map(({ name, bytes }) => [name, body.subarray(bytes.start, bytes.end)]);
  holds(isDeepStrictEqual(files(again), files(opened)), 'files stay what they are');
  const request = images.readRequest(opened, everything);
  holds(
    Number.isInteger(request.images) && request.images >= 1 && request.images <= 15,
    'a few pictures',
  );
  holds(request.sources <= 16, 'a few sources');
  holds(request.promptBytes <= input.length, 'the prompt is in the body');
}

const usage = {
  input_tokens: 5,
  output_tokens: 9,
  output_tokens_details: { image_tokens: 7, text_tokens: 2 },
};
const responseSamples = [
  { created: 1, data: [{ b64_json: b64 }, { url: 'u', size: '1x1', z_index: 1 }], usage },
  { model: 'up', size: '2x2', data: [{ error: { code: 'x' } }], usage: { input_images: 2 } },
  { error: { code: 'rate_limit_exceeded' } },
].map(json);

function readResponse(input: Buffer): void {
  const { body, entries, usage: read } = images.readResponse(input, names);
  // Any JSON that is read is JSON, and otherwise unchanged.
  const given = JSON.parse(String(input)) as Record<string, unknown>;
  const told = JSON.parse(String(body)) as Record<string, unknown>;
  holds(
    isDeepStrictEqual({ ...told, model: 0 }, { ...given, model: 0 }),
    'all else stays what it is',
  );
  holds(typeof given['model'] !== 'string' || told['model'] === 'm', 'the client’s model is named');
  holds(entries.length === (given['data'] as unknown[]).length, 'no entry is lost');
  for (const count of Object.values(read?.tokens ?? {}))
    holds(count >= 0, 'counts are not negative');
  for (const event of images.toEvents(body)) {
    holds(
      Buffer.concat([...event.pieces])
        .subarray(0, 7)
        .toString() === 'event: ',
      'a response becomes events',
    );
  }
}

const events = (...list: readonly object[]): Buffer =>
  Buffer.from(list.map((data) => `data: ${JSON.stringify(data)}\n\n`).join(''));
const streamSamples = [
  events(
    { type: 'image_generation.partial_image', b64_json: b64 },
    { type: 'image_edit.completed', b64_json: b64, size: '1x1', model: 'up', usage },
  ),
  Buffer.concat([
    events(
      { type: 'image_generation.partial_succeeded', url: 'u', size: '1x1' },
      { type: 'image_generation.partial_failed', error: { code: 'x' } },
      { type: 'image_generation.completed', usage },
    ),
    Buffer.from('data: [DONE]\n\n'),
  ]),
  events({ error: { message: 'x' } }),
];

const part = { inlineData: { mimeType: 'image/png', data: b64 } };
const usageMetadata = {
  promptTokenCount: 3,
  candidatesTokenCount: 9,
  candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 7 }],
};
const contentsSamples = [
  events(
    { candidates: [{ content: { parts: [{ text: 'a' }] } }], modelVersion: 'up' },
    { candidates: [{ content: { parts: [part] }, finishReason: 'STOP' }], usageMetadata },
    { usageMetadata, modelVersion: 'up' },
  ),
  events(
    { candidates: [{ index: 1, content: { parts: [{ ...part, thought: true }, part] } }] },
    {
      candidates: [
        { index: 1, finishReason: 'STOP' },
        { index: 0, content: { parts: [part] } },
      ],
    },
    { candidates: [{ finishReason: 'IMAGE_SAFETY' }], usageMetadata },
  ),
  events({ promptFeedback: { blockReason: 'SAFETY' }, usageMetadata }),
  events({ error: { code: 503, status: 'UNAVAILABLE' } }),
];

const imagesTap = (): ImageStreamTap =>
  images.createStreamTap({ ...names, names: images.eventNamesFor('edit', {}) });

const contentsTap = (): ImageStreamTap =>
  imageCodecs.contents.createStreamTap({
    ...names,
    sizeIn: (base64) => (base64 === '' ? null : `${base64.length}x1`),
    accepts: ({ size }) => size !== null,
  });

/** What a client is sent, what is charged, and how the stream ended. */
function relayed(tap: ImageStreamTap, chunks: readonly Buffer[]): string {
  const sent = createHash('sha1');
  let isOver = false;
  let hasFailed = false;
  eachEvent(chunks, (event) => {
    if (isOver) return;
    const flags = tap.inspect(event);
    hasFailed = (flags & verdict.failed) !== 0;
    holds(tap.heldBytes >= 0, 'what is held is counted');
    for (const count of Object.values(tap.usage?.tokens ?? {}))
      holds(count >= 0, 'counts are not negative');
    isOver = hasFailed || tap.closed;
    if (hasFailed || (flags & verdict.drop) !== 0) return;
    const told = (flags & verdict.replace) === 0 ? [event.raw] : tap.replacement;
    for (const piece of told) sent.update(piece);
  });
  for (const piece of hasFailed ? [] : tap.completion()) sent.update(piece);
  const charged = JSON.stringify([tap.usage, tap.entries.map(({ size }) => size)]);
  return `${sent.digest('hex')} ${tap.finished} ${hasFailed} ${charged}`;
}

function readStream(createTap: () => ImageStreamTap, input: Buffer): void {
  const random = createRandom(seedOf(input));
  const cuts = Array.from({ length: 12 }, () => random.below(input.length + 1));
  const isSame = relayed(createTap(), sliced(input, cuts)) === relayed(createTap(), [input]);
  holds(isSame, 'a client is sent the same wherever the upstream’s bytes are cut');
}

/** Where the names of the model are the same, a client gets the events of its upstream, and no other bytes. */
function passesOn(input: Buffer): void {
  const { contents } = imageCodecs;
  const tap = contents.createStreamTap({
    clientModel: 'up',
    upstreamModel: 'up',
    sizeIn: () => '1x1',
    accepts: () => true,
  });
  const all: Buffer[] = [];
  const given: Buffer[] = [];
  let hasFailed = false;
  eachEvent([input], (event) => {
    if (hasFailed) return;
    const flags = tap.inspect(event);
    hasFailed = (flags & verdict.failed) !== 0;
    if (hasFailed || event.data === null || event.data.length === 0) return;
    all.push(event.raw);
    if ((flags & verdict.replace) !== 0) given.push(...tap.replacement);
    else if ((flags & verdict.drop) === 0) given.push(event.raw);
  });
  if (hasFailed) return;
  holds(tap.finished || given.length === all.length, 'only what may be the end is held');
  given.push(...tap.completion());
  holds(Buffer.concat(given).equals(Buffer.concat(all)), 'events pass as they came');
}

export const imageTargets: readonly FuzzTarget[] = [
  {
    name: 'request for images',
    isJson: true,
    samples: generationSamples,
    run: (input) => patch((body) => images.openGeneration(body), input),
    isRefusal: isClientError,
  },
  {
    name: 'form of an image edit',
    isJson: false,
    samples: formSamples,
    run: (input) => patch((body) => images.openEdit(body, type), input),
    isRefusal: isClientError,
  },
  {
    name: 'response with images',
    isJson: true,
    samples: responseSamples,
    run: readResponse,
    isRefusal: isUpstreamError,
  },
  {
    name: 'stream of images',
    isJson: false,
    samples: streamSamples,
    run: (input) => readStream(imagesTap, input),
    isRefusal: (error) => error instanceof EventTooLarge,
  },
  {
    name: 'stream of generate-content with pictures',
    isJson: false,
    samples: contentsSamples,
    run: (input) => {
      readStream(contentsTap, input);
      passesOn(input);
    },
    isRefusal: (error) => error instanceof EventTooLarge,
  },
];
