import { noTokens, type ImageResponse } from '#canonical/index.ts';
import { LongText, writeJson, writeJsonPieces } from '#json/index.ts';
import type { ResponseContext } from '../../codec.ts';
import { frame } from '../../shared/text/events.ts';
import type { JsonRecord } from '../../shared/values.ts';
import { writeUsage } from '../codec/response/response-details.ts';
import { responseId } from '../codec/response/response-parts.ts';

type ResponseIdentity = Pick<ResponseContext, 'requestId' | 'model' | 'createdAt'>;

/** Between two images. */
const gap = '\n\n';

/**
 * A chat completion whose content has the images as Markdown, in pieces: images are not copied. Those that are not
 * bytes must have been fetched.
 */
export function encodeImageResponse(response: ImageResponse, identity: ResponseIdentity): Buffer[] {
  const content = new LongText(...contentOf(response));
  return writeJsonPieces({
    ...headOf(identity, 'chat.completion'),
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content, refusal: null },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
    usage: usageOf(response),
  });
}

/** Bytes of Base64 in one chunk of a stream. */
const chunkBytes = 256 * 1024;

/**
 * The same as the frames of a stream, `[DONE]` separate from the rest.
 * @param wantsUsage a chunk with the usage precedes `[DONE]`
 */
export function* encodeImageStream(
  response: ImageResponse,
  identity: ResponseIdentity,
  wantsUsage: boolean,
): Generator<Buffer> {
  const head = headOf(identity, 'chat.completion.chunk');
  const tail = wantsUsage ? { usage: null } : {};
  const chunk = (delta: JsonRecord, finish: string | null): Buffer =>
    asFrame({
      ...head,
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
      ...tail,
    });
  yield chunk({ role: 'assistant', content: '', refusal: null }, null);
  for (const piece of contentOf(response)) {
    if (typeof piece === 'string') yield chunk({ content: piece }, null);
    else {
      for (let from = 0; from < piece.length; from += chunkBytes) {
        const content = new LongText(piece.subarray(from, from + chunkBytes));
        yield chunk({ content }, null);
      }
    }
  }
  yield chunk({}, 'stop');
  if (wantsUsage) yield asFrame({ ...head, choices: [], usage: usageOf(response) });
}

export const imageStreamEnd: Buffer = Buffer.from(frame(null, '[DONE]'));

function headOf({ requestId, createdAt, model }: ResponseIdentity, object: string): JsonRecord {
  return { id: responseId(requestId), object, created: Math.trunc(createdAt), model };
}

function asFrame(value: unknown): Buffer {
  return Buffer.concat([Buffer.from('data: '), writeJson(value), Buffer.from('\n\n')]);
}

function contentOf({ images }: ImageResponse): (string | Buffer)[] {
  return images.flatMap(({ source }, index) => {
    if (source.kind !== 'base64') throw new TypeError('a picture for a chat is not in Base64');
    const before = `${index === 0 ? '' : gap}![image](data:${source.mime ?? 'image/png'};base64,`;
    return [before, source.base64, ')'];
  });
}

/**
 * Always: clients read the three sums without asking whether they are there. Where images are priced by tiers, the
 * upstream may report no tokens.
 */
function usageOf({ usage }: ImageResponse): JsonRecord {
  return writeUsage(usage?.tokens ?? noTokens);
}
