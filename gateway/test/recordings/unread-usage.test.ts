import { describe, expect, it } from 'vitest';
import type { ReportedUsage } from '#canonical/index.ts';
import { textProtocols, UnreadableResponse } from '#protocols/index.ts';
import { absence, type Recording, recordings } from './recordings.ts';
import { runTap, sameNames } from './tap-run.ts';

/** What xAI charges for by the call, and nothing reads (https://docs.x.ai/docs/models#tools-pricing). */
const findings: Readonly<Record<string, readonly string[]>> = {
  'responses-xai-json-74faf1f6': ['server_side_tool_usage_details.image_generation_calls'],
  'responses-xai-stream-2838ffcb': ['server_side_tool_usage_details.x_search_calls'],
  'responses-xai-stream-97440813': ['server_side_tool_usage_details.image_generation_calls'],
};

function usageOf({ protocol, sse, body }: Recording): ReportedUsage | null {
  if (typeof sse === 'string') return runTap(protocol, sse).tap.usage;
  try {
    return textProtocols[protocol].readResponse(Buffer.from(JSON.stringify(body)), sameNames).usage;
  } catch (error) {
    if (error instanceof UnreadableResponse) return error.usage;
    throw error;
  }
}

describe.skipIf(absence !== null)(`usage of recordings ${absence ?? ''}`, () => {
  it('has no counter that nothing reads, but those that are known to be charged for', () => {
    const unread = recordings.flatMap((recording) => {
      const paths = usageOf(recording)?.unread;
      return paths === undefined ? [] : [[recording.id, paths] as const];
    });
    expect(Object.fromEntries(unread)).toEqual(findings);
  });
});
