import { isObject, isPresent, stringAt, type JsonObject } from '../json.ts';
import { missing, wrongType, wrongValue } from '../openai/protocol.ts';
import { Rejection } from '../rejection.ts';
import type { Signer } from '../scenario/signature.ts';

const roles = ['assistant', 'system', 'developer', 'user'];
const inputParts = ['input_text', 'input_image', 'input_file', 'input_audio'];
const outputParts = ['output_text', 'refusal'];

/** The required members of each kind of item. */
const requiredFields: Readonly<Record<string, readonly string[]>> = {
  function_call: ['call_id', 'name', 'arguments'],
  function_call_output: ['call_id', 'output'],
  custom_tool_call: ['call_id', 'name', 'input'],
  custom_tool_call_output: ['call_id', 'output'],
  reasoning: ['summary'],
  item_reference: ['id'],
  image_generation_call: ['id'],
  compaction: ['encrypted_content'],
};

export const signaturePurpose = 'responses';
export const compactionPurpose = 'compaction';

/**
 * Checks the items of the input. `earlier` are the items of the stored response that the request
 * continues; the input may answer their calls. @throws Rejection
 */
export function checkItems(
  items: readonly unknown[],
  earlier: readonly unknown[],
  signer: Signer,
): void {
  items.forEach((item, index) => {
    const param = `input[${index}]`;
    if (!isObject(item)) throw wrongType(param, 'an object', item);
    checkItem(item, param);
    if (item['type'] === 'reasoning') checkReasoning(item, items[index + 1], signer);
    if (item['type'] === 'compaction') checkSealed(item, compactionPurpose, signer);
  });
  checkPairing([...earlier, ...items].filter(isObject));
}

function checkItem(item: JsonObject, param: string): void {
  const type = stringAt(item, 'type') || (isPresent(item['role']) ? 'message' : '');
  if (type === '') throw missing(`${param}.type`);
  if (type === 'message') checkMessage(item, param);
  for (const field of requiredFields[type] ?? []) {
    if (!isPresent(item[field])) throw missing(`${param}.${field}`);
  }
  if (type === 'function_call' && typeof item['arguments'] !== 'string') {
    throw wrongType(`${param}.arguments`, 'a string', item['arguments']);
  }
}

function checkMessage(item: JsonObject, param: string): void {
  const { role, content } = item;
  if (!isPresent(role)) throw missing(`${param}.role`);
  if (typeof role !== 'string' || !roles.includes(role)) {
    throw wrongValue(`${param}.role`, role, roles);
  }
  if (!isPresent(content)) throw missing(`${param}.content`);
  if (typeof content === 'string') return;
  if (!Array.isArray(content)) {
    throw wrongType(`${param}.content`, 'one of a string or array of objects', content);
  }
  const allowed = role === 'assistant' ? outputParts : inputParts;
  content.forEach((part: unknown, index) => {
    const at = `${param}.content[${index}]`;
    const type = stringAt(part, 'type');
    if (type === '') throw missing(`${at}.type`);
    if (!allowed.includes(type)) throw wrongValue(at, type, allowed);
    if (type.endsWith('_text') && (!isObject(part) || typeof part['text'] !== 'string')) {
      throw missing(`${at}.text`);
    }
    const image = isObject(part) ? (part['image_url'] ?? part['file_id']) : undefined;
    if (type === 'input_image' && typeof image !== 'string') {
      throw isPresent(image)
        ? wrongType(`${at}.image_url`, 'a string', image)
        : missing(`${at}.image_url`);
    }
  });
}

function checkSealed(item: JsonObject, purpose: string, signer: Signer): void {
  const encrypted = item['encrypted_content'];
  if (typeof encrypted !== 'string' || signer.verify(purpose, encrypted, '')) return;
  throw new Rejection(
    400,
    `The encrypted content for item ${stringAt(item, 'id')} could not be verified. Reason: Encrypted content could not be decrypted or parsed.`,
    { code: 'invalid_encrypted_content' },
  );
}

function checkReasoning(item: JsonObject, next: unknown, signer: Signer): void {
  checkSealed(item, signaturePurpose, signer);
  const follower = stringAt(next, 'type') || stringAt(next, 'role');
  if (!isObject(next) || follower === '' || stringAt(next, 'role') === 'user') {
    throw new Rejection(
      400,
      `Item '${stringAt(item, 'id')}' of type 'reasoning' was provided without its required following item.`,
      { param: 'input' },
    );
  }
}

/** Every output answers a call, every call has an output. */
function checkPairing(items: readonly JsonObject[]): void {
  const kinds = [
    { call: 'function_call', output: 'function_call_output', name: 'function call' },
    { call: 'custom_tool_call', output: 'custom_tool_call_output', name: 'custom tool call' },
  ];
  for (const { call, output, name } of kinds) {
    const open = new Set<string>();
    for (const item of items) {
      const id = stringAt(item, 'call_id');
      if (item['type'] === call) open.add(id);
      else if (item['type'] === output && !open.delete(id)) {
        throw new Rejection(400, `No tool call found for ${name} output with call_id ${id}.`, {
          param: 'input',
        });
      }
    }
    const [unanswered] = open;
    if (unanswered !== undefined) {
      throw new Rejection(400, `No tool output found for ${name} ${unanswered}.`, {
        param: 'input',
      });
    }
  }
}
