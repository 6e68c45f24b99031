import type { FastifyRequest } from 'fastify';
import type { VideoProtocolName } from '#canonical/index.ts';
import { GatewayError } from '#errors/index.ts';
import type { VideoProtocol } from '#protocols/index.ts';
import { callerOf } from './authentication.ts';

/** A task belongs to the user of the key that made it, whichever key or team that was. */
export function ownerOf(
  request: FastifyRequest,
  protocol: VideoProtocolName,
): { readonly userId: string; readonly protocol: VideoProtocolName } {
  return { userId: callerOf(request).userId, protocol };
}

/**
 * The id in the path.
 * @throws GatewayError `task_not_found` for what cannot be one
 */
export function taskIdOf({ params }: FastifyRequest, protocol: VideoProtocol): string {
  const { id } = params as { readonly id: string };
  if (!protocol.isTaskId(id)) throw new GatewayError('task_not_found');
  return id;
}

/** @throws GatewayError `task_not_found` for null: it does not exist, or has another owner. */
export function requireTask<Value>(value: Value | null): Value {
  if (value === null) throw new GatewayError('task_not_found');
  return value;
}
