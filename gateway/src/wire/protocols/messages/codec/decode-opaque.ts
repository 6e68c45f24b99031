import type { OpaqueBlock } from '#canonical/index.ts';
import type { JsonRecord } from '../../values.ts';

/**
 * A block of a server's tool, of a beta or of a type unknown so far. A call of a server's tool and its result are
 * both of this kind, so that elsewhere they are left out together.
 */
export function decodeOpaque(block: JsonRecord, type: string): OpaqueBlock {
  const opaque = { type: 'opaque', protocol: 'messages', name: type, value: block } as const;
  // Stands for the whole conversation before it: without its text the model would know nothing of that.
  if (type === 'compaction') {
    const { content } = block;
    if (typeof content === 'string') return { ...opaque, ifForeign: 'drop', text: content };
    return { ...opaque, ifForeign: 'refuse' };
  }
  return { ...opaque, ifForeign: type === 'container_upload' ? 'refuse' : 'drop' };
}
