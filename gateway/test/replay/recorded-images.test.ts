import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createImage } from 'simulator';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { images, UnreadableResponse } from '#protocols/index.ts';
import { absence, folder } from '../recordings/recordings.ts';
import { startTestGateway, testKey, type TestGateway } from '../support/gateway.ts';

interface ImageRecording {
  readonly id: string;
  readonly provider: string;
  readonly endpoint: string;
  readonly request: Readonly<Record<string, unknown>> | null;
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

const recordings: readonly ImageRecording[] =
  absence === null
    ? readdirSync(folder)
        .filter((name) => /^images-.*\.json$/.test(name))
        .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as ImageRecording)
    : [];
const passing = recordings.filter(({ status }) => status === 200);
const failing = recordings.filter(({ status }) => status !== 200);

/** Ark gets no header that says what to replay: the name of the model does. */
const ofArk = recordings.filter(({ provider }) => provider === 'ark').map(({ id }) => id);
const arkModels = ofArk.map((id) => ({ name: id, upstream: `replay:${id}` }));

const config = `
channels:
  - { name: openai, provider: simulator, base_url: SIMULATOR, models: [recorded] }
  - { name: ark, provider: ark, base_url: "SIMULATOR/api/v3", protocols: [images], api_keys: [any], models: ${JSON.stringify(arkModels)} }
models:
${['recorded', ...ofArk].map((id) => `  - { id: ${id}, type: image, capabilities: [edits, streaming], price: { input: 0, output: 0 } }`).join('\n')}
`;

describe.skipIf(absence !== null)(`recorded pictures through the gateway ${absence ?? ''}`, () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway({ config, recordings: folder });
  });
  afterAll(() => gateway.close());

  async function replay({ id, provider, endpoint, request }: ImageRecording, more: object = {}) {
    const isEdit = endpoint.endsWith('/edits');
    const model = provider === 'ark' ? id : 'recorded';
    const headers = { authorization: `Bearer ${testKey}`, 'x-simulator-replay': id };
    const image = `data:image/png;base64,${createImage({ type: 'png', width: 8, height: 8 }).toString('base64')}`;
    const minimal = { prompt: 'a cat', ...(isEdit && { images: [{ image_url: image }] }) };
    const response = await fetch(`${gateway.url}/v1/images/${isEdit ? 'edits' : 'generations'}`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ ...(request ?? minimal), model, ...more }),
    });
    return { status: response.status, text: await response.text() };
  }

  /** With the members that are billed, which some vendors leave out. */
  function filled({ data, usage, size, ...rest }: Record<string, unknown>) {
    const images = data as readonly object[];
    const isCounted = typeof usage === 'object' && usage !== null && 'generated_images' in usage;
    return {
      ...rest,
      data: images.map((each) => ({ ...(size !== undefined && { size }), ...each })),
      ...(usage !== undefined && { usage: isCounted ? { input_images: 0, ...usage } : usage }),
      ...(size !== undefined && { size }),
    };
  }

  it('are complete', () => {
    expect([passing.length, failing.length]).toEqual([7, 3]);
  });

  it.each(passing)('$id arrives as it was', async (recording) => {
    const { status, text } = await replay(recording);
    expect(status).toBe(200);
    const { model, ...rest } = JSON.parse(text) as Record<string, unknown>;
    const { model: recorded, ...expected } = recording.body;
    expect(rest).toEqual(filled(expected));
    // The client's own name, where the response has one.
    expect(model).toBe(recorded === undefined ? undefined : recording.id);
  });

  it.each(passing.filter(({ provider }) => provider !== 'ark'))(
    '$id becomes a stream with the same pictures',
    async (recording) => {
      const { status, text } = await replay(recording, { stream: true });
      expect(status).toBe(200);
      const events = text.split('\n\n').filter((part) => part.startsWith('event: '));
      const shown = events.map(
        (part) => JSON.parse(part.slice(part.indexOf('data: ') + 6)) as object,
      );
      expect(shown).toMatchObject(recording.body['data'] as object[]);
      expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
    },
  );

  it.each(failing)('$id becomes an error of the catalogue', async (recording) => {
    const { status, text } = await replay(recording);
    expect(status).toBe(400);
    const { error } = JSON.parse(text) as { error: Record<string, unknown> };
    const { message } = recording.body['error'] as { message: string };
    expect(error['message']).not.toBe(message);
    expect(['content_policy_violation', 'invalid_value']).toContain(error['code']);
  });

  it.each(recordings)('$id is read', ({ status, body }) => {
    const names = { clientModel: 'm', upstreamModel: 'm' };
    const read = () => images.readResponse(Buffer.from(JSON.stringify(body)), names);
    if (status !== 200) expect(read).toThrow(UnreadableResponse);
    else {
      expect(read().entries).toHaveLength((body['data'] as unknown[]).length);
      const hasTokens = Object.hasOwn(body['usage'] ?? {}, 'output_tokens');
      expect(read().usage !== null).toBe(hasTokens);
    }
  });
});
