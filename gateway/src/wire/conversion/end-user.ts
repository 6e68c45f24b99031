import type { GenerationRequest } from '#canonical/index.ts';
import { digest } from '#protocols/index.ts';

/**
 * Vendors want an opaque name for the end user of at most 64 characters. Claude Code sends three ids in one, other
 * clients an e-mail address. The hash is the same for a user in every protocol.
 */
export function hashEndUser(request: GenerationRequest): GenerationRequest {
  const { endUser } = request;
  return endUser === null ? request : { ...request, endUser: digest(32, endUser) };
}
