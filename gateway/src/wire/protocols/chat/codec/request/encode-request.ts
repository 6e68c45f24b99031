import type { GenerationRequest, OutputFormat, ReasoningRequest } from '#canonical/index.ts';
import type { Encoded, EncodeTarget } from '../../../codec.ts';
import {
  encodeOrigin,
  sharedMembers,
  encodeEffort,
  mayHave,
} from '../../../shared/text/openai-members.ts';
import { Losses, notAvailable } from '../../../shared/text/losses.ts';
import type { JsonRecord } from '../../../shared/values.ts';
import { encodeMessages } from './encode-messages.ts';
import { encodeTools } from './encode-tools.ts';
import { type EncodeContext, ownMembers } from './message-members.ts';
import { legacyCalls } from '../tool-calls.ts';
import { fitFormat } from '../../../shared/tools/openai-tools.ts';

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
    ...((request.tools.length > 0 || request.toolChoice !== null) && encodeTools(request, context)),
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
  return { json, losses: losses.all() };
}

/** The most that the protocol allows. */
const mostStops = 4;

/**
 * Encodes length, sampling and stop sequences.
 * @throws Unconvertible for more stop sequences than chat allows.
 */
function encodeSampling(request: GenerationRequest, context: EncodeContext): JsonRecord {
  const { seed, maxOutputTokens } = request;
  const stop = request.stop.filter((sequence) => sequence !== '');
  if (stop.length > mostStops) throw notAvailable('stop', `more than ${mostStops} stop sequences`);
  context.losses.withoutSettings(request, 'top_k');
  const limit = context.target.traits.renamedMembers ? 'max_completion_tokens' : 'max_tokens';
  return {
    ...(maxOutputTokens !== null && { [limit]: maxOutputTokens }),
    ...encodeRandomness(request, context),
    ...(seed !== null && { seed }),
    ...(stop.length > 0 && { stop }),
    ...(request.choices > 1 && { n: request.choices }),
  };
}

function encodeRandomness(
  request: GenerationRequest,
  { target, losses }: EncodeContext,
): JsonRecord {
  const members: Record<string, number> = {};
  const samplingValues = {
    temperature: request.temperature,
    top_p: request.topP,
    presence_penalty: request.presencePenalty,
    frequency_penalty: request.frequencyPenalty,
  };
  for (const name of Object.keys(samplingValues) as (keyof typeof samplingValues)[]) {
    const value = samplingValues[name];
    if (value === null) continue;
    if (mayHave(target, 'sampling')) members[name] = value;
    else losses.dropped(name);
  }
  return members;
}

/** Encodes the form of the response, its log probabilities, and the reasoning. */
function encodeResponseForm(request: GenerationRequest, context: EncodeContext): JsonRecord {
  const { format, verbosity, logprobs, reasoning } = request;
  return {
    ...(format !== null && { response_format: encodeFormat(fitFormat(format)) }),
    ...(verbosity !== null && encodeVerbosity(verbosity, context)),
    ...(logprobs !== null && { logprobs: true }),
    ...(logprobs !== null && logprobs > 0 && { top_logprobs: logprobs }),
    ...(reasoning !== null && encodeReasoningRequest(reasoning, context)),
  };
}

function encodeVerbosity(verbosity: string, { target, losses }: EncodeContext): JsonRecord {
  if (target.traits.verbosity) return { verbosity };
  losses.dropped('verbosity');
  return {};
}

function encodeFormat(format: OutputFormat): JsonRecord {
  if (format.type === 'text') return { type: 'text' };
  if (format.type === 'json') return { type: 'json_object' };
  const { name, description, schema, strict } = format;
  return {
    type: 'json_schema',
    json_schema: {
      name: (name ?? '').replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64) || 'response',
      ...(description !== null && { description }),
      schema,
      ...(strict !== null && { strict }),
    },
  };
}

function encodeReasoningRequest(
  reasoning: ReasoningRequest,
  { target, losses }: EncodeContext,
): JsonRecord {
  if (!mayHave(target, 'reasoning')) {
    if (reasoning.mode === 'on') losses.dropped('reasoning');
    return {};
  }
  const effort = encodeEffort(reasoning, target.traits, losses);
  return effort === null ? {} : { reasoning_effort: effort };
}
