import { keyBytes } from '#json/index.ts';
import { recordsIn } from '../../shared/text/input-extent.ts';
import { isAbsent, isRecord, recordAt, type JsonRecord } from '../../shared/values.ts';

/**
 * Where servers report usage if not in `usage`, the first place first:
 *
 * - `choices[].usage`: Moonshot, in the last chunk of a choice, and again in a chunk of its own if that was asked for
 *   (https://github.com/northes/go-moonshot/issues/17);
 * - `choices[].message.usage`, `choices[].delta.usage`;
 * - an object of the server's own: Groq's `x_groq.usage` (https://console.groq.com/docs/api-reference#chat-create);
 * - `metricsMember`.
 */
export function usageIn(response: JsonRecord): unknown {
  if (holdsUsage(response['usage'])) return response['usage'];
  for (const choice of recordsIn(response['choices'])) {
    const places = [choice, recordAt(choice, 'message'), recordAt(choice, 'delta')];
    const found = places.find(({ usage }) => holdsUsage(usage));
    if (found !== undefined) return found['usage'];
  }
  for (const member of Object.values(response)) {
    if (isRecord(member) && holdsUsage(member['usage'])) return member['usage'];
  }
  return response[metricsMember];
}

/**
 * Amazon Bedrock counts in the last chunk of any stream, and Kimi's streams there have no other usage
 * (https://docs.aws.amazon.com/bedrock/latest/userguide/inference-invoke.html).
 */
const metricsMember = 'amazon-bedrock-invocationMetrics';
export const metricsKey = keyBytes(metricsMember);

function holdsUsage(value: unknown): boolean {
  return isRecord(value) && Object.values(value).some((member) => !isAbsent(member));
}
