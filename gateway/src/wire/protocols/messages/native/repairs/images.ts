import { fittingType, isDressed, undressed } from '../../../shared/images/media-type.ts';
import { isRecord, recordAt } from '../../../shared/values.ts';
import { type Block, blocksIn, type Draft, type RepairContext } from './draft.ts';
import { invalid } from '../../../shared/text/request-values.ts';

/** Sets the media type by the image's bytes, and removes everything but base64. */
export function repairImages(draft: Draft): boolean {
  return draft.mapBlocks((block) => {
    if (!isImageWrong(block)) return block;
    const source = recordAt(block, 'source');
    const data = undressed(String(source['data']));
    const media_type = fittingType(source['media_type'], data, 'image');
    return draft.change(block, { source: draft.change(source, { media_type, data }) });
  });
}

export function isImageWrong({ type, source }: Block): boolean {
  if (type !== 'image' || !isRecord(source) || source['type'] !== 'base64') return false;
  const { data, media_type: label } = source;
  if (typeof data !== 'string') return false;
  return isDressed(data) || label !== fittingType(label, data, 'image');
}

/** The vendor's limits: https://platform.claude.com/docs/en/build-with-claude/vision. */
const mostBytes = 10 * 1024 * 1024;
const mostPixels = 8000;

/** Images are never scaled silently. @throws GatewayError that names the image. */
export function checkImageSizes(draft: Draft): boolean {
  if (!draft.context.model.limitsImages) return false;
  for (const [index, message] of (draft.messages ?? []).entries()) {
    if (typeof message.content === 'string') continue;
    checkBlocks(message.content, `messages.${index}.content`, draft.context);
  }
  return false;
}

/** Includes images in tool results. */
function checkBlocks(blocks: readonly Block[], path: string, context: RepairContext): void {
  for (const [position, block] of blocks.entries()) {
    const place = `${path}.${position}`;
    if (block.type === 'tool_result') {
      checkBlocks(blocksIn(block['content']) ?? [], `${place}.content`, context);
    }
    if (!isImageTooLarge(block, context)) continue;
    throw invalid(
      place,
      `is an image of more than ${mostBytes / 1024 / 1024} MB or ${mostPixels} pixels on a side`,
    );
  }
}

export function isImageTooLarge({ type, source }: Block, { model }: RepairContext): boolean {
  if (!model.limitsImages || type !== 'image' || !isRecord(source)) return false;
  const { data } = source;
  if (source['type'] !== 'base64' || typeof data !== 'string') return false;
  return data.length * 0.75 > mostBytes || isWide(data);
}

/** PNG: width and height are the big-endian numbers at 16 and 20. */
function isWide(data: string): boolean {
  if (!data.startsWith('iVBORw0KGgo')) return false;
  const head = Buffer.from(data.slice(0, 32), 'base64');
  if (head.length < 24) return false;
  return head.readUInt32BE(16) > mostPixels || head.readUInt32BE(20) > mostPixels;
}
