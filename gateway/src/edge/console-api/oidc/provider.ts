import type { ClientAuth, Configuration, CustomFetch } from 'openid-client';
import type { Config } from '#config/index.ts';
import { createSlots } from '../sessions/slots.ts';

/** What the file has under `oidc`. */
export type OidcSettings = Config['oidc'];

/** Claims about a person, as the provider sends them. */
export type Claims = Readonly<Record<string, unknown>> & {
  readonly iss: string;
  readonly sub: string;
};

/** What ties the way back to the way there. Random, 256 bits each. */
export interface Checks {
  readonly state: string;
  readonly nonce: string;
  /** Of PKCE. */
  readonly verifier: string;
}

/** Why a sign-in ended at the provider. */
export type ProviderProblem =
  /** It does not respond, or says something else than a provider would. */
  | 'provider-away'
  /** The person, or the provider, said no. */
  | 'denied'
  /** What came back proves nothing. */
  | 'not-proven';

export class ProviderFailed extends Error {
  readonly problem: ProviderProblem;

  /** @param detail for the log: the provider's words, without codes and tokens */
  constructor(problem: ProviderProblem, detail: string, cause: unknown) {
    super(detail, { cause });
    this.name = 'ProviderFailed';
    this.problem = problem;
  }
}

/** A provider of OpenID Connect: the code flow with PKCE. */
export interface OidcProvider {
  /**
   * Where the browser is sent.
   * @throws ProviderFailed, ApiError `too_many`
   */
  begin(checks: Checks): Promise<URL>;
  /**
   * The claims of the person who has come back: the provider has signed them.
   * @param search of the address that the browser was led back to, with its `?`
   * @throws ProviderFailed, ApiError `too_many`
   */
  finish(search: string, checks: Checks): Promise<Claims>;
}

/** Milliseconds for which the provider's description of itself is used, and the lack of one. */
const descriptionAge = 3_600_000;
const failureAge = 5_000;
/** Seconds that each call of the provider may take. */
const callTimeout = 8;
/** Bytes of a response: far more than any token or set of keys. */
const longestResponse = 1 << 20;
/** Sign-ins that talk to the provider, and those that wait. */
const atOnce = 8;
const waiting = 100;

/**
 * @param redirectUri the address that the provider leads back to, exactly as it knows it
 * @param now Unix milliseconds
 */
export function createOidcProvider(
  settings: OidcSettings,
  redirectUri: string,
  now: () => number,
): OidcProvider {
  const slots = createSlots(atOnce, waiting);
  let known: { readonly until: number; readonly configuration: Promise<Configuration> } | null =
    null;

  /** One call for all who wait; a failure is remembered for some seconds, so that a crowd does not ask again. */
  function discover(): Promise<Configuration> {
    if (known !== null && known.until > now()) return known.configuration;
    const configuration = slots.run(() => describe(settings));
    known = { until: now() + descriptionAge, configuration };
    configuration.catch(() => {
      known = { until: now() + failureAge, configuration };
    });
    return configuration;
  }

  return {
    async begin({ state, nonce, verifier }) {
      const configuration = await discover();
      const client = await import('openid-client');
      return client.buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope: settings.scopes.join(' '),
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        state,
        nonce,
      });
    },
    async finish(search, { state, nonce, verifier }) {
      const configuration = await discover();
      const client = await import('openid-client');
      const address = new URL(redirectUri);
      address.search = search;
      return slots.run(async () => {
        try {
          const tokens = await client.authorizationCodeGrant(configuration, address, {
            expectedState: state,
            expectedNonce: nonce,
            pkceCodeVerifier: verifier,
            idTokenExpected: true,
          });
          const proven = tokens.claims();
          if (proven === undefined) throw new TypeError('there is no token of identity');
          if (isComplete(proven, settings)) return proven;
          if (configuration.serverMetadata().userinfo_endpoint === undefined) return proven;
          // Many providers keep the token short.
          const more = await client.fetchUserInfo(configuration, tokens.access_token, proven.sub);
          return { ...more, ...proven };
        } catch (error) {
          throw failureOf(error, client);
        }
      });
    },
  };
}

type Client = typeof import('openid-client');

/** @throws ProviderFailed */
async function describe({ issuer, clientId, clientSecret }: OidcSettings): Promise<Configuration> {
  const client = await import('openid-client');
  const server = new URL(issuer ?? '');
  try {
    return await client.discovery(
      server,
      clientId ?? '',
      {},
      clientSecret === null ? client.None() : methodOf(client, clientSecret),
      {
        timeout: callTimeout,
        [client.customFetch]: fetchBounded,
        execute: [
          client.enableNonRepudiationChecks,
          // The file allows it for addresses of this machine only.
          ...(server.protocol === 'http:' ? [client.allowInsecureRequests] : []),
        ],
      },
    );
  } catch (error) {
    throw new ProviderFailed('provider-away', `discovery: ${detailOf(error)}`, error);
  }
}

/** As the provider says that it takes the secret: in a header, as the standard has it, or else in the body. */
function methodOf(client: Client, secret: string): ClientAuth {
  const [header, body] = [client.ClientSecretBasic(secret), client.ClientSecretPost(secret)];
  return (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    return (methods.includes('client_secret_basic') ? header : body)(server, ...rest);
  };
}

/** Bounds what a response may take. */
const fetchBounded: CustomFetch = async (url, options) => {
  const response = await fetch(url, options as RequestInit);
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of response.body ?? []) {
    length += part.length;
    if (length > longestResponse) throw new RangeError('the response is too long');
    parts.push(part);
  }
  const { status, headers } = response;
  return new Response(response.body === null ? null : Buffer.concat(parts), { status, headers });
};

/** Whether the token says everything that is needed about a person. */
const isComplete = (claims: Claims, { roleClaim }: OidcSettings): boolean =>
  typeof claims['email'] === 'string' &&
  claims['email_verified'] !== undefined &&
  (roleClaim === null || claims[roleClaim] !== undefined);

function failureOf(error: unknown, client: Client): ProviderFailed {
  const detail = detailOf(error);
  if (error instanceof client.AuthorizationResponseError) {
    const isAway = ['server_error', 'temporarily_unavailable'].includes(error.error);
    return new ProviderFailed(isAway ? 'provider-away' : 'denied', detail, error);
  }
  if (error instanceof client.ResponseBodyError) {
    return new ProviderFailed('not-proven', detail, error);
  }
  const { code, cause } = error as { readonly code?: unknown; readonly cause?: unknown };
  const isAway =
    code === 'OAUTH_TIMEOUT' ||
    code === 'OAUTH_RESPONSE_IS_NOT_CONFORM' ||
    // Of `fetch`, which has nothing better to say.
    (error instanceof TypeError && cause instanceof Error && code === undefined);
  return new ProviderFailed(isAway ? 'provider-away' : 'not-proven', detail, error);
}

/** The words of an error that may stand in a log: none that an address or a token could be part of. */
function detailOf(error: unknown): string {
  const {
    code,
    message,
    error: word,
    cause,
  } = error as {
    readonly code?: unknown;
    readonly message?: unknown;
    readonly error?: unknown;
    readonly cause?: unknown;
  };
  const inner = cause instanceof Error ? (cause as { readonly code?: unknown }).code : undefined;
  return [word, message, code, inner]
    .filter((part) => typeof part === 'string' && part !== '')
    .join(', ')
    .slice(0, 300);
}
