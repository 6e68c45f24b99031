import { createImage } from 'simulator';

export interface Drawn {
  readonly status: number;
  readonly id: string | null;
  /** The response came whole, with one picture. */
  readonly isWhole: boolean;
}

export interface DrawOptions {
  readonly key: string;
  readonly size: string;
  /** Of the simulator. */
  readonly fault?: string;
  /** By a stream of generate-content. */
  readonly isStreamed?: boolean;
  /** A picture to edit, and how the others differ from it; absent: a new one is drawn. */
  readonly edited?: number;
}

/** Asks `demo-image` for one picture, on a connection of its own. Null if the gateway is gone. */
export async function drawAt(
  url: string,
  { key, size, fault = '', edited, isStreamed = false }: DrawOptions,
): Promise<Drawn | null> {
  const headers = {
    authorization: `Bearer ${key}`,
    connection: 'close',
    ...(fault !== '' && { 'x-simulator-fault': fault }),
  };
  const wanted = { model: 'demo-image', prompt: 'a house', size };
  try {
    if (isStreamed) return await drawStreamed(url, headers);
    const response =
      edited === undefined
        ? await fetch(`${url}/v1/images/generations`, {
            method: 'POST',
            headers: { ...headers, 'content-type': 'application/json' },
            body: JSON.stringify(wanted),
          })
        : await fetch(`${url}/v1/images/edits`, {
            method: 'POST',
            headers,
            body: formOf(wanted, edited),
          });
    const { data } = (await response.json()) as { data?: unknown[] };
    return {
      status: response.status,
      id: response.headers.get('x-request-id'),
      isWhole: response.status === 200 && data?.length === 1,
    };
  } catch {
    return null;
  }
}

async function drawStreamed(url: string, headers: Record<string, string>): Promise<Drawn> {
  const response = await fetch(`${url}/v1beta/models/demo-image:streamGenerateContent?alt=sse`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ contents: [{ parts: [{ text: 'a house' }] }] }),
  });
  const text = await response.text();
  return {
    status: response.status,
    id: response.headers.get('x-request-id'),
    isWhole: response.status === 200 && /"finishReason":\s*"STOP"/.test(text),
  };
}

function formOf(fields: Readonly<Record<string, string>>, seed: number): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  const image = createImage({ type: 'png', width: 64, height: 64, seed });
  form.append('image', new Blob([new Uint8Array(image)], { type: 'image/png' }), 'a.png');
  return form;
}
