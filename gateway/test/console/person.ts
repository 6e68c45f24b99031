/** Somebody at a browser, as far as the console's API is concerned. */
export interface Person {
  /** The cookies, as a browser sends them. */
  readonly cookie: string;
  readonly csrf: string;
  get(path: string): Promise<Response>;
  send(method: string, path: string, body: unknown, headers?: Headers): Promise<Response>;
}

type Headers = Readonly<Record<string, string>>;

const api = '/admin/v1';

export function logIn(
  url: string,
  email: string,
  password: string,
  headers: Headers = {},
): Promise<Response> {
  return fetch(`${url}${api}/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: url, ...headers },
    body: JSON.stringify({ email, password }),
  });
}

/** @throws Error if the gateway refuses */
export async function signIn(url: string, email: string, password: string): Promise<Person> {
  const response = await logIn(url, email, password);
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.status} ${text}`);
  const { csrf_token: csrf } = JSON.parse(text) as { readonly csrf_token: string };
  const cookie = response.headers
    .getSetCookie()
    .map((value) => value.split(';')[0])
    .join('; ');
  return {
    cookie,
    csrf,
    get: (path) => fetch(url + api + path, { headers: { cookie } }),
    send: (method, path, body, headers = {}) =>
      fetch(url + api + path, {
        method,
        headers: {
          cookie,
          'content-type': 'application/json',
          origin: url,
          'x-sluice-csrf': csrf,
          ...headers,
        },
        body: JSON.stringify(body),
      }),
  };
}
