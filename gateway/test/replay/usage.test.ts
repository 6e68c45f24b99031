import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { absence, recordings } from '../recordings/recordings.ts';
import { failsSomehow } from './failures.ts';
import { type RecordedGateway, startRecordedGateway } from './recorded-gateway.ts';
import { modelOf } from './recorded-request.ts';
import { usageIn } from './recorded-usage.ts';

const complete = recordings.filter((recording) => !failsSomehow(recording));

/** Recordings that are not charged by their last report. */
const countedOtherwise: Readonly<
  Record<string, { readonly tokens: object; readonly estimated: boolean }>
> = {
  // The total has more than the parts. The rest counts only for one vendor, and the channel has another.
  'chat-google-json-f2ed7a4c': { tokens: { input: 66, output: 6 }, estimated: false },
  // It reports the input only: the other half is estimated.
  'generate-content-google-json-0ac6285b': { tokens: {}, estimated: true },
  // A later report is smaller than an earlier one: the larger numbers count.
  'generate-content-google-stream-85840454': { tokens: { input: 87, output: 93 }, estimated: true },
  'messages-anthropic-stream-20d17b02': { tokens: { input: 612 }, estimated: true },
};

describe.skipIf(absence !== null)(`the usage rows of recordings ${absence ?? ''}`, () => {
  let recorded: RecordedGateway;
  const requestIds = new Map<string, string>();
  beforeAll(async () => {
    recorded = await startRecordedGateway();
    for (const recording of complete) {
      requestIds.set(recording.id, (await recorded.replay(recording)).requestId);
    }
  });
  afterAll(() => recorded.gateway.close());

  it.each(complete)('$id', async (recording) => {
    const row = await recorded.row(requestIds.get(recording.id) ?? '');
    expect(row).toMatchObject({
      model: modelOf(recording),
      channel: 'recorded',
      protocol: recording.protocol,
      outcome: 'completed',
      status: 200,
      key: 'test',
    });
    const reported = usageIn(recording);
    const other = countedOtherwise[recording.id];
    if (other !== undefined) {
      expect(row?.tokens).toMatchObject(other.tokens);
      expect(row?.estimated).toBe(other.estimated);
    } else if (reported !== null) {
      expect(row?.tokens).toEqual(reported);
      expect(row?.estimated).toBe(false);
    } else if (row?.estimated === false) expect(row.tokens).toMatchObject({ input: 0, output: 0 });
  });

  it('lack usage only where the recording does', () => {
    const without = complete.filter((recording) => usageIn(recording) === null);
    const of = (name: string) => without.filter(({ protocol }) => protocol === name).length;
    // 15 chat streams that were not asked for usage and one server that never sends it, three cut-down fixtures and
    // a blocked prompt, one token count.
    expect([of('chat'), of('responses'), of('generate-content'), of('messages')]).toEqual([
      16, 0, 4, 1,
    ]);
  });
});
