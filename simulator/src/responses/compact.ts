import type { Endpoint, World } from '../http/call.ts';
import { jsonReply } from '../http/reply.ts';
import { isObject, stringAt } from '../json.ts';
import { requestIdHeader } from '../openai/protocol.ts';
import { composeScenario } from '../scenario/compose.ts';
import type { ResponseMemory } from './memory.ts';
import { inputItems, readResponses } from './question.ts';
import { recall } from './recall.ts';
import { renderUsage } from './render.ts';
import { validateCompaction } from './validate.ts';
import { checkItems, compactionPurpose } from './validate-items.ts';

/**
 * `POST /v1/responses/compact`: the user's messages and one item in place of everything else. Only its maker can read
 * that item.
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
    const kept = conversation.filter((item) => stringAt(item, 'role') === 'user');
    const compaction = {
      id: `cmp_${identity}`,
      type: 'compaction',
      encrypted_content: signer.mint(compactionPurpose, identity, ''),
    };
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
