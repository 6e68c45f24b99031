import type { GenerationRequest, OutputFormat } from '#canonical/index.ts';
import type { EncodeTarget } from '../../../codec.ts';
import { type Losses, notAvailable } from '../../../shared/text/losses.ts';
import { encodeEffort, mayHave } from '../../../shared/text/openai-members.ts';
import { fitFormat } from '../../../shared/tools/openai-tools.ts';
import { ownValue } from './request-extensions.ts';

/** The smallest limit that upstreams accept. */
const leastOutputTokens = 16;

/** Notes what no upstream of this protocol has. @throws Unconvertible for stop sequences and for several choices. */
export function noteUnknown(request: GenerationRequest, losses: Losses): void {
  if (request.stop.some((text) => text !== '')) throw notAvailable('stop', 'a stop sequence');
  if (request.choices > 1) throw notAvailable('n', 'more than one answer');
  losses.withoutSettings(request, 'top_k', 'presence_penalty', 'frequency_penalty', 'seed');
}

export function encodeSampling(
  request: GenerationRequest,
  target: EncodeTarget,
  losses: Losses,
): { temperature?: number; top_p?: number } {
  const { temperature, topP } = request;
  if (!mayHave(target, 'sampling')) {
    losses.withoutSettings(request, 'temperature', 'top_p');
    return {};
  }
  return { ...(temperature !== null && { temperature }), ...(topP !== null && { top_p: topP }) };
}

export function encodeMaxOutputTokens(limit: number | null, losses: Losses): object {
  if (limit === null) return {};
  if (limit < leastOutputTokens) losses.approximated('max_output_tokens');
  return { max_output_tokens: Math.max(limit, leastOutputTokens) };
}

/** Undefined if it would be empty. */
export function encodeReasoningRequest(
  request: GenerationRequest,
  target: EncodeTarget,
  losses: Losses,
): object | undefined {
  const { reasoning, extensions } = request;
  const own: Record<string, unknown> = {};
  for (const { protocol, name, value } of extensions) {
    if (protocol === 'responses' && name.startsWith('reasoning.')) {
      own[name.slice('reasoning.'.length)] = value;
    }
  }
  if (reasoning === null) return Object.keys(own).length === 0 ? undefined : own;
  if (!mayHave(target, 'reasoning')) {
    if (reasoning.mode === 'on') losses.dropped('reasoning');
    return undefined;
  }
  const effort = encodeEffort(reasoning, target.traits, losses);
  const members = {
    ...(effort !== null && { effort }),
    ...(reasoning.show === true && reasoning.mode === 'on' && { summary: 'auto' }),
    ...own,
  };
  return Object.keys(members).length === 0 ? undefined : members;
}

/** Whether the upstream reasons, so that its state is worth requesting. */
export function willReason({ reasoning }: GenerationRequest, target: EncodeTarget): boolean {
  if (reasoning !== null) return reasoning.mode === 'on' && mayHave(target, 'reasoning');
  return target.capabilities.has('reasoning');
}

export function encodeText({ format, verbosity, extensions }: GenerationRequest): object {
  const text = {
    ...(format !== null && { format: encodeFormat(fitFormat(format)) }),
    ...(verbosity !== null && { verbosity }),
    ...Object.fromEntries(
      extensions
        .filter(({ protocol, name }) => protocol === 'responses' && name.startsWith('text.'))
        .map(({ name, value }) => [name.slice('text.'.length), value]),
    ),
  };
  return Object.keys(text).length === 0 ? {} : { text };
}

export function encodeFormat(format: OutputFormat): object {
  if (format.type === 'text') return { type: 'text' };
  if (format.type === 'json') return { type: 'json_object' };
  const { name, description, schema, strict } = format;
  return {
    type: 'json_schema',
    name: name ?? 'response',
    ...(description !== null && { description }),
    schema,
    ...(strict !== null && { strict }),
  };
}

/** What the client included, and what the conversion needs. */
export function encodeInclude(
  { logprobs, extensions }: GenerationRequest,
  wantsState: boolean,
  logprobsInclude: string,
): object {
  const own = ownValue(extensions, 'include');
  const include = new Set<unknown>(Array.isArray(own) ? own : []);
  if (logprobs !== null) include.add(logprobsInclude);
  if (wantsState) include.add('reasoning.encrypted_content');
  const top = logprobs !== null && logprobs > 0 ? { top_logprobs: logprobs } : {};
  return include.size === 0 ? top : { include: [...include], ...top };
}
