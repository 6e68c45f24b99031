import { videoProtocols } from '#protocols/index.ts';
import { asBuffer } from './bytes.ts';
import type { Job } from './jobs.ts';
import { plainError } from './plain-error.ts';
import type { VideoReading } from './video-reading.ts';

/** @throws GatewayError for a body that does not name a model. */
export function readVideoJob({
  protocol,
  body,
}: Extract<Job, { kind: 'video-read' }>): VideoReading {
  const { model, read } = videoProtocols[protocol].open(asBuffer(body));
  try {
    const { body: pieces, ...request } = read();
    const { before, after } = pieces;
    return { ...request, model, body: Buffer.concat([before, after]), modelAt: before.length };
  } catch (error) {
    return { model, refusal: plainError(error) };
  }
}
