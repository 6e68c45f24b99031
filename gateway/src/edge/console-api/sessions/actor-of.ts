import type { FastifyRequest } from 'fastify';
import type { Actor } from '#administration/index.ts';

/** The person behind a call, as the audit log names whoever makes a change. */
export function actorOf(
  { server, raw, id: requestId }: FastifyRequest,
  { id, email }: { readonly id: string; readonly email: string },
): Actor {
  return { kind: 'user', id, email, address: server.clientAddress(raw), requestId };
}
