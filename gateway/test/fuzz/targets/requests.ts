import type { TextProtocolName } from '#canonical/index.ts';
import { GatewayError } from '#errors/index.ts';
import { textCodecs, textProtocols, type WireRequest } from '#protocols/index.ts';
import { convert, protocolPairs, readWireText, textProtocolNames } from '../../support/convert.ts';
import { wireRequests } from '../../support/wire-requests.ts';
import { holds, type FuzzTarget } from '../target.ts';
import { isClientError } from './refusals.ts';

export const samplesOf = (protocol: TextProtocolName): Buffer[] =>
  [wireRequests[protocol], simple[protocol]].map((request) => Buffer.from(JSON.stringify(request)));

/** Little enough that a mutation hits what matters. */
const simple: Readonly<Record<TextProtocolName, object>> = {
  chat: { model: 'm', messages: [{ role: 'user', content: 'hello' }], stream: true },
  responses: { model: 'm', input: 'hello', stream: true },
  messages: { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'hello' }] },
  'generate-content': { contents: [{ parts: [{ text: 'hello' }] }] },
};

export const readRequest = (protocol: TextProtocolName, input: Buffer): WireRequest =>
  readWireText(protocol, String(input));

/** For an upstream of the client's own protocol: patches, and for messages repairs. */
function patch(protocol: TextProtocolName, input: Buffer): void {
  const { patchRequest } = textProtocols[protocol];
  const target = { upstreamModel: 'up', maxOutputTokens: 9000, headers: {} };
  const { body } = patchRequest(readRequest(protocol, input), target);
  const again = patchRequest(readRequest(protocol, body), target);
  holds(again.rewrites.length === 0, `what was repaired needs ${again.rewrites.join(', ')} again`);
  holds(again.body.equals(body), 'patching twice is patching once');
  const json = JSON.parse(String(body)) as { model?: unknown };
  if (protocol !== 'generate-content') holds(json.model === 'up', 'the upstream’s model is named');
}

const capabilities = new Set(['vision', 'tools', 'reasoning', 'sampling', 'hosted_tools']);

/** For an upstream of another protocol. */
async function cross(
  client: TextProtocolName,
  upstream: TextProtocolName,
  input: Buffer,
): Promise<void> {
  const request = readRequest(client, input);
  const target = { protocol: upstream, capabilities };
  const { body } = await convert({ client, request, target });
  try {
    textCodecs[upstream].decodeRequest(readRequest(upstream, body));
  } catch (error) {
    // A number or a text that the client wrote so is the upstream's to refuse; a form is ours.
    const isValue = error instanceof GatewayError && error.errorName === 'invalid_value';
    holds(isValue, `what was encoded is no request of ${upstream}: ${String(error)}`);
  }
}

export const requestTargets: readonly FuzzTarget[] = [
  ...textProtocolNames.map((protocol) => ({
    name: `request of ${protocol}`,
    isJson: true,
    samples: samplesOf(protocol),
    run: (input: Buffer) => patch(protocol, input),
    isRefusal: isClientError,
  })),
  ...protocolPairs.map(({ client, upstream }) => ({
    name: `request of ${client} for ${upstream}`,
    isJson: true,
    samples: samplesOf(client),
    run: (input: Buffer) => cross(client, upstream, input),
    isRefusal: isClientError,
  })),
];
