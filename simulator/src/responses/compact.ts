import type { Endpoint, World } from '../http/call.ts';
import { jsonReply } from '../http/reply.ts';
import { isObject, stringAt, type JsonObject } from '../json.ts';
import { requestIdHeader } from '../openai/protocol.ts';
import { composeScenario } from '../scenario/compose.ts';
import { deriveId } from '../scenario/identity.ts';
import type { Signer } from '../scenario/signature.ts';
import type { ResponseMemory } from './memory.ts';
import { inputItems, readResponses } from './question.ts';
import { recall } from './recall.ts';
import { renderUsage } from './render.ts';
import { validateCompaction } from './validate.ts';
import { checkItems, compactionPurpose } from './validate-items.ts';

/** What stands for a conversation. Only its maker can read it. */
export function compactionItem(identity: string, signer: Signer): JsonObject {
  return {
    id: `cmp_${identity}`,
    type: 'compaction',
    encrypted_content: signer.mint(compactionPurpose, identity, ''),
  };
}

/**
 * `POST /v1/responses/compact`: the user's messages, and one item in place of everything else.
 */
export function createCompaction({ created, signer }: World, memory: ResponseMemory): Endpoint {
  return (call) => {
    const body = validateCompaction(call.body, call.model);
    const items = inputItems(body);
    const earlier = recall(memory, body);
    checkItems(items, earlier, signer);
    const conversation = [...earlier, ...items].filter(isObject);
    const question = readResponses(body, conversation, call);
    const { identity, usage } = composeScenario(question, call.shape, 'implicit');
    const kept = conversation
      .filter((item) => stringAt(item, 'role') === 'user')
      .map(({ content }, index) => ({
        id: `msg_${deriveId(identity, 'kept', index)}`,
        type: 'message',
        status: 'completed',
        role: 'user',
        content: typeof content === 'string' ? [{ type: 'input_text', text: content }] : content,
      }));
    const compaction = compactionItem(identity, signer);
    const compacted = {
      id: `resp_${identity}`,
      object: 'response.compaction',
      created_at: created(),
      output: [...kept, compaction],
      ...(usage && { usage: renderUsage(usage) }),
    };
    return jsonReply(200, compacted, requestIdHeader);
  };
}
