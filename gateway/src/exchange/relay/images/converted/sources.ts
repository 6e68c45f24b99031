import type { Model } from '#catalogue/index.ts';
import { GatewayError } from '#errors/index.ts';

/** Whether a model works from pictures of the request. */
export function takesSources({ capabilities }: Pick<Model, 'capabilities'>): boolean {
  return capabilities.has('edits') || capabilities.has('multi_reference');
}

/** @param model as the client wrote it */
export function unable(model: string): GatewayError {
  const reason = `model '${model}' cannot use pictures of a request`;
  return new GatewayError('invalid_value', { values: { reason }, param: 'model' });
}
