import { createHmac } from 'node:crypto';
import type { GenerationRequest, TextProtocolName } from '../../src/canonical/index.ts';
import { AnswerLosses } from '../../src/conversion/answer-losses.ts';
import { createConvertedReader, type AnswerReader } from '../../src/conversion/converted-answer.ts';
import type { StateSigner } from '../../src/conversion/index.ts';
import { createStateStore } from '../../src/conversion/state/state-store.ts';
import { nameTools } from '../../src/conversion/tools/tool-names.ts';
import { textCodecs, textProtocols } from '../../src/protocols/index.ts';
import { requestOf } from './canonical.ts';

export function signerOf(key: string): StateSigner {
  const sign = (text: string) => createHmac('sha256', key).update(text).digest('base64url');
  return { sign, verify: (text, signature) => sign(text) === signature };
}

/** Reads answers of one protocol for a client of another. */
export function readerOf(
  upstream: TextProtocolName,
  client: TextProtocolName,
  request: GenerationRequest = requestOf(),
  losses = new AnswerLosses(client),
): AnswerReader {
  return createConvertedReader(textProtocols[upstream], {
    answer: { requestId: 'req_1', model: 'm', createdAt: 1, request, inputTokens: 3 },
    upstream: textCodecs[upstream],
    client: textCodecs[client],
    names: nameTools(request, textCodecs[upstream].traits),
    owner: { provider: 'simulator', model: 'up', channel: 'ch_1' },
    keyId: 'key_1',
    losses,
    signer: signerOf('key'),
    store: createStateStore({ now: () => 0 }),
  });
}
