import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { TextProtocolName } from '#canonical/index.ts';
import { lossCodes } from '#conversion/index.ts';
import { convertRequest } from '../matrix/features/run.ts';
import { bodies, bodyTo, clients, streams, streamTo } from './converted-responses.ts';
import { absence, type Recording, recordings } from './recordings.ts';
import { shapeOfBody, shapeOfStream } from './shapes.ts';

/**
 * What every recorded request becomes for every other upstream (a digest, and what is lost) and every response for
 * every other client (a digest, and the kinds of what it is made of). Says nothing about whether that is right, only
 * that it is what it was when somebody last looked.
 */
interface Golden {
  readonly request?: Readonly<Record<string, string>>;
  readonly answer?: Readonly<Record<string, string>>;
}

const file = resolve(import.meta.dirname, 'goldens.json');
const written = JSON.parse(readFileSync(file, 'utf8')) as Record<string, Golden>;
const isWriting = process.env['SLUICE_WRITE_GOLDENS'] === '1';

async function goldenOf(recording: Recording): Promise<Golden> {
  const { protocol, request } = recording;
  const others = clients.filter((client) => client !== protocol);
  const toEach = async (convert: (other: TextProtocolName) => Promise<string>) =>
    Object.fromEntries(
      await Promise.all(others.map(async (other) => [other, await convert(other)] as const)),
    );
  return {
    ...(request !== null && { request: await toEach((other) => goldenRequest(recording, other)) }),
    ...(isResponse(recording) && {
      answer: await toEach(async (other) => goldenResponse(recording, other)),
    }),
  };
}

const responses = new Set([...streams, ...bodies]);
const isResponse = (recording: Recording) => responses.has(recording);

async function goldenRequest({ protocol, request }: Recording, upstream: TextProtocolName) {
  const converted = await convertRequest(protocol, upstream, request ?? {});
  if ('refusal' in converted) return `400 ${converted.param}`;
  return [digest(converted.body), ...lossCodes(converted.losses)].join(' ');
}

function goldenResponse(recording: Recording, client: TextProtocolName): string {
  if (typeof recording.sse === 'string') {
    const { sent } = streamTo(client, recording);
    return `${digest(sent)} ${shapeOfStream(sent)}`;
  }
  const { body } = bodyTo(client, recording);
  return `${digest(body)} ${shapeOfBody(body)}`;
}

const digest = (sent: string | Buffer) =>
  createHash('sha256').update(sent).digest('hex').slice(0, 12);

describe.skipIf(absence !== null)(`converted recordings ${absence ?? ''}`, () => {
  const all = recordings
    .filter((recording) => recording.request !== null || isResponse(recording))
    .toSorted((a, b) => (a.id < b.id ? -1 : 1));

  it.skipIf(isWriting).each(all)('$id for the other protocols is unchanged', async (recording) => {
    expect(await goldenOf(recording), 'SLUICE_WRITE_GOLDENS=1 writes goldens.json').toEqual(
      written[recording.id],
    );
  });

  it.skipIf(isWriting)('no golden file is left over', () => {
    expect(Object.keys(written)).toEqual(all.map(({ id }) => id));
  });

  it.runIf(isWriting)('are written', async () => {
    const found: Record<string, Golden> = {};
    for (const recording of all) found[recording.id] = await goldenOf(recording);
    expect(Object.keys(found)).toHaveLength(all.length);
    writeFileSync(file, `${JSON.stringify(found, null, 2)}\n`);
  });
});
