import {
  lacks,
  type FinishReason,
  type ReportedUsage,
  type TextProtocolName,
} from '#canonical/index.ts';
import { failureObject } from './error-object.ts';
import { cleanName, withUnreadNames } from '../usage/unread-usage.ts';
import { textFacts } from '../../text-facts.ts';
import { isRecord } from '../values.ts';

/*
 * What the words mean by which responses say why they ended: `finish_reason`, `stop_reason`, `finishReason`, and the
 * `status` and `incomplete_details.reason` of responses. One table for all protocols, since servers pass on the words of
 * the models that they host.
 */

/** `broken`: the response broke off. `spoilt`: the same, by what the model wrote, which a client can bring about. */
type Meaning = FinishReason | 'broken' | 'spoilt';

/** In lower case: some servers write the words in capitals. */
const meanings: ReadonlyMap<string, Meaning> = new Map(
  Object.entries({
    // OpenAI: chat, and the status of responses.
    stop: 'end',
    length: 'length',
    tool_calls: 'tool',
    function_call: 'tool',
    content_filter: 'filtered',
    completed: 'end',
    incomplete: 'length',
    max_output_tokens: 'length',
    failed: 'broken',
    cancelled: 'broken',
    canceled: 'broken',
    queued: 'broken',
    in_progress: 'broken',

    // Anthropic, https://platform.claude.com/docs/en/api/handling-stop-reasons
    end_turn: 'end',
    max_tokens: 'length',
    stop_sequence: 'stop-sequence',
    tool_use: 'tool',
    pause_turn: 'pause',
    // The client asked to be shown the summary before the response continues (`pause_after_compaction`).
    compaction: 'pause',
    refusal: 'filtered',
    model_context_window_exceeded: 'context-full',

    // Gemini, https://ai.google.dev/api/generate-content#FinishReason
    finish_reason_unspecified: 'other',
    other: 'other',
    // The client would have to return its token, which only this protocol can carry.
    continuation: 'length',
    // What Vertex AI ends with it is a complete call.
    unexpected_tool_call: 'other',
    safety: 'filtered',
    recitation: 'filtered',
    language: 'filtered',
    blocklist: 'filtered',
    prohibited_content: 'filtered',
    spii: 'filtered',
    model_armor: 'filtered',
    image_safety: 'filtered',
    image_prohibited_content: 'filtered',
    image_recitation: 'filtered',
    image_other: 'filtered',
    // LiteLLM, litellm/litellm_core_utils/core_helpers.py
    escalation: 'filtered',
    malformed_function_call: 'spoilt',
    malformed_response: 'spoilt',
    missing_thought_signature: 'spoilt',
    no_image: 'spoilt',
    too_many_tool_calls: 'spoilt',

    // Bedrock Converse, https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
    guardrail_intervened: 'filtered',
    content_filtered: 'filtered',
    malformed_model_output: 'spoilt',
    malformed_tool_use: 'spoilt',

    // Mistral, https://docs.mistral.ai/api: also `error`.
    model_length: 'context-full',
    // Hugging Face's TGI and Together.
    eos: 'end',
    eos_token: 'end',
    // Cohere's API reference, `FinishReason`: also `error` and `timeout`.
    complete: 'end',
    error_toxic: 'filtered',
    error_limit: 'context-full',
    user_cancel: 'broken',
    // Baidu's Qianfan.
    normal: 'end',
    // Z.ai, https://docs.z.ai/api-reference/llm/chat-completion: "network_error: model inference exception".
    sensitive: 'filtered',
    network_error: 'broken',
    // https://api-docs.deepseek.com: "interrupted due to insufficient resource of the inference system".
    insufficient_system_resource: 'broken',

    // vLLM, vllm/v1/engine/__init__.py: the model repeated itself, and was stopped with what it had.
    repetition: 'length',
    // vLLM and SGLang (FINISH_ABORT).
    abort: 'broken',
    aborted: 'broken',
    // vLLM, Mistral, Cohere, OpenRouter, Together.
    error: 'broken',
    // TensorRT-LLM's OpenAI server and Triton, with `cancelled`; Cohere.
    timeout: 'broken',
  } satisfies Record<string, Meaning>),
);

