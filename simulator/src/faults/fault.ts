import { parseSize } from '../image-files/size.ts';
import type { Dimensions, ImageShape, Shape, UsageFault } from '../scenario/scenario.ts';
import { usageFaults } from '../scenario/scenario.ts';

/** Keys without a value. */
const flagKeys = [
  'refuse',
  'stall',
  'error-first',
  'crlf',
  'comments',
  'no-final-blank',
  'garbage',
  'html',
  'empty',
  'close-early',
  'no-done',
  'gzip',
  'redirect',
  'done',
  'literal-events',
  'no-z-index',
] as const;

/** Keys that need a whole number. */
const numberKeys = [
  'status',
  'after',
  'retry-after',
  'times',
  'delay',
  'head-delay',
  'first-delay',
  'gap',
  'error-at',
  'cut-at',
  'close-at',
  'stall-at',
  'stall-ms',
  'seed',
  'big-event',
  'events',
  'text-bytes',
  'picture-bytes',
  'input-images',
  'url-status',
  'url-delay',
] as const;

type FlagKey = (typeof flagKeys)[number];
type NumberKey = (typeof numberKeys)[number];

/** A fault. The keys are those of the request; the README explains them. */
export type Fault = Readonly<
  Partial<Record<FlagKey, true> & Record<NumberKey, number>> & {
    usage?: UsageFault;
    slice?: number | 'random';
    /** The word for how the response ended. */
    ending?: string;
    size?: Dimensions | 'missing';
    /** Has no effect, but lets an otherwise equal fault count its `times` separately. */
    id?: string;
  }
>;

export const noFault: Fault = Object.freeze({});

/** Parses `key=value;flag;key=value`. Returns a sentence for an unknown key or value. */
export function parseFault(text: string): Fault | string {
  const fault: Record<string, unknown> = {};
  for (const entry of text.split(';')) {
    const [key = '', value] = entry.trim().split('=', 2);
    if (key === '') continue;
    if (includes(flagKeys, key) && value === undefined) fault[key] = true;
    else if (includes(numberKeys, key) && /^\d{1,9}$/.test(value ?? '')) fault[key] = Number(value);
    else if (key === 'usage' && includes(usageFaults, value)) fault[key] = value;
    else if (key === 'slice' && value === 'random') fault[key] = value;
    else if (key === 'slice' && /^[1-9]\d{0,8}$/.test(value ?? '')) fault[key] = Number(value);
    else if (key === 'size' && readSize(value) !== undefined) fault[key] = readSize(value);
    else if (key === 'ending' && /^\w+$/.test(value ?? '')) fault[key] = value;
    else if (key === 'id' && value !== undefined) fault[key] = value;
    else return `The simulator has no fault '${entry.trim()}'.`;
  }
  if ('status' in fault && (Number(fault['status']) < 200 || Number(fault['status']) > 599)) {
    return "The simulator's fault 'status' takes 200 to 599.";
  }
  return fault;
}

function readSize(value: string | undefined): Fault['size'] {
  if (value === 'missing') return value;
  return parseSize(value ?? '') ?? undefined;
}

function includes<T extends string>(list: readonly T[], value: string | undefined): value is T {
  return (list as readonly (string | undefined)[]).includes(value);
}

/** The part of a fault that changes the response itself. */
export function shapeOf(fault: Fault): Shape {
  return {
    ...(fault.events !== undefined && { events: fault.events }),
    ...(fault['text-bytes'] !== undefined && { textBytes: fault['text-bytes'] }),
    ...(fault['big-event'] !== undefined && { bigEvent: fault['big-event'] }),
    ...(fault.usage !== undefined && { usage: fault.usage }),
    images: imagesOf(fault),
  };
}

function imagesOf(fault: Fault): ImageShape {
  const bytes = fault['picture-bytes'];
  const inputImages = fault['input-images'];
  const urlFault = (['status', 'delay'] as const)
    .filter((key) => fault[`url-${key}`] !== undefined)
    .map((key) => `${key}=${fault[`url-${key}`]}`)
    .join(';');
  return {
    ...(bytes !== undefined && { bytes }),
    ...(fault.size !== undefined && { size: fault.size }),
    ...(inputImages !== undefined && { inputImages }),
    ...(fault['no-z-index'] && { noDepth: true }),
    ...(fault.done && { done: true }),
    ...(fault['literal-events'] && { literalEvents: true }),
    ...(urlFault !== '' && { urlFault }),
  };
}
