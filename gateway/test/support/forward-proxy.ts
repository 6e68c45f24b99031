import { createServer, request as askOrigin, type IncomingMessage } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';

/** An HTTP proxy that forwards requests over http, and opens tunnels. */
export interface ForwardProxy {
  /** With the user `ann` and the password `pa55`, if it wants them. */
  readonly url: string;
  /** The request line's method and target of everything that it was asked for, in order. */
  readonly asked: readonly string[];
  close(): Promise<void>;
}

export interface ForwardProxyOptions {
  /** It refuses whoever does not sign in, with 407. */
  readonly wantsPassword?: boolean;
  /** Where tunnels go, whatever they are asked for: host and port. Default: where they are asked for. */
  readonly tunnelTo?: string;
  /** Answers every tunnel with this status. */
  readonly status?: number;
}

export async function startForwardProxy(options: ForwardProxyOptions = {}): Promise<ForwardProxy> {
  const { wantsPassword = false, tunnelTo, status } = options;
  const asked: string[] = [];
  const sockets = new Set<Socket>();
  const expected = `Basic ${Buffer.from('ann:pa55').toString('base64')}`;
  const isAllowed = ({ headers }: IncomingMessage): boolean =>
    !wantsPassword || headers['proxy-authorization'] === expected;

  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    if (!isAllowed(request)) {
      response.writeHead(407, { 'proxy-authenticate': 'Basic' }).end('who are you?');
      return;
    }
    const { 'proxy-authorization': _, ...headers } = request.headers;
    const forwarded = askOrigin(
      request.url ?? '',
      { method: request.method, headers },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    forwarded.on('error', () => response.writeHead(502).end());
    request.pipe(forwarded);
  });
  server.on('connect', (request, socket: Socket) => {
    asked.push(`${request.method} ${request.url}`);
    socket.on('error', () => {});
    const refusal = status ?? (isAllowed(request) ? null : 407);
    if (refusal !== null) {
      socket.end(`HTTP/1.1 ${refusal} No\r\ncontent-length: 0\r\n\r\n`);
      return;
    }
    const target = new URL(`http://${tunnelTo ?? request.url}`);
    const origin = connect(Number(target.port), target.hostname, () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      origin.pipe(socket).pipe(origin);
    });
    origin.on('error', () => socket.destroy());
    sockets.add(origin);
  });
  server.on('connection', (socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${wantsPassword ? 'ann:pa55@' : ''}127.0.0.1:${port}`,
    asked,
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}
