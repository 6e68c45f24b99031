import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { catalogue, type ErrorName } from '#errors/index.ts';
import { absence, type Recording, recordings } from '../recordings/recordings.ts';
import { type ClientEvent, parseEvents } from './client-events.ts';
import { dataOf, expectedEvents } from './expected-events.ts';
import { breaksInside, errorOf, upstreamTexts } from './failures.ts';
import { type RecordedGateway, servedName, startRecordedGateway } from './recorded-gateway.ts';
import { isStream } from './recorded-request.ts';

const failing = recordings.filter((recording) => errorOf(recording) !== null);
const breaking = recordings.filter(isStream).filter(breaksInside);

describe.skipIf(absence !== null)(`recorded failures through the gateway ${absence ?? ''}`, () => {
  let recorded: RecordedGateway;
  beforeAll(async () => {
    recorded = await startRecordedGateway();
  });
  afterAll(() => recorded.gateway.close());

  it('are complete', () => {
    expect(failing.filter(({ status }) => status >= 400)).toHaveLength(26);
    expect(failing).toHaveLength(33);
    expect(breaking).toHaveLength(1);
  });

  it.each(failing)('$id becomes an error of the catalogue', async (recording) => {
    const { response, text, requestId } = await recorded.replay(recording);
    const name = errorOf(recording) as ErrorName;
    expect(response.status).toBe(catalogue[name].status);
    expect(messageIn(recording, text)).toBe(messageOf(name, recording));
    expect(recorded.gateway.errors).toEqual([]);
    if (response.status === 429) {
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    }
    expectNoUpstreamText(recording, text);
    expect(await recorded.row(requestId)).toMatchObject({
      outcome: 'failed',
      status: response.status,
      tokens: { input: 0, output: 0 },
    });
  });

  it.each(breaking)('$id ends in the gateway’s error, without a terminator', async (recording) => {
    const { response, text, requestId } = await recorded.replay(recording);
    expect(response.status).toBe(200);
    const events = parseEvents(text);
    const expected = expectedEvents(recording, true).filter((event) => !isFailure(event));
    const shown = expected.filter((event) => dataOf(event) !== '[DONE]');
    expect(events.slice(0, -1)).toEqual(shown);
    expect(dataOf(events.at(-1)!)).toMatchObject({
      error: { message: catalogue.upstream_rejected.message, type: 'invalid_request_error' },
    });
    expect(text).not.toContain('[DONE]');
    expectNoUpstreamText(recording, text);
    expect(await recorded.row(requestId)).toMatchObject({ outcome: 'failed', status: 200 });
  });
});

function isFailure(event: ClientEvent): boolean {
  const data = dataOf(event);
  if (typeof data !== 'object' || data === null) return false;
  return 'error' in data || ('type' in data && data.type === 'response.failed');
}

interface FailureEvent {
  readonly error?: unknown;
  readonly response?: { readonly error?: unknown };
}

function messageIn({ protocol }: Recording, text: string): unknown {
  const body = JSON.parse(text) as { type?: unknown; error: { message?: string } };
  if (protocol === 'messages') expect(body.type).toBe('error');
  return body.error.message?.replace(/\. Please retry in \d+s\.$/, '');
}

function messageOf(name: ErrorName, recording: Recording): string {
  return catalogue[name].message
    .replace('{model}', servedName(recording))
    .replace('{hint}', '')
    .replace('{param}', paramOf(recording));
}

function paramOf({ body }: Recording): string {
  const { error } = (body ?? {}) as { error?: { param?: unknown } };
  return String(error?.param);
}

function expectNoUpstreamText(recording: Recording, text: string): void {
  const said = upstreamTexts(saidBy(recording), paramOf(recording));
  expect(said.length).toBeGreaterThan(0);
  for (const words of said) expect(text).not.toContain(words);
}

/** The error itself: the body, or the data of the events that carry one. */
function saidBy({ sse, body }: Recording): unknown {
  if (typeof sse !== 'string') return body;
  const failures = parseEvents(sse).filter(isFailure).map(dataOf) as FailureEvent[];
  return failures.map(({ error, response }) => response?.error ?? error);
}
