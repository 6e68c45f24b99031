import { readFileSync } from 'node:fs';

/** What a socket of this machine may grow to, bytes; 0 where nobody says. */
function mostOf(buffer: 'tcp_rmem' | 'tcp_wmem'): number {
  if (process.platform !== 'linux') return 0;
  const text = readFileSync(`/proc/sys/net/ipv4/${buffer}`, 'latin1');
  return Number(text.trim().split(/\s+/).at(-1));
}

/** Bytes of a response that does not fit into the buffers of the two connections it takes, by far. */
export const largeResponseBytes = Math.max(
  48 * 2 ** 20,
  16 * 2 ** 20 + 2 * (mostOf('tcp_rmem') + mostOf('tcp_wmem')),
);
