import type { GenerationRequest, TextProtocolName } from '#canonical/index.ts';
import { ResponseLosses } from '#conversion/losses.ts';
import { createConvertedReader, type ResponseReader } from '#conversion/converted-tap.ts';
import { createStateSealer, type StateSealer } from '#conversion/index.ts';
import { createStateStore, type StateStore } from '#conversion/state/state-store.ts';
import { nameTools } from '#conversion/tools/tool-names.ts';
import { textCodecs, textProtocols } from '#protocols/index.ts';
import { requestOf } from './canonical.ts';

/** Seals under a master key that only this text makes; the same state gives the same bytes in every run. */
export function sealerOf(key: string): StateSealer {
  const bytes = Buffer.alloc(32, key);
  return createStateSealer(bytes, (size) => Buffer.alloc(size, 'nonce'));
}

/** Reads answers of one protocol for a client of another. */
export function readerOf(
  upstream: TextProtocolName,
  client: TextProtocolName,
  request: GenerationRequest = requestOf(),
  losses = new ResponseLosses(client),
  store: StateStore = createStateStore({ now: () => 0 }),
): ResponseReader {
  return createConvertedReader(textProtocols[upstream], {
    context: { requestId: 'req_1', model: 'm', createdAt: 1, request, inputTokens: 3 },
    upstream: textCodecs[upstream],
    client: textCodecs[client],
    clientTools: nameTools(request, textCodecs[upstream].traits).clientTools,
    maker: 'maker_1',
    losses,
    sealing: { sealer: sealerOf('key'), owner: 'user:1' },
    store,
    place: '',
  });
}
