import { readFileSync } from 'node:fs';
import { createSecureContext, type Server } from 'node:tls';
import type { FastifyInstance } from 'fastify';

export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
}

/**
 * Reads certificate and key from their PEM files.
 * @throws Error with a message for the operator.
 */
export function readTlsFiles(files: TlsFiles): { readonly cert: Buffer; readonly key: Buffer } {
  const pair = { cert: read('cert', files.cert), key: read('key', files.key) };
  try {
    createSecureContext(pair);
    return pair;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(
      `server.tls: ${files.cert} and ${files.key} are not a certificate and its key in PEM form: ${reason}`,
      { cause },
    );
  }
}

/** What a server's TLS is made of. @throws Error with a message for the operator. */
export const tlsSettings = (files: TlsFiles) =>
  ({ ...readTlsFiles(files), minVersion: 'TLSv1.2' }) as const;

/**
 * Reads the files again. New connections get the certificate of now; those that are open stay as they are.
 * @throws Error with a message for the operator; then the former certificate stays.
 */
export function renewCertificate({ server }: FastifyInstance, files: TlsFiles): void {
  (server as unknown as Server).setSecureContext(tlsSettings(files));
}

function read(key: keyof TlsFiles, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const reason = code === 'ENOENT' ? 'there is no such file' : `it cannot be read (${code})`;
    throw new Error(`server.tls.${key}: ${file}: ${reason}`, { cause });
  }
}
