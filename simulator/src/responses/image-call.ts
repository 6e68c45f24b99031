import type { Call } from '../http/call.ts';
import { anything, integer, oneOf, text, unknownParameter, type Checks } from '../images/checks.ts';
import { isPresent, objectsIn, stringAt, type JsonObject } from '../json.ts';
import type { ImageType } from '../image-files/order.ts';
import { imageInBase64 } from '../image-files/create-image.ts';
import { seedOf } from '../image-files/show.ts';
import { formatSize, parseSize } from '../image-files/size.ts';
import { deriveId } from '../scenario/identity.ts';
import { instructionOf, type Question } from '../scenario/question.ts';
import type { Scenario } from '../scenario/scenario.ts';
import type { OutputItem } from './render.ts';

const type = 'image_generation';

const members: Checks = {
  type: text(),
  action: oneOf('auto', 'generate', 'edit'),
  model: text(),
  size: oneOf('auto', '1024x1024', '1024x1536', '1536x1024'),
  quality: oneOf('auto', 'low', 'medium', 'high'),
  background: oneOf('auto', 'transparent', 'opaque'),
  output_format: oneOf('png', 'jpeg', 'webp'),
  output_compression: integer(0, 100),
  moderation: oneOf('auto', 'low'),
  partial_images: integer(0, 3),
  input_fidelity: oneOf('high', 'low'),
  input_image_mask: anything,
};

/** Checks the hosted tool `image_generation`. @throws Rejection */
export function checkImageTool(tool: JsonObject, param: string): void {
  for (const [name, value] of Object.entries(tool)) {
    const check = Object.hasOwn(members, name) ? members[name] : undefined;
    if (check === undefined) throw unknownParameter(`${param}.${name}`);
    if (isPresent(value)) check(`${param}.${name}`, value);
  }
}

/** `call tool image_generation` in the user's text, or a tool choice, lets the model draw. */
export function drawsImage(body: JsonObject, question: Question): JsonObject | null {
  const tool = objectsIn(body['tools']).find((entry) => entry['type'] === type);
  if (tool === undefined || question.toolRounds > 0) return null;
  const choice = body['tool_choice'];
  const isForced = stringAt(choice, 'type') === type;
  const isOnly = choice === 'required' && question.tools.length === 0;
  const isNamed =
    choice !== 'none' && /\bcall tool image_generation\b/.test(instructionOf(question));
  return isForced || isOnly || isNamed ? tool : null;
}

/** The finished item of one drawn picture; its pieces are the partial pictures. */
export function renderImageCall(
  call: Call,
  tool: JsonObject,
  question: Question,
  scenario: Scenario,
): OutputItem {
  const { size: fault, bytes } = call.shape.images ?? {};
  const usual = parseSize(stringAt(tool, 'size')) ?? { width: 1024, height: 1024 };
  const size = fault === undefined || fault === 'missing' ? usual : fault;
  const format = (tool['output_format'] ?? 'png') as ImageType;
  const transparent = tool['background'] === 'transparent';
  const draw = (position: number) =>
    imageInBase64({
      ...size,
      type: format,
      transparent,
      seed: seedOf(call, position),
      ...(bytes !== undefined && { bytes }),
    });
  const quality = stringAt(tool, 'quality');
  return {
    item: {
      id: `ig_${deriveId(scenario.identity, 'picture')}`,
      type: `${type}_call`,
      status: 'completed',
      background: transparent ? 'transparent' : 'opaque',
      output_format: format,
      quality: quality === '' || quality === 'auto' ? 'medium' : quality,
      result: draw(0),
      revised_prompt: `A demo picture of: ${question.userText}`,
      ...(fault !== 'missing' && { size: formatSize(size) }),
    },
    pieces: Array.from({ length: Number(tool['partial_images'] ?? 0) }, (_, index) =>
      draw(index + 1),
    ),
  };
}
