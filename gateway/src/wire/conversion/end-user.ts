import type { GenerationRequest } from '#canonical/index.ts';
import { digest } from '#protocols/index.ts';

/**
 * Vendors want a name for the end user that says nothing about anybody, of at most 64 characters. Claude Code writes
 * three ids into one, other clients an address; the same user is the same in every protocol.
 */
export function hideEndUser(request: GenerationRequest): GenerationRequest {
  const { endUser } = request;
  return endUser === null ? request : { ...request, endUser: digest(32, endUser) };
}
