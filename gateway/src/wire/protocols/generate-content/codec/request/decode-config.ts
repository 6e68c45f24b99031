import type { Extension, Extensions, GenerationRequest, OutputFormat } from '#canonical/index.ts';
import type { JsonRecord } from '../../../shared/values.ts';
import { ownExtensions } from './extensions.ts';
import {
  member,
  otherMembers,
  readNumber,
  readRecord,
  readString,
  readStrings,
} from '../../fields.ts';
import { fromDialect } from '../schema/schema-dialect.ts';
import { decodeThinking } from './thinking.ts';

const known: ReadonlySet<string> = new Set([
  'temperature',
  'topP',
  'topK',
  'candidateCount',
  'maxOutputTokens',
  'stopSequences',
  'presencePenalty',
  'frequencyPenalty',
  'seed',
  'responseMimeType',
  'responseSchema',
  'responseJsonSchema',
  'responseLogprobs',
  'logprobs',
  'thinkingConfig',
]);

type Configured = Pick<
  GenerationRequest,
  | 'temperature'
  | 'topP'
  | 'topK'
  | 'presencePenalty'
  | 'frequencyPenalty'
  | 'seed'
  | 'stop'
  | 'format'
  | 'reasoning'
  | 'logprobs'
  | 'extensions'
>;

const prefix = 'generationConfig.';

/** @throws GatewayError `invalid_value` for members of the wrong type. */
export function decodeConfig(value: unknown): Configured {
  const config = readRecord(value, 'generationConfig') ?? {};
  const number = (name: string) => readNumber(member(config, name), prefix + name);
  const thinking = readRecord(member(config, 'thinkingConfig'), `${prefix}thinkingConfig`);
  const { format, extensions } = decodeFormat(config);
  const stop = readStrings(member(config, 'stopSequences'), `${prefix}stopSequences`);
  return {
    temperature: number('temperature'),
    topP: number('topP'),
    topK: number('topK'),
    presencePenalty: number('presencePenalty'),
    frequencyPenalty: number('frequencyPenalty'),
    seed: number('seed'),
    stop: stop.filter((sequence) => sequence !== ''),
    format,
    reasoning: decodeThinking(thinking, `${prefix}thinkingConfig`),
    logprobs: member(config, 'responseLogprobs') === true ? (number('logprobs') ?? 0) : null,
    extensions: [...extensions, ...ownExtensions(otherMembers(config, known), prefix, fateOf)],
  };
}

/** Other protocols return text. An image or speech in its place would be a different response. */
function fateOf(name: string, value: unknown): Extension['ifForeign'] {
  if (name !== 'responseModalities') return 'drop';
  const modes = Array.isArray(value) ? value : [];
  return modes.every((mode) => String(mode).toUpperCase() === 'TEXT') ? 'ignore' : 'refuse';
}

function decodeFormat(config: JsonRecord): { format: OutputFormat | null; extensions: Extensions } {
  const mime = readString(member(config, 'responseMimeType'), `${prefix}responseMimeType`);
  const dialect = readRecord(member(config, 'responseSchema'), `${prefix}responseSchema`);
  const json = readRecord(member(config, 'responseJsonSchema'), `${prefix}responseJsonSchema`);
  if (mime !== null && mime !== 'application/json' && mime !== 'text/plain') {
    // One word out of a list. No other protocol has this format.
    const members = [
      ['responseMimeType', mime],
      ['responseSchema', dialect],
    ] as const;
    const present = members.filter(([, value]) => value !== null);
    return { format: null, extensions: ownExtensions(present, prefix, () => 'refuse') };
  }
  const schema = json ?? (dialect === null ? null : fromDialect(dialect));
  return { format: formatOf(mime, schema), extensions: [] };
}

function formatOf(mime: string | null, schema: JsonRecord | null): OutputFormat | null {
  if (schema !== null) {
    return { type: 'schema', name: null, description: null, schema, strict: null };
  }
  if (mime === null) return null;
  return { type: mime === 'text/plain' ? 'text' : 'json' };
}
