import { describe, expect, it } from 'vitest';
import { textProtocols, verdict } from '#protocols/index.ts';
import { absence, type Recording, recordings } from './recordings.ts';
import { payloads, readEvents, runTap } from './tap-run.ts';

const streams = recordings.filter(
  (recording): recording is Recording & { sse: string } => typeof recording.sse === 'string',
);

/** Streams that the index describes as failed or as having no usage; all others end well and report usage. */
const failed = streams.filter(({ notes }) => /error (object|event) inside the stream/.test(notes));
const withoutUsage = streams.filter(({ notes }) => /no usage in the stream/.test(notes));

const lastUsage = (payload: unknown[], pick: (event: Record<string, unknown>) => unknown) =>
  payload
    .filter(
      (event): event is Record<string, unknown> => typeof event === 'object' && event !== null,
    )
    .map(pick)
    .findLast((usage) => usage !== undefined && usage !== null) as
    | Record<string, number | null | undefined>
    | undefined;

const at = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined;

describe.skipIf(absence !== null)(`recorded streams ${absence ?? ''}`, () => {
  it('are complete', () => {
    expect(streams.length).toBeGreaterThan(200);
    expect(failed.length).toBe(2);
  });

  it.each(streams)('$id is forwarded unchanged and read to its end', (recording) => {
    const { protocol, sse } = recording;
    const { tap, events, verdicts, forwarded } = runTap(protocol, sse);

    if (failed.includes(recording)) {
      expect(verdicts.some((result) => result === verdict.failed)).toBe(true);
      expect(at(at(tap.failure, 'error'), 'message')).toBeTypeOf('string');
      expect(tap.finished).toBe(false);
      return;
    }
    expect(tap.finished).toBe(true);
    expect(tap.failure).toBe(null);
    expect(verdicts.filter((result) => result & verdict.content).length).toBeGreaterThan(0);
    const complete = forwarded.toString('utf8') + tap.completion();
    const sent = payloads(readEvents([Buffer.from(complete)]));
    const came = payloads(events);
    if (protocol === 'chat' && came.at(-1) !== '[DONE]') came.push('[DONE]');
    expect(sent).toEqual(came);
    // Only a missing last line end and the comments of one protocol may differ.
    if (protocol !== 'generate-content') expect(complete.startsWith(sse)).toBe(true);
    const terminal = verdicts.findIndex((result) => result & verdict.terminal);
    expect(terminal >= 0 || tap.completion() === 'data: [DONE]\n\n').toBe(true);
  });

  it.each(streams.filter((recording) => !failed.includes(recording)))(
    '$id reports the usage of its events',
    (recording) => {
      const { tap, events } = runTap(recording.protocol, recording.sse);
      if (withoutUsage.includes(recording) && !recording.sse.includes('"usage":{')) {
        expect(tap.usage).toBe(null);
        return;
      }
      const all = payloads(events);
      const tokens = tap.usage?.tokens;
      if (tokens === undefined) {
        expect(recording.sse).not.toMatch(/"usage(Metadata)?": ?\{[^}]/);
        return;
      }
      expect(tap.usage?.implausible).toBe(false);
      const input = tokens.input + tokens.cacheRead + tokens.cacheWrite + tokens.cacheWrite1h;
      switch (recording.protocol) {
        case 'chat': {
          const usage = lastUsage(all, (event) => event['usage'] ?? at(event['x_groq'], 'usage'));
          expect(input).toBe(usage?.['prompt_tokens']);
          expect(tokens.output).toBeGreaterThanOrEqual(usage?.['completion_tokens'] ?? 0);
          break;
        }
        case 'responses': {
          const usage = lastUsage(all, (event) => at(event['response'], 'usage'));
          expect(input).toBe(usage?.['input_tokens']);
          expect(tokens.output).toBe(usage?.['output_tokens']);
          break;
        }
        case 'messages': {
          const usage = lastUsage(all, (event) => event['usage']);
          const iterations: unknown = usage?.['iterations'] ?? [];
          const outputs = (iterations as readonly { output_tokens: number }[]).map(
            (each) => each.output_tokens,
          );
          const sum = outputs.reduce((before, each) => before + each, 0);
          const top = usage?.['output_tokens'] ?? tokens.output;
          expect(tokens.output).toBe(outputs.length > 0 ? sum : top);
          break;
        }
        case 'generate-content': {
          const usage = lastUsage(all, (event) => event['usageMetadata']);
          const prompt = usage?.['promptTokenCount'] ?? 0;
          expect(input).toBe(prompt + (usage?.['toolUsePromptTokenCount'] ?? 0));
          // Of several reports the larger counts.
          const total = usage?.['totalTokenCount'] ?? input + tokens.output;
          if (tap.usage?.isDoubtful === true) expect(input + tokens.output).toBeGreaterThan(total);
          else expect(input + tokens.output).toBe(total);
          break;
        }
      }
    },
  );

  it.each(streams)('$id: a mapped model name is the only difference', (recording) => {
    const names = { clientModel: 'my-"model"', upstreamModel: 'u', usageInjected: false };
    const plain = runTap(recording.protocol, recording.sse);
    const mapped = runTap(recording.protocol, recording.sse, names);
    const withName = payloads(readEvents([plain.forwarded])).map((event) => {
      const copy = structuredClone(event);
      const holder = modelHolder(recording.protocol, copy);
      if (holder !== null) holder.object[holder.key] = 'my-"model"';
      return copy;
    });
    expect(payloads(readEvents([mapped.forwarded]))).toEqual(withName);
    expect(mapped.tap.usage).toEqual(plain.tap.usage);
  });

  it('lose only the usage chunk if usage was requested on the client’s behalf', () => {
    const chats = streams.filter(({ protocol }) => protocol === 'chat');
    for (const { sse } of chats) {
      const injected = { clientModel: 'm', upstreamModel: 'm', usageInjected: true };
      const { forwarded, events, tap } = runTap('chat', sse, injected);
      const expected = payloads(events).filter((event) => {
        const choices = at(event, 'choices');
        return at(event, 'error') !== undefined || !isUsageChunk(choices, at(event, 'usage'));
      });
      const withoutErrors = expected.filter((event) => at(event, 'error') === undefined);
      expect(payloads(readEvents([forwarded]))).toEqual(withoutErrors);
      expect(tap.usage).toEqual(runTap('chat', sse).tap.usage);
    }
  });
});

function isUsageChunk(choices: unknown, usage: unknown): boolean {
  return Array.isArray(choices) && choices.length === 0 && usage !== undefined && usage !== null;
}

function modelHolder(protocol: string, event: unknown) {
  const [object, key] =
    protocol === 'chat'
      ? [event, 'model']
      : protocol === 'responses'
        ? [at(event, 'response'), 'model']
        : protocol === 'messages'
          ? [at(event, 'message'), 'model']
          : [event, 'modelVersion'];
  if (typeof at(object, key) !== 'string') return null;
  return { object: object as Record<string, unknown>, key };
}

it('keep-alive frames are events of their own', () => {
  for (const protocol of Object.values(textProtocols)) {
    const events = readEvents([Buffer.from(protocol.keepAlive(true))]);
    expect(events).toHaveLength(1);
  }
});
