import { createImage } from 'simulator';
import { testKey, type TestGateway } from '../support/gateway.ts';

/* Requests for pictures, and channels of the simulator that make them. */

export const generations = '/v1/images/generations';
export const edits = '/v1/images/edits';

export const tierPrice =
  'price: { image_tiers: [{ name: 1K, max_pixels: 2610000, price: 0.04 }, { name: 4K, max_pixels: 20000000, price: 0.08 }], reference_image: 0, layer_factor: 0.5 }';

export const tester = `users:
  - { email: tester@example.com, balance: 100 }
keys:
  - { name: test, user: tester@example.com, secret: ${testKey} }`;

export interface ChannelOfImages {
  readonly name: string;
  readonly at?: string;
  readonly models?: string;
  readonly upstream?: string;
  readonly more?: string;
}

/** A line of YAML. */
export const imageChannel = ({
  name,
  at = 'SIMULATOR',
  models = name,
  upstream = 'demo-image',
  more = '',
}: ChannelOfImages) =>
  `  - { name: ${name}, provider: simulator, base_url: "${at}", models: [{ name: ${models}, upstream: ${upstream} }]${more} }`;

export const faultAt = (text: string): string => `SIMULATOR/fault(${text})`;

export interface ImageModelSketch {
  readonly id: string;
  readonly can?: string;
  readonly enabled?: boolean;
}

/** A line of YAML. */
export const imageModel = ({ id, can = '', enabled = true }: ImageModelSketch): string =>
  `  - { id: ${id}, type: image, capabilities: [${can}], enabled: ${enabled}, ${tierPrice} }`;

export const png = createImage({ type: 'png', width: 64, height: 64 });
export const uri = `data:image/png;base64,${png.toString('base64')}`;
export type FormPart = readonly [name: string, value: string | Buffer, file?: string];

export function formOf(...parts: readonly FormPart[]): FormData {
  const form = new FormData();
  for (const [name, value, file = 'a.png'] of parts) {
    if (typeof value === 'string') form.append(name, value);
    else form.append(name, new Blob([new Uint8Array(value)], { type: 'image/png' }), file);
  }
  return form;
}

interface Said {
  readonly error?: { message: string; type: string; param: string | null; code: string | null };
  readonly data?: Record<string, unknown>[];
}

/** Sends a request, and shows what the simulator was asked for it. */
export async function sendImages(
  gateway: TestGateway,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
) {
  gateway.simulator.clear();
  const response = await (body instanceof FormData
    ? fetch(gateway.url + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${testKey}`, ...headers },
        body,
      })
    : gateway.post(path, body, headers));
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    id: response.headers.get('x-request-id') ?? '',
    text,
    json: JSON.parse(text) as Said,
    upstream: gateway.simulator.requests(),
  };
}
