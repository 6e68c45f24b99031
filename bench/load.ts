import { Connection, type Seen } from './connection.ts';
import { seededRandom, sleep } from './statistics.ts';

export interface Load {
  readonly port: number;
  /** A complete request: head and body. */
  readonly request: Buffer;
  /** Must occur near the end of every response's body. */
  readonly terminator: string;
}

/** `count` requests over `connections` connections; each sends its next request as soon as it has its response. */
export async function closedLoop(
  load: Load,
  connections: number,
  count: number,
): Promise<readonly Seen[]> {
  const seen: Seen[] = [];
  let left = count;
  const drive = async (connection: Connection) => {
    while (left-- > 0) {
      seen.push(checked(load, await connection.exchange(load.request)));
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: connections }, () => drive(new Connection(load.port))));
  return seen;
}

/**
 * Requests at random moments (exponential gaps) at `rate` per second for `seconds`, whether or not earlier
 * ones are answered, so that a slow target cannot slow the load down.
 */
export async function openLoop(
  load: Load,
  rate: number,
  seconds: number,
): Promise<readonly Seen[]> {
  const connections: Connection[] = [];
  const responses: Promise<Seen>[] = [];
  const random = seededRandom(1);
  const start = performance.now();
  let due = 0;
  while (due < seconds * 1000) {
    while (due <= performance.now() - start) {
      let connection = connections.find(({ idle }) => idle);
      if (connection === undefined) {
        connection = new Connection(load.port);
        connections.push(connection);
      }
      responses.push(connection.exchange(load.request));
      due += (-Math.log(1 - random()) * 1000) / rate;
    }
    await sleep(1);
  }
  const seen = await Promise.all(responses);
  for (const connection of connections) connection.close();
  return seen.map((response) => checked(load, response));
}

/** Opens `count` streams and resolves once each has sent its first byte; `close` drops them all. */
export async function openStreams(load: Load, count: number): Promise<{ close(): void }> {
  const connections: Connection[] = [];
  for (let at = 0; at < count; at++) {
    const connection = new Connection(load.port);
    connections.push(connection);
    await new Promise<void>((resolve, reject) => {
      connection.exchange(load.request, resolve).catch(reject);
    });
  }
  return { close: () => connections.forEach((connection) => connection.close()) };
}

function checked(load: Load, response: Seen): Seen {
  if (response.status !== 200 || !response.tail.includes(load.terminator)) {
    throw new Error(
      `wrong response: status ${response.status}, ends ${JSON.stringify(response.tail)}`,
    );
  }
  return response;
}