/** Parts of words that say that a response was cut: servers invent such words. */
const guesses: readonly (readonly [part: RegExp, reason: FinishReason])[] = [
  [/safety|filter|block|prohibit|refus|sensitive|recit|policy|moderat/, 'filtered'],
  [/length|max|limit|truncat|budget/, 'length'],
];

const guessOf = (text: string): FinishReason | undefined =>
  guesses.find(([part]) => part.test(text))?.[1];

/** Why a response ended. `isGuess`: the word is in no table. */
export function readEnding(word: string): { reason: FinishReason; isGuess?: true } {
  const text = word.toLowerCase();
  const meaning = meanings.get(text);
  if (meaning === 'broken' || meaning === 'spoilt') return { reason: 'other' };
  if (meaning !== undefined) return { reason: meaning };
  return { reason: guessOf(text) ?? 'end', isGuess: true };
}

/** What an ending is worth. `unknown`: a word that is in no table. */
export type Ending = 'good' | 'broken' | 'unknown';

/**
 * Judges a word beside what stands beside it. Vendors invent good endings too, so that an unknown one is no failure if
 * the response has output; its usage is judged by `isWellEnded`.
 * @param word as received; not a text: the response gives no reason
 */
export function judgeEnding(word: unknown, hasOutput: boolean): Ending {
  if (typeof word !== 'string' || word === '') return 'good';
  const text = word.toLowerCase();
  const meaning = meanings.get(text);
  if (meaning === 'broken' || meaning === 'spoilt') return 'broken';
  if (meaning !== undefined) return 'good';
  return hasOutput || guessOf(text) !== undefined ? 'unknown' : 'broken';
}

/**
 * Whether a response is complete whose ending is `unknown`. One that was cut may lack its usage, and so may any of a protocol
 * where the usage is optional.
 */
export function isWellEnded(
  protocol: TextProtocolName,
  word: string,
  usage: ReportedUsage | null,
): boolean {
  if (textFacts[protocol].usageIsOptional) return true;
  if (guessOf(word.toLowerCase()) !== undefined) return true;
  return usage !== null && !lacks(usage, 'output');
}

/** The usage of a response that ended with an unknown word, which is named among what nothing reads. */
export function withUnknownEnding(usage: ReportedUsage | null, word: string): ReportedUsage {
  return withUnreadNames(usage, [nameOf(word), ...(usage?.unread ?? [])]);
}

/** Whether a response with this `status` will not become complete; one in the background may still. */
export function isBrokenStatus(status: unknown, background: unknown): status is string {
  return judgeEnding(status, true) === 'broken' && (status === 'failed' || background !== true);
}

const brokenType = 'broken_ending';

/** The error that a word means with which a response broke off, in the shape of the protocol's HTTP error body. */
export function brokenEndingError(word: string): unknown {
  const message = `the upstream's response broke off: ${word}`;
  return failureObject({ message, type: brokenType, code: word, status: word });
}

/** How a response broke off. */
export interface BrokenEnding {
  /** The word, as rows have it. */
  readonly result: string;
  /** What the model wrote is at fault, and no channel. */
  readonly isSpoilt: boolean;
}

/** The ending that an error stands for; null for any other error. */
export function brokenEndingIn(failure: unknown): BrokenEnding | null {
  const error = isRecord(failure) ? failure['error'] : null;
  if (!isRecord(error) || error['type'] !== brokenType) return null;
  const word = String(error['code']);
  return { result: nameOf(word), isSpoilt: meanings.get(word.toLowerCase()) === 'spoilt' };
}

function nameOf(word: string): string {
  return `ending=${cleanName(word)}`;
}
