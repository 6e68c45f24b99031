import type { ImageRequest, ImageSource } from '#canonical/index.ts';
import { parseWithLongTexts, type ParseRoom } from '#json/index.ts';
import { readSource, readText } from '../../shared/images/image-text.ts';
import { readImageValues } from '../../shared/images/image-values.ts';
import { readFlag, readModel, refuseValue, requireList } from '../../shared/text/request-values.ts';
import { isRecord, recordAt } from '../../shared/values.ts';

/** A chat request to an image model. */
export interface ChatImageRequest {
  /** As the client named it. */
  readonly model: string;
  readonly request: ImageRequest;
  readonly stream: boolean;
  /** The stream ends with a chunk that has the usage. */
  readonly wantsUsage: boolean;
}

/**
 * Reads a chat request as one for images: the last message of the user, and the few members that images have too.
 * Everything else of a chat is ignored by design, so it does not count as a loss.
 * @throws GatewayError `invalid_body`, `too_complex`, `missing_parameter`, `invalid_value`, and what `room` throws.
 */
export function decodeImageRequest(body: Buffer, room?: ParseRoom): ChatImageRequest {
  const json = parseWithLongTexts(body, room);
  requireList(json['messages'], 'messages');
  const { size, ...values } = readImageValues(json);
  return {
    model: readModel(json['model']),
    request: {
      ...readLastOfUser(json['messages']),
      ...values,
      shape: size === null ? null : { kind: 'size', size },
      mask: null,
      others: [],
    },
    stream: readFlag(json['stream'], 'stream'),
    wantsUsage: recordAt(json, 'stream_options')['include_usage'] === true,
  };
}

/** @throws GatewayError `invalid_value` if the last message of the user has no text. */
function readLastOfUser(messages: unknown): Pick<ImageRequest, 'prompt' | 'sources'> {
  const list: readonly unknown[] = Array.isArray(messages) ? messages : [];
  const index = list.findLastIndex((message) => isRecord(message) && message['role'] === 'user');
  const message = list[index];
  const param = `messages[${index}].content`;
  if (!isRecord(message)) refuseValue('messages', 'must contain a user message');
  const { content } = message;
  const parts: readonly unknown[] = Array.isArray(content) ? content : [{ text: content }];
  const texts: string[] = [];
  const sources: ImageSource[] = [];
  for (const [at, part] of parts.entries()) {
    if (!isRecord(part)) continue;
    const text = readText(part['text'], `${param}[${at}].text`);
    if (text !== null) texts.push(text);
    const image = part['image_url'];
    if (image === undefined) continue;
    const url = isRecord(image) && 'url' in image ? image['url'] : image;
    sources.push(readSource(url, `${param}[${at}].image_url`));
  }
  const prompt = texts.join('\n');
  if (prompt.trim() === '') refuseValue(param, 'must have a text for the pictures');
  return { prompt, sources };
}
