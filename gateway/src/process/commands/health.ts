import { type IncomingMessage, request as askPlain } from 'node:http';
import { request as askEncrypted } from 'node:https';
import { text } from 'node:stream/consumers';
import { loadCommandConfig } from './command-config.ts';
import { type Command, commonOptions, exitCode, printJson, UsageError } from './command.ts';

/** Milliseconds for the whole question. */
const patience = 3_000;

export const health: Command = {
  name: 'health',
  description:
    'For health checks of containers and load balancers: asks GET /ready at the address that the configuration names,\n' +
    'and succeeds if the gateway admits requests. Gives up after 3 seconds.',
  options: {
    url: {
      type: 'string',
      value: 'URL',
      help: 'ask this gateway instead; may end with /health or /ready',
    },
    ...commonOptions,
  },
  positionals: [],
  async run(input, io) {
    const given = input.text('url');
    const question =
      given === undefined
        ? ownQuestion((await loadCommandConfig(input, io)).server)
        : await questionFor(given);
    const answer = await ask(question);
    const url = question.url.href;
    if (input.flag('json')) {
      printJson(io, { url, ...answer });
    } else {
      const { status, degraded = [], detail } = answer;
      const more = [detail ?? [], degraded.length > 0 ? `degraded: ${degraded.join(', ')}` : []];
      const line = `${url}: ${[status, ...more.flat()].join('; ')}\n`;
      if (answer.ok) io.stdout(line);
      else io.stderr(line);
    }
    return answer.ok ? exitCode.done : exitCode.failed;
  },
};

interface Question {
  readonly url: URL;
  /** This machine's own address, whatever its certificate says: the question holds no secret. */
  readonly own: boolean;
}

/** An address that means every interface is asked at loopback. */
const loopback: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

function ownQuestion(server: {
  readonly host: string;
  readonly port: number;
  readonly tls: object | null;
}): Question {
  if (server.port === 0) {
    throw new Error('server.port is 0, so the address is known only to the gateway: use --url');
  }
  const host = loopback[server.host] ?? server.host;
  const shownHost = host.includes(':') ? `[${host}]` : host;
  const scheme = server.tls === null ? 'http' : 'https';
  return { url: new URL(`${scheme}://${shownHost}:${server.port}/ready`), own: true };
}

async function questionFor(given: string): Promise<Question> {
  const { parseHttpUrl } = await import('#config/index.ts');
  const url = parseHttpUrl(given);
  if (url === null) throw new UsageError('--url: expected a URL such as http://127.0.0.1:8080');
  if (!/\/(health|ready)$/.test(url.pathname))
    url.pathname += url.pathname.endsWith('/') ? 'ready' : '/ready';
  return { url, own: false };
}

interface Answer {
  readonly ok: boolean;
  /** As the gateway says it, or `no response`. */
  readonly status: string;
  readonly degraded?: readonly string[];
  /** Why there is no status, or why the gateway is unavailable. */
  readonly detail?: string;
}

async function ask({ url, own }: Question): Promise<Answer> {
  const signal = AbortSignal.timeout(patience);
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const send = url.protocol === 'https:' ? askEncrypted : askPlain;
      send(url, {
        signal,
        agent: false,
        // `/ready` knows addresses and this name only.
        ...(own && { headers: { host: 'localhost' }, rejectUnauthorized: false }),
      })
        .once('response', resolve)
        .once('error', reject)
        .end();
    });
    return read(response.statusCode ?? 0, await text(response));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const detail = signal.aborted ? `none within ${patience / 1_000} seconds` : (code ?? message);
    return { ok: false, status: 'no response', detail };
  }
}

/** @param body of `/ready` or `/health` */
function read(code: number, body: string): Answer {
  let report: unknown;
  try {
    report = JSON.parse(body);
  } catch {
    report = null;
  }
  const { status, reason, degraded } = Object(report) as Record<string, unknown>;
  if (typeof status !== 'string') {
    return { ok: false, status: `HTTP ${code}`, detail: 'not the health of a gateway' };
  }
  return {
    ok: code === 200 && status === 'ok',
    status,
    ...(typeof reason === 'string' && { detail: reason }),
    ...(Array.isArray(degraded) && { degraded: degraded.map(String) }),
  };
}
