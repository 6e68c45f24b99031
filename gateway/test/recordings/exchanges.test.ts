import { describe, expect, it } from 'vitest';
import { textProtocols, UnreadableResponse } from '#protocols/index.ts';
import type { RequestPath } from '#protocols/index.ts';
import { absence, type Recording, recordings } from './recordings.ts';

const names = { clientModel: 'm', upstreamModel: 'm' };
const responses = recordings.filter(
  ({ sse, body }) => typeof sse !== 'string' && body !== undefined,
);
const requests = recordings.filter(
  (recording): recording is Recording & { request: Record<string, unknown> } =>
    recording.request !== null && typeof recording.request === 'object',
);

/** Responses with status 200 that are not a response of the protocol, and why. */
const unreadable: Readonly<Record<string, string>> = {
  'chat-azure-json-a73ab9f8': 'an error inside a success',
  'chat-demo-proxy-json-d03e5dc6': 'plain text',
  'generate-content-google-json-31f5e1c0': 'the JSON array of a stream',
  'generate-content-google-json-9b47778d': 'the JSON array of a stream',
  'generate-content-vertex-ai-json-5d8bed3c': 'the JSON array of a stream',
  'generate-content-vertex-ai-json-e94f24ea': "wrapped by the recorder's client",
};

/** Requests that their vendor refused with 400, and the repairs that they get here. */
const refusedByVendor: Readonly<Record<string, readonly string[]>> = {
  'messages-anthropic-json-400-4a3ecf97': ['b8'],
  'messages-anthropic-json-400-t01': ['b10', 'b17'],
};

const isReadable = ({ id, status }: Recording) => status < 400 && unreadable[id] === undefined;

function pathOf({ protocol, endpoint }: Recording): RequestPath {
  if (protocol !== 'generate-content') return { operation: 'generate', model: null, stream: null };
  return {
    operation: endpoint.includes(':countTokens') ? 'count-tokens' : 'generate',
    model: /models\/([^:?]+)/.exec(endpoint)?.[1] ?? 'unknown',
    stream: endpoint.includes(':stream'),
  };
}

describe.skipIf(absence !== null)(`recorded responses ${absence ?? ''}`, () => {
  it.each(responses)('$id passes unchanged, or is recognised as an error', (recording) => {
    const body = Buffer.from(JSON.stringify(recording.body));
    const read = () => textProtocols[recording.protocol].readResponse(body, names);
    if (!isReadable(recording)) {
      expect(read).toThrow(UnreadableResponse);
      return;
    }
    const response = read();
    expect(response.body).toBe(body);
    expect(response.usage?.implausible ?? false).toBe(false);
  });

  it.each(responses.filter(isReadable))('$id echoes a mapped name', (recording) => {
    const { protocol, body } = recording;
    const mapped = textProtocols[protocol].readResponse(
      Buffer.from(JSON.stringify(body, null, 1)),
      {
        clientModel: 'other',
        upstreamModel: 'm',
      },
    );
    const key = protocol === 'generate-content' ? 'modelVersion' : 'model';
    const expected = structuredClone(body) as Record<string, unknown>;
    if (typeof expected[key] === 'string') expected[key] = 'other';
    expect(JSON.parse(mapped.body.toString('utf8'))).toEqual(expected);
  });
});

describe.skipIf(absence !== null)(`recorded requests ${absence ?? ''}`, () => {
  it.each(requests)('$id reaches the upstream with only the declared patches', (recording) => {
    const { protocol: name, request } = recording;
    const protocol = textProtocols[name];
    const body = Buffer.from(JSON.stringify(request));
    const path = withModel(pathOf(recording), request);
    if (name !== 'generate-content' && request['model'] === undefined) {
      // One host has the model in its path; one request names a stored prompt only.
      expect(() => protocol.openRequest(body, path)).toThrow('model is required');
      return;
    }
    const read = protocol.readRequest(protocol.openRequest(body, path));
    const patched = protocol.patchRequest(read, {
      upstreamModel: read.model,
      maxOutputTokens: null,
      // Headers were not recorded; some of these requests had a beta's.
      headers: { 'anthropic-beta': 'recorded' },
    });

    const expected: Record<string, unknown> = structuredClone(request);
    if (name === 'messages') {
      delete expected['temperature'];
      expected['max_tokens'] ??= 8192;
    }
    if (name === 'chat' && request['stream'] === true) {
      const options = request['stream_options'] as Record<string, unknown> | undefined;
      expected['stream_options'] = { ...options, include_usage: true };
      expect(patched.usageInjected).toBe(options?.['include_usage'] !== true);
    }
    const mended = refusedByVendor[recording.id];
    if (mended !== undefined) {
      expect(patched.rewrites).toEqual(mended);
      return;
    }
    const sent = JSON.parse(patched.body.toString('utf8')) as unknown;
    expect(sent).toEqual(expected);
    if (JSON.stringify(expected) === JSON.stringify(request)) expect(patched.body).toBe(body);
  });

  const named = requests.filter(
    ({ protocol, request }) =>
      (protocol === 'chat' || protocol === 'responses') && request['model'] !== undefined,
  );
  it.each(named)('$id: a mapped name changes the name and no other byte', (recording) => {
    const { protocol: name } = recording;
    // A background response is given as a stream only.
    const isBackground = recording.request['background'] === true;
    const request = { ...recording.request, stream: isBackground };
    const body = Buffer.from(JSON.stringify(request, null, 2));
    const read = textProtocols[name].readRequest(
      textProtocols[name].openRequest(body, pathOf(recording)),
    );
    const target = { upstreamModel: 'another-name', maxOutputTokens: null };
    const patched = textProtocols[name].patchRequest(read, target).body.toString('utf8');
    const member = `"model": ${JSON.stringify(read.model)}`;
    expect(patched).toBe(body.toString('utf8').replace(member, '"model": "another-name"'));
  });
});

/** Generate-content bodies that name their model name the one of the path. */
function withModel(path: RequestPath, request: Readonly<Record<string, unknown>>): RequestPath {
  const { model } = request;
  if (path.model === null || typeof model !== 'string') return path;
  return { ...path, model: model.replace(/^models\//, '') };
}
