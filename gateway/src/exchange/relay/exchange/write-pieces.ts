import type { ClientResponse } from './client-response.ts';

/** Writes the rest of a body to a client, no faster than the client reads, and ends it. */
export async function writePieces(
  client: ClientResponse,
  pieces: AsyncIterable<Buffer> | Iterable<Buffer>,
): Promise<void> {
  let wake: () => void = () => {};
  client.onDrain(() => wake());
  client.onDisconnect(() => wake());
  for await (const piece of pieces) {
    if (client.disconnected) return;
    const drained = new Promise<void>((resolve) => {
      wake = resolve;
    });
    if (!client.write(piece)) await drained;
  }
  client.end();
}
