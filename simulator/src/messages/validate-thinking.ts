import { isObject, isPresent, objectsIn, stringAt, type JsonObject } from '../json.ts';
import type { Signer } from '../scenario/signature.ts';
import type { Strictness } from './fields.ts';
import { invalid } from './protocol.ts';

export const signaturePurpose = 'messages';

const modes = ['enabled', 'adaptive', 'disabled', 'between_tools'];
const efforts = ['low', 'medium', 'high', 'xhigh', 'max'];

/** Checks sampling: the latest version has none, earlier ones restrict it. @throws Rejection */
export function checkSampling(body: JsonObject, strictness: Strictness): void {
  for (const field of ['temperature', 'top_p', 'top_k'] as const) {
    const value = body[field];
    if (!isPresent(value)) continue;
    if (strictness.latest) throw invalid(`${field}: Extra inputs are not permitted`);
    if (typeof value !== 'number') throw invalid(`${field}: Input should be a valid number`);
    if (value < 0) throw invalid(`${field}: Input should be greater than or equal to 0`);
    if (field !== 'top_k' && value > 1) {
      throw invalid(`${field}: Input should be less than or equal to 1`);
    }
  }
  if (isPresent(body['temperature']) && isPresent(body['top_p'])) {
    throw invalid(
      '`temperature` and `top_p` cannot both be specified for this model. Please use only one.',
    );
  }
}

/** Checks `thinking`, its conflicts with other fields, and returned blocks. @throws Rejection */
export function checkThinking(body: JsonObject, signer: Signer): void {
  checkEffort(body['output_config']);
  checkSignatures(body, signer);
  const { thinking } = body;
  if (!isPresent(thinking)) return;
  const type = stringAt(thinking, 'type');
  if (!modes.includes(type)) {
    throw invalid(
      `thinking: Input tag '${type}' found using 'type' does not match any of the expected tags: ${modes.map((mode) => `'${mode}'`).join(', ')}`,
    );
  }
  if (type === 'disabled') return;
  if (type === 'enabled') checkBudget(thinking, body['max_tokens']);
  const { temperature } = body;
  if (isPresent(temperature) && temperature !== 1) {
    throw invalid(
      '`temperature` may only be set to 1 when thinking is enabled or in adaptive mode.',
    );
  }
  if (typeof body['top_p'] === 'number' && body['top_p'] < 0.95) {
    throw invalid(
      '`top_p` must be greater than or equal to 0.95 or unset when thinking is enabled or in adaptive mode.',
    );
  }
  if (isPresent(body['top_k'])) {
    throw invalid('`top_k` must be unset when thinking is enabled or in adaptive mode.');
  }
  if (['any', 'tool'].includes(stringAt(body['tool_choice'], 'type'))) {
    throw invalid('Thinking may not be enabled when tool_choice forces tool use.');
  }
  checkOpening(objectsIn(body['messages']), type);
}

function checkBudget(thinking: unknown, limit: unknown): void {
  const budget = isObject(thinking) ? thinking['budget_tokens'] : undefined;
  if (!isPresent(budget)) throw invalid('thinking.enabled.budget_tokens: Field required');
  if (typeof budget !== 'number' || !Number.isInteger(budget)) {
    throw invalid('thinking.enabled.budget_tokens: Input should be a valid integer');
  }
  if (budget < 1024) {
    throw invalid('thinking.enabled.budget_tokens: Input should be greater than or equal to 1024');
  }
  if (typeof limit === 'number' && limit <= budget) {
    throw invalid('`max_tokens` must be greater than `thinking.budget_tokens`.');
  }
}

/** Refuses a prefilled response, and a turn in a tool loop that does not begin with its thinking. */
function checkOpening(messages: readonly JsonObject[], mode: string): void {
  const last = messages.at(-1);
  if (last?.['role'] === 'assistant') {
    throw invalid(
      'This model does not support assistant message prefill. The conversation must end with a user message.',
    );
  }
  const inLoop = objectsIn(last?.['content']).some((block) => block['type'] === 'tool_result');
  if (!inLoop || mode !== 'enabled') return;
  const end = messages.findLastIndex((message) => message['role'] === 'assistant');
  // Adjacent messages of one role are one turn.
  const before = messages.slice(0, end + 1).findLastIndex(({ role }) => role === 'user');
  const index = Math.max(before + 1, 0);
  const first = stringAt(objectsIn(messages[index]?.['content'])[0], 'type');
  if (first === 'thinking' || first === 'redacted_thinking') return;
  throw invalid(
    `messages.${index}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${first}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block.`,
  );
}

function checkSignatures(body: JsonObject, signer: Signer): void {
  objectsIn(body['messages']).forEach((message, index) => {
    objectsIn(message['content']).forEach((block, position) => {
      const path = `messages.${index}.content.${position}`;
      if (
        block['type'] === 'thinking' &&
        !signer.verify(signaturePurpose, stringAt(block, 'signature'), stringAt(block, 'thinking'))
      ) {
        throw invalid(`${path}: Invalid \`signature\` in \`thinking\` block`);
      }
      if (
        block['type'] === 'redacted_thinking' &&
        !signer.verify(signaturePurpose, stringAt(block, 'data'), '')
      ) {
        throw invalid(`${path}: Invalid \`data\` in \`redacted_thinking\` block`);
      }
    });
  });
}

function checkEffort(config: unknown): void {
  const effort = isObject(config) ? config['effort'] : undefined;
  if (!isPresent(effort) || (typeof effort === 'string' && efforts.includes(effort))) return;
  throw invalid("output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'");
}
