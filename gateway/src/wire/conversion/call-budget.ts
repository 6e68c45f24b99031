import type { GenerationRequest } from '#canonical/index.ts';
import { GatewayError } from '#errors/index.ts';
import { type Budget, drawJson } from '#json/index.ts';

/**
 * The arguments of a call are JSON text in some protocols and an object in others: reading them costs as much as
 * reading the same amount of the body.
 * @throws GatewayError `too_complex`
 */
export function drawCalls({ turns }: GenerationRequest, budget: Budget): void {
  for (const { blocks } of turns) {
    for (const block of blocks) {
      if (block.type !== 'tool-call') continue;
      if (!drawJson(Buffer.from(block.arguments), budget)) throw new GatewayError('too_complex');
    }
  }
}
