import { describe, expect, it } from 'vitest';
import { GatewayError } from '#errors/index.ts';
import {
  whole,
  talk,
  hello,
  user,
  model,
  text,
  call,
  result,
  tool,
  tools,
  image,
  patch,
} from '#test/support/messages-repairs/requests.ts';

const refused: readonly (readonly [what: string, body: string, param: string, message: RegExp])[] =
  [
    ['no messages', '"messages":[]', 'messages', /at least one message/],
    [
      'two tools of one name',
      `"tools":[${tool()},${tool(',"strict":true')}],${hello}`,
      'tools.1.name',
      /already the name of another tool: f/,
    ],
    [
      'two tools of one name that nobody takes',
      `"tools":[{"name":"a.b"},{"name":"a.b","strict":true}],${hello}`,
      'tools.1.name',
      /already the name of another tool: a\.b$/,
    ],
    [
      'a tool that is not there',
      `${tools},"tool_choice":{"type":"tool","name":"g"},${hello}`,
      'tool_choice.name',
      /names g, which is not among the tools/,
    ],
    [
      'a wide image',
      talk(user(image('image/png', 'iVBORw0KGgoAAAANSUhEUgAAH0EAAAABCAYAAAA='))),
      'messages.0.content.0',
      /8000 pixels/,
    ],
    [
      'a wide image that a tool gave back',
      talk(
        user(text('hi')),
        model(call('a')),
        user(
          result(
            'a',
            `[${text('x')},${image('image/png', 'iVBORw0KGgoAAAANSUhEUgAAH0EAAAABCAYAAAA=')}]`,
          ),
        ),
      ),
      'messages.2.content.0.content.1',
      /8000 pixels/,
    ],
    [
      'a heavy image',
      talk(user(text('hi'), image('image/jpeg', `/9j/${'A'.repeat(14_000_000)}`))),
      'messages.0.content.1',
      /10 MB/,
    ],
    [
      'citations in a response of a given form',
      `"output_config":{"format":{"type":"json_schema","schema":{}}},${talk(user('{"type":"document","citations":{"enabled":true}}'))}`,
      'output_config.format',
      /citations/,
    ],
  ];

describe('a fault that cannot be repaired is refused', () => {
  it.each(refused)('%s', (_, body, param, message) => {
    const error = catchError(() => patch(whole(body), {}));
    expect(error).toMatchObject({ errorName: 'invalid_value', param });
    expect(error.message).toMatch(message);
    expect(error.entry.status).toBe(400);
  });
});

function catchError(run: () => unknown): GatewayError {
  try {
    run();
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}
