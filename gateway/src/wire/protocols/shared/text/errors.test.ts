import { describe, expect, it } from 'vitest';
import { GatewayError } from '#errors/index.ts';
import { type StreamEvent, textProtocols } from '../../index.ts';

const { chat, responses, messages, 'generate-content': generateContent } = textProtocols;
const names = { clientModel: 'mine', upstreamModel: 'up', usageInjected: false };

const event = (name: string, value: object): StreamEvent => {
  const data = Buffer.from(JSON.stringify(value));
  return { raw: Buffer.from(`event: ${name}\ndata: ${data.toString()}\n\n`), name, data };
};

/** Name and parsed data of the only frame in a text. */
function frameOf(text: string): [string | null, unknown] {
  const [, , name = null, data = ''] = /^(event: (.*)\n)?data: (.*)\n\n$/.exec(text) ?? [];
  return [name, JSON.parse(data)];
}

const invalid = new GatewayError('missing_parameter', { values: { param: 'n' }, param: 'n' });
const limited = new GatewayError('rate_limited', { retryAfter: 12 });
const budget = new GatewayError('member_budget_exceeded', { retryAfter: 3600 });
const broken = new GatewayError('upstream_abnormal');

describe('error bodies', () => {
  it('carry all four members in chat and responses', () => {
    for (const protocol of [chat, responses]) {
      expect(JSON.parse(protocol.encodeError(invalid, 'req_1'))).toEqual({
        error: {
          message: 'n is required',
          type: 'invalid_request_error',
          param: 'n',
          code: 'missing_required_parameter',
        },
      });
      const error = { param: null, code: null, type: 'not_found_error', message: 'not found' };
      expect(JSON.parse(protocol.encodeError(new GatewayError('not_found'), 'r'))).toEqual({
        error,
      });
    }
  });

  it('carry the request id in messages, and its name for large bodies', () => {
    expect(JSON.parse(messages.encodeError(invalid, 'req_1'))).toEqual({
      type: 'error',
      error: { type: 'invalid_request_error', message: 'n is required' },
      request_id: 'req_1',
    });
    const large = messages.encodeError(new GatewayError('body_too_large'), 'req_1');
    expect(JSON.parse(large)).toMatchObject({ error: { type: 'request_too_large' } });
  });

  it('carry status names and delays in generate-content', () => {
    expect(JSON.parse(generateContent.encodeError(limited, 'r'))).toEqual({
      error: {
        code: 429,
        message: 'rate limit exceeded. Please retry in 12s.',
        status: 'RESOURCE_EXHAUSTED',
        details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '12s' }],
      },
    });
    expect(JSON.parse(generateContent.encodeError(invalid, 'r'))).toEqual({
      error: { code: 400, message: 'n is required', status: 'INVALID_ARGUMENT', details: [] },
    });
    const overloaded = generateContent.encodeError(new GatewayError('upstream_overloaded'), 'r');
    expect(JSON.parse(overloaded)).toMatchObject({ error: { code: 529, status: 'UNAVAILABLE' } });
  });

  it('stop clients from waiting for a spent budget', () => {
    const { error } = JSON.parse(generateContent.encodeError(budget, 'r')) as {
      error: { message: string; details: { '@type': string }[] };
    };
    expect(error.message).toBe('member budget exceeded');
    expect(error.details.map((detail) => detail['@type'])).toEqual([
      'type.googleapis.com/google.rpc.QuotaFailure',
    ]);
  });
});

describe('the end of a broken stream', () => {
  it('is a data frame in chat, with a code that agents repeat requests for', () => {
    expect(frameOf(chat.encodeStreamError(broken, 'r', null))).toEqual([
      null,
      {
        error: {
          message: 'upstream response abnormal',
          type: 'api_error',
          param: null,
          code: 'upstream_unavailable',
        },
      },
    ]);
    const refused = new GatewayError('upstream_credential_refused');
    const [, data] = frameOf(chat.encodeStreamError(refused, 'r', null));
    expect(data).toEqual(JSON.parse(chat.encodeError(refused, 'r')));
  });

  it('is a data frame in generate-content that no client takes for a part of the response', () => {
    const [name, data] = frameOf(generateContent.encodeStreamError(broken, 'r', null));
    expect(name).toBe(null);
    expect(data).toEqual({
      ...(JSON.parse(generateContent.encodeError(broken, 'r')) as object),
      candidates: false,
    });
  });

  it('is an error event in messages', () => {
    expect(frameOf(messages.encodeStreamError(broken, 'req_1', null))).toEqual([
      'error',
      JSON.parse(messages.encodeError(broken, 'req_1')),
    ]);
  });

  it('is an error event in responses before the response was announced', () => {
    const tap = responses.createStreamTap(names);
    for (const known of [null, tap]) {
      expect(frameOf(responses.encodeStreamError(broken, 'r', known))).toEqual([
        'error',
        {
          type: 'error',
          sequence_number: 0,
          code: 'upstream_unavailable',
          message: 'upstream response abnormal',
          param: null,
        },
      ]);
    }
  });

  it('fails the announced response in responses', () => {
    const tap = responses.createStreamTap(names);
    const announced = { id: 'resp_1', created_at: 17, model: 'up', output: [] };
    const created = { type: 'response.created', sequence_number: 0, response: announced };
    tap.inspect(event('response.created', created));
    const delta = { type: 'response.output_text.delta', sequence_number: 41, delta: 'x' };
    tap.inspect(event('response.output_text.delta', delta));
    const [name, data] = frameOf(responses.encodeStreamError(limited, 'r', tap));
    expect(name).toBe('response.failed');
    expect(data).toMatchObject({
      type: 'response.failed',
      sequence_number: 42,
      response: {
        id: 'resp_1',
        object: 'response',
        created_at: 17,
        status: 'failed',
        model: 'mine',
        output: [],
        error: {
          code: 'rate_limit_exceeded',
          message: 'rate limit exceeded. Please try again in 12s.',
        },
      },
    });
  });
});

describe('keep-alives', () => {
  it('are accepted by each protocol’s clients', () => {
    expect(chat.keepAlive(true)).toMatch(/^:.*\n\n$/);
    expect(responses.keepAlive(true)).toMatch(/^:.*\n\n$/);
    expect(messages.keepAlive(false)).toMatch(/^:.*\n\n$/);
    expect(frameOf(messages.keepAlive(true))).toEqual(['ping', { type: 'ping' }]);
    expect(generateContent.keepAlive(true)).toBe('\n');
  });
});
