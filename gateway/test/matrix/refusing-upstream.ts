import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ProtocolName } from './gateway.ts';

/** How a vendor says no, beyond its status. */
export interface Refusal {
  readonly status: number;
  /** OpenAI's code, Anthropic's type, Google's status. */
  readonly words: { readonly openai: string; readonly anthropic: string; readonly google: string };
  readonly message: string;
  readonly retryAfter?: number;
}

/**
 * A vendor of every protocol that refuses whatever it is asked in that protocol's shape; why, the first segment of
 * the path says. Its messages hold a word that no client may see.
 */
export async function startRefusingUpstream(
  refusals: Readonly<Record<string, Refusal>>,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    const [, name = '', ...rest] = (request.url ?? '').split('/');
    const refusal = refusals[name];
    request.resume().on('end', () => {
      if (refusal === undefined) return void response.writeHead(500).end();
      const { status, retryAfter } = refusal;
      response.writeHead(status, {
        'content-type': 'application/json',
        ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
      });
      response.end(JSON.stringify(bodyOf(protocolAt(rest.join('/')), refusal)));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function protocolAt(path: string): ProtocolName {
  if (path.includes('chat/completions')) return 'chat';
  if (path.includes('responses')) return 'responses';
  return path.includes('messages') ? 'messages' : 'generate-content';
}

function bodyOf(protocol: ProtocolName, { status, words, message }: Refusal): object {
  const text = `${message} (CANARY-upstream-text)`;
  switch (protocol) {
    case 'messages':
      return { type: 'error', error: { type: words.anthropic, message: text } };
    case 'generate-content':
      return { error: { code: status, message: text, status: words.google } };
    default:
      return {
        error: { message: text, type: 'invalid_request_error', param: null, code: words.openai },
      };
  }
}
