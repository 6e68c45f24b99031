import { describe, expect, it } from 'vitest';
import type { ImageResponse } from '#canonical/index.ts';
import { encodeImageResponse, encodeImageStream } from './encode-response.ts';

const told = { requestId: 'req_1', model: 'pictures', createdAt: 1 };
const tokens = {
  input: 13,
  inputImage: 3,
  cacheRead: 0,
  cacheWrite: 0,
  cacheWrite1h: 0,
  output: 201,
  outputImage: 200,
  reasoning: 0,
};
const responseWith = (usage: ImageResponse['usage']): ImageResponse => ({
  images: [
    {
      source: { kind: 'base64', mime: 'image/png', base64: Buffer.from('AAAA') },
      size: null,
      revisedPrompt: null,
    },
  ],
  usage,
  others: [],
});

describe.each([
  ['usage that the upstream reports', { tokens, implausible: false }, [13, 201, 214]],
  ['no usage', null, [0, 0, 0]],
] as const)('%s', (_name, usage, sums) => {
  const expected = { prompt_tokens: sums[0], completion_tokens: sums[1], total_tokens: sums[2] };

  it('is in the response', () => {
    const body = Buffer.concat(encodeImageResponse(responseWith(usage), told));
    expect(JSON.parse(body.toString())).toMatchObject({ usage: expected });
  });

  it('is in the last chunk of a stream that is asked for it, and in no other', () => {
    const chunksOf = (wantsUsage: boolean) =>
      Array.from(encodeImageStream(responseWith(usage), told, wantsUsage), (frame) =>
        JSON.parse(frame.toString().slice('data: '.length)),
      );
    expect(chunksOf(true).at(-1)).toMatchObject({ choices: [], usage: expected });
    expect(JSON.stringify(chunksOf(false))).not.toContain('usage');
  });
});
