import { failureObject } from './error-object.ts';

/** Words of a finish, in lower case, with which servers say that the response broke off. */
const words: Readonly<Record<'chat' | 'generate-content' | 'messages', ReadonlySet<string>>> = {
  chat: new Set([
    // vLLM and SGLang: the request was aborted (vllm/v1/request.py, sglang's FINISH_ABORT).
    'abort',
    'aborted',
    // vLLM's FinishReason.ERROR, Mistral's and OpenRouter's API reference.
    'error',
    // GLM: api-docs of Z.ai, "network_error: model inference exception".
    'network_error',
    // api-docs.deepseek.com: "interrupted due to insufficient resource of the inference system".
    'insufficient_system_resource',
    // TensorRT-LLM's OpenAI server and Triton.
    'cancelled',
    'canceled',
    'timeout',
    // Hosts of Gemini's and Bedrock's models pass the models' own words on.
    'malformed_function_call',
    'malformed_model_output',
    'malformed_tool_use',
  ]),
  // ai.google.dev/api/generate-content#FinishReason
  'generate-content': new Set([
    'malformed_function_call',
    'malformed_response',
    'missing_thought_signature',
    'no_image',
    'too_many_tool_calls',
    // Not UNEXPECTED_TOOL_CALL: what Vertex AI ends with it is a complete call.
  ]),
  // Bedrock's Converse names the two `malformed_…`; servers of other models that speak this protocol the rest.
  messages: new Set([
    'abort',
    'aborted',
    'cancelled',
    'error',
    'malformed_model_output',
    'malformed_tool_use',
    'network_error',
    'timeout',
  ]),
};

/** Whether the reason that a response gives for its end means that it broke off. */
export function isBrokenEnding(protocol: keyof typeof words, reason: unknown): reason is string {
  return typeof reason === 'string' && words[protocol].has(reason.toLowerCase());
}

/** `status` of a responses object that will not become complete; one in the background may still. */
const brokenStatuses: ReadonlySet<unknown> = new Set([
  'failed',
  'cancelled',
  'queued',
  'in_progress',
]);

/** @param background `background` of the same response */
export function isBrokenStatus(status: unknown, background: unknown): status is string {
  return brokenStatuses.has(status) && (status === 'failed' || background !== true);
}

/** The error that such an ending stands for, in the shape of the protocol's HTTP error body. */
export function brokenEndingError(reason: string): unknown {
  const message = `the upstream's response broke off: ${reason}`;
  return failureObject({ message, code: reason, status: reason });
}
