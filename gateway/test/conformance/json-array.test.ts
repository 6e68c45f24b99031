import { describe, expect, it } from 'vitest';
import { canary, question, useGateway } from './conformance-gateway.ts';

const gateway = useGateway();

interface Element {
  readonly modelVersion?: string;
  readonly candidates?: readonly {
    readonly finishReason?: string;
    readonly content: { readonly parts: readonly { readonly text: string }[] };
  }[];
  readonly error?: { readonly message: string };
}

async function ask(model: string, query = '') {
  const path = `/v1beta/models/${model}:streamGenerateContent${query}`;
  const contents = [{ role: 'user', parts: [{ text: question }] }];
  const response = await gateway().post(path, { contents });
  return { response, text: await response.text() };
}

describe('streamGenerateContent without alt=sse', () => {
  it.each(['demo-chat', 'fast'])('is one JSON array of %s’s answer', async (model) => {
    const { response, text } = await ask(model);
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    const elements = JSON.parse(text) as Element[];
    expect(elements.length).toBeGreaterThan(6);
    expect(new Set(elements.map(({ modelVersion }) => modelVersion))).toEqual(new Set([model]));
    const parts = elements.flatMap(({ candidates }) => candidates?.[0]?.content.parts ?? []);
    expect(parts.map((part) => part.text).join('')).toContain(question);
    expect(elements.at(-1)?.candidates?.[0]?.finishReason).toBe('STOP');
  });

  it('has the elements that alt=sse sends as events', async () => {
    const events = (await ask('demo-chat', '?alt=sse')).text.split('\n\n').slice(0, -1);
    const elements = JSON.parse((await ask('demo-chat')).text) as Element[];
    expect(elements).toEqual(events.map((event) => JSON.parse(event.slice('data: '.length))));
  });

  it.each(['breaking', 'cutting', 'closing'])(
    '%s ends in the gateway’s error, still as JSON',
    async (model) => {
      const { response, text } = await ask(model);
      expect(response.status).toBe(200);
      const elements = JSON.parse(text) as Element[];
      expect(elements.at(-1)?.error?.message).toBe('upstream response abnormal');
      expect(elements.some(({ candidates }) => candidates?.[0]?.finishReason)).toBe(false);
      expect(text).not.toContain(canary);
    },
  );

  it('is a plain error if nothing has been sent', async () => {
    const { response, text } = await ask('no-such-model');
    expect(response.status).toBe(400);
    expect(JSON.parse(text)).toMatchObject({ error: { code: 400, status: 'INVALID_ARGUMENT' } });
  });
});
