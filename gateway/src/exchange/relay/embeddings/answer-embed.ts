import { answer } from '../answer.ts';
import { writeJson } from '../exchange/client-response.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { EmbedSender } from './embed-sender.ts';
import type { EmbedInput } from './input.ts';
import { measureEmbed, measureLeftEmbed } from './measure-embed.ts';
import type { EmbedParts } from './parts.ts';
import type { PreparedEmbed } from './prepared.ts';

/** @throws GatewayError when nothing has been written to the client yet. */
export function answerEmbed(
  parts: EmbedParts,
  exchange: Exchange<EmbedInput>,
  prepared: PreparedEmbed,
): Promise<void> {
  const { input } = exchange;
  return answer(parts, exchange, {
    routes: prepared.routes,
    sender: new EmbedSender(parts, input, prepared),
    sink: null,
    measure: (response) => measureEmbed(response, prepared, parts.missingUsage),
    measureLeft: (left) => measureLeftEmbed(left, prepared),
    write: ({ body }, headers) => writeJson(input.client, body, headers),
  });
}
