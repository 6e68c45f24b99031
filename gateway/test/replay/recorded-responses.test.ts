import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { absence, recordings } from '../recordings/recordings.ts';
import { failsSomehow } from './failures.ts';
import { type RecordedGateway, startRecordedGateway } from './recorded-gateway.ts';
import { isStream } from './recorded-request.ts';

const responses = recordings.filter(
  (recording) => !isStream(recording) && !failsSomehow(recording),
);

describe.skipIf(absence !== null)(`recorded responses through the gateway ${absence ?? ''}`, () => {
  let recorded: RecordedGateway;
  beforeAll(async () => {
    recorded = await startRecordedGateway();
  });
  afterAll(() => recorded.gateway.close());

  it('are complete', () => {
    expect(responses.length).toBeGreaterThan(220);
  });

  it.each(responses)('$id arrives complete', async (recording) => {
    const { response, text } = await recorded.replay(recording);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    expect(JSON.parse(text)).toEqual(recording.body);
  });

  it.each(responses.filter((_, index) => index % 4 === 0))(
    '$id arrives complete in small pieces',
    async (recording) => {
      const { text } = await recorded.replay(recording, { fault: 'slice=random;seed=7' });
      expect(JSON.parse(text)).toEqual(recording.body);
    },
  );

  it('log no error', () => {
    expect(recorded.gateway.errors).toEqual([]);
  });
});
