import { answer } from '../answer.ts';
import { writeJson } from '../exchange/client-response.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { MixedImageSender } from './converted/mixed-sender.ts';
import type { PictureParts } from './converted/parts.ts';
import type { ImageInput } from './input.ts';
import type { PreparedImages } from './prepared.ts';

const noBody = Buffer.alloc(0);

/** @throws GatewayError when nothing has been written to the client yet; SpoolFailure when the response broke off. */
export function answerImages(
  parts: PictureParts,
  exchange: Exchange<ImageInput>,
  prepared: PreparedImages,
): Promise<void> {
  const { input } = exchange;
  // The prepared request owns the bytes now; hashing megabytes for the log is not worth it.
  input.body = noBody;
  return answer(parts, exchange, {
    routes: prepared.routes,
    sender: new MixedImageSender(parts, input, prepared),
    sink: null,
    measure: ({ measured }) => measured,
    write(response, headers) {
      // A converted response is in memory anyway.
      if ('body' in response) return writeJson(input.client, response.body, headers);
      input.client.start(200, {
        'content-type': 'application/json',
        'content-length': String(response.length),
        ...headers,
      });
      return response.writeTo(input.client);
    },
  });
}
