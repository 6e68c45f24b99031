import { describe, expect, test } from 'vitest';
import { Unconvertible, type Block } from '#canonical/index.ts';
import { requestOf, result, user } from '#test/support/canonical.ts';
import { GatewayError } from '#errors/index.ts';
import {
  fetchWanted,
  inlineMedia,
  MediaRefused,
  MediaWanted,
  type FetchMedia,
  type FoundMedia,
} from './media.ts';

const image = (url: string): Block => ({ type: 'image', source: { kind: 'url', url, mime: null } });
const fetched: Block = {
  type: 'image',
  source: { kind: 'data', mime: 'image/png', base64: Buffer.from('bytes').toString('base64') },
};
const all = new Set(['image', 'file', 'audio', 'video'] as const);
const nothing: FoundMedia = new Map();
const byItself = (what: string) => what;

/** What a conversion does: the request is converted again with what it wanted. */
async function inlined(
  request: Parameters<typeof inlineMedia>[0],
  asBytes: Parameters<typeof inlineMedia>[1],
  fetchMedia: FetchMedia,
) {
  try {
    return inlineMedia(request, asBytes, nothing);
  } catch (error) {
    if (!(error instanceof MediaWanted)) throw error;
    return inlineMedia(request, asBytes, await fetchWanted(error.wanted, 0, fetchMedia, byItself));
  }
}

const png: FetchMedia = async () => ({ mime: 'image/png', bytes: Buffer.from('bytes') });

describe('media by URL', () => {
  test('is fetched once per URL, wherever it is', async () => {
    const asked: string[] = [];
    const a = image('https://a.example/1');
    const request = requestOf({ turns: [user('look', a, a), user(result({ content: [a] }))] });
    const { turns } = await inlined(request, all, (url) => {
      asked.push(url);
      return png(url);
    });
    expect(turns).toEqual([user('look', fetched, fetched), user(result({ content: [fetched] }))]);
    expect(asked).toEqual(['https://a.example/1']);
  });

  test('stays a URL if the upstream accepts URLs of its kind', async () => {
    const paper: Block = {
      type: 'file',
      source: { kind: 'url', url: 'https://a.example/2', mime: 'application/pdf' },
    };
    const request = requestOf({ turns: [user(image('https://a.example/1'), paper)] });
    const pdf: FetchMedia = async () => ({ mime: 'application/pdf', bytes: Buffer.from('%PDF') });
    const base64 = Buffer.from('%PDF').toString('base64');
    const { turns } = await inlined(request, new Set(['file'] as const), pdf);
    expect(turns).toEqual([
      user(image('https://a.example/1'), {
        type: 'file',
        source: { kind: 'data', mime: 'application/pdf', base64 },
      }),
    ]);
    expect(await inlined(request, new Set<never>(), pdf)).toBe(request);
  });

  test('of another kind is left to the encoder', async () => {
    const request = requestOf({ turns: [user(image('gs://bucket/a.png'))] });
    expect(await inlined(request, all, png)).toBe(request);
  });

  test('that cannot be fetched is refused with the reason', async () => {
    const request = requestOf({ turns: [user(image('https://a.example/1'))] });
    const refuse: FetchMedia = async () => {
      throw new MediaRefused('its host has no public address');
    };
    const error = await inlined(request, all, refuse).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(GatewayError);
    expect(error).toMatchObject({
      param: 'image.url',
      message: expect.stringContaining('its host has no public address'),
    });
  });

  test('is limited in number and total size', async () => {
    const many = Array.from({ length: 21 }, (_, at) => image(`https://a.example/${at}`));
    await expect(inlined(requestOf({ turns: [user(...many)] }), all, png)).rejects.toThrow(
      Unconvertible,
    );
    const large: FetchMedia = async () => ({
      mime: 'image/png',
      bytes: Buffer.alloc(15 * 1024 * 1024),
    });
    const three = requestOf({ turns: [user(...many.slice(0, 3))] });
    await expect(inlined(three, all, large)).rejects.toThrow('too large');
  });
});
