import type { OpaqueBlock } from '#canonical/index.ts';
import type { JsonRecord } from '../../shared/values.ts';

/**
 * A block of a hosted tool, of a beta or of an unknown type. The call and the result of a hosted tool are both opaque,
 * so that other protocols drop them together.
 */
export function decodeOpaque(block: JsonRecord, type: string): OpaqueBlock {
  const opaque = { type: 'opaque', protocol: 'messages', name: type, value: block } as const;
  // It replaces the whole conversation before it, which the model would not know without its text.
  if (type === 'compaction') {
    const { content } = block;
    if (typeof content === 'string') return { ...opaque, ifForeign: 'drop', text: content };
    return { ...opaque, ifForeign: 'refuse' };
  }
  return { ...opaque, ifForeign: type === 'container_upload' ? 'refuse' : 'drop' };
}
