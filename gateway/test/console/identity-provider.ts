import { generateKeyPairSync } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider } from 'oidc-provider';

export const clientId = 'sluice';
export const clientSecret = 'canary-client-0123456789abcdef';

/** A provider of OpenID Connect that shares no code with the gateway, with its own pages. */
export interface IdentityProvider {
  readonly issuer: string;
  /** What it says of each person, by subject; its page takes the subject for a name, with any password. */
  readonly people: Map<string, Readonly<Record<string, unknown>>>;
  /** Answers in its place: true if it has. */
  interrupt: (request: IncomingMessage, response: ServerResponse) => boolean;
  close(): Promise<void>;
}

/**
 * @param redirectUris where it leads back to
 * @param isTalkative whether its tokens have all claims, and not only its description of the person
 * @param host of its addresses: for browsers, `localhost` is another site than `127.0.0.1`
 */
export async function startIdentityProvider(
  redirectUris: readonly string[],
  isTalkative = false,
  host = '127.0.0.1',
): Promise<IdentityProvider> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://${host}:${(server.address() as AddressInfo).port}`;
  const people = new Map<string, Readonly<Record<string, unknown>>>();
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const provider = new Provider(issuer, {
    clients: [{ client_id: clientId, client_secret: clientSecret, redirect_uris: redirectUris }],
    jwks: { keys: [privateKey.export({ format: 'jwk' })] },
    cookies: { keys: ['a key of the tests'] },
    claims: {
      openid: ['sub'],
      email: ['email', 'email_verified'],
      profile: ['name'],
      groups: ['groups'],
    },
    conformIdTokenClaims: !isTalkative,
    pkce: { required: () => true },
    ttl: { Grant: 600, Interaction: 600, Session: 600, AccessToken: 600, IdToken: 600 },
    findAccount: (_context: unknown, id: string) => ({
      accountId: id,
      claims: () => ({ sub: id, ...people.get(id) }),
    }),
  });
  const callback = provider.callback();
  const own: IdentityProvider = {
    issuer,
    people,
    interrupt: () => false,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  server.on('request', (request, response) => {
    if (!own.interrupt(request, response)) callback(request, response);
  });
  return own;
}

/** A browser of somebody, as far as sign-ins are concerned: it keeps cookies, and follows no redirect by itself. */
export class PlainBrowser {
  readonly #jars = new Map<string, Map<string, string>>();

  /** The cookies that it has for an origin, as it sends them. */
  cookieOf(origin: string): string {
    const jar = this.#jars.get(origin) ?? new Map<string, string>();
    return [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  async go(url: string, form?: Readonly<Record<string, string>>): Promise<Response> {
    const { origin } = new URL(url);
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: this.cookieOf(origin) },
      ...(form !== undefined && { method: 'POST', body: new URLSearchParams(form) }),
    });
    this.keep(origin, response);
    return response;
  }

  keep(origin: string, response: Response): void {
    const jar = this.#jars.get(origin) ?? new Map<string, string>();
    this.#jars.set(origin, jar);
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (/max-age=0\b|expires=thu, 01 jan 1970/i.test(cookie)) jar.delete(name);
      else jar.set(name, value);
    }
  }
}

/**
 * Goes through the provider's pages.
 * @param url where the gateway sends the browser
 * @returns where the provider sends it back to
 */
export async function passProvider(
  browser: PlainBrowser,
  url: string,
  subject: string,
): Promise<string> {
  const { origin } = new URL(url);
  let response = await browser.go(url);
  for (let step = 0; step < 12; step += 1) {
    const location = response.headers.get('location');
    const next = location === null ? null : new URL(location, origin);
    if (next !== null && next.origin !== origin) return next.href;
    if (next !== null) {
      response = await browser.go(next.href);
      continue;
    }
    const page = await response.text();
    const [, action] = /<form[^>]* action="([^"]+)"/.exec(page) ?? [];
    const [, prompt = ''] = /name="prompt" value="(\w+)"/.exec(page) ?? [];
    if (action === undefined) throw new Error(`no form: ${response.status} ${page.slice(0, 500)}`);
    response = await browser.go(new URL(action, origin).href, {
      prompt,
      ...(prompt === 'login' && { login: subject, password: 'any' }),
    });
  }
  throw new Error('the provider leads nowhere');
}
