import type { GenerationRequest } from '#canonical/index.ts';
import type { Encoded, EncodeTarget } from '../../../codec.ts';
import { encodeOrigin, sharedMembers } from '../../../shared/text/openai-members.ts';
import { Losses } from '../../../shared/text/losses.ts';
import type { JsonRecord } from '../../../shared/values.ts';
import { encodeMessages } from './encode-messages.ts';
import { encodeResponseForm, encodeSampling } from './encode-settings.ts';
import { encodeTools } from './encode-tools.ts';
import { type EncodeContext, ownMembers } from './encode-context.ts';
import { legacyCalls } from '../legacy-calls.ts';

/** @throws Unconvertible as `Codec.encodeRequest` says. */
export function encodeRequest(
  request: GenerationRequest,
  target: EncodeTarget,
): Encoded<JsonRecord> {
  const losses = new Losses('chat');
  const context: EncodeContext = { target, losses };
  const { shared, others } = sharedMembers(request.extensions, target);
  losses.foreign(others);
  const { stream_options: ownOptions, [legacyCalls]: _, ...own } = ownMembers(others);
  const json = {
    model: target.model,
    messages: encodeMessages(request, context),
    ...encodeTools(request, context),
    ...encodeSampling(request, context),
    ...encodeResponseForm(request, context),
    ...encodeOrigin(request, target, losses),
    ...shared,
    ...own,
    ...(request.stream && {
      stream: true,
      // Billing needs the usage, whether or not the client does.
      stream_options: { ...(ownOptions as JsonRecord | undefined), include_usage: true },
    }),
  };
  return { json, losses: losses.list() };
}
