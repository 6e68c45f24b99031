import { isDeepStrictEqual } from 'node:util';
import { GatewayError } from '#errors/index.ts';
import { openState, sealState, type SealedState } from '#conversion/state/envelope.ts';
import { carriesEnvelopes, stripEnvelopes } from '#conversion/index.ts';
import { formatDataUrl, isBase64, parseDataUrl } from '#protocols/shared/images/data-url.ts';
import { EventTooLarge } from '#upstream/event-stream.ts';
import { InterimResponses } from '#upstream/connector.ts';
import { eachEvent, sliced } from '../../recordings/tap-run.ts';
import { sealerOf } from '../../support/converted-reader.ts';
import { createRandom, seedOf } from '../random.ts';
import { holds, type FuzzTarget } from '../target.ts';

const never = (): boolean => false;

function dataUrl(input: Buffer): void {
  const parsed = parseDataUrl(String(input));
  if (parsed === null) return;
  holds(isBase64(parsed.base64), 'what a data URL carries is base64');
  const again = parseDataUrl(formatDataUrl(parsed.mime, parsed.base64));
  holds(again?.base64 === parsed.base64, 'what was read can be written and read again');
}

const sealer = sealerOf('key');
const state = { protocol: 'messages', kind: 'signature', data: 'ErUB' } as const;
const content: SealedState = { maker: 'maker_1', state, place: 'next', text: 'digest' };
const sealed = sealState(sealer, 'user:1', content);
const enveloped = JSON.stringify({
  messages: [{ content: [{ type: 'thinking', thinking: 'hm', signature: sealed }] }],
});

function envelope(input: Buffer): void {
  const text = String(input);
  holds(openState(sealer, 'user:2', text) === null, 'an envelope is opened for its owner only');
  const opened = openState(sealer, 'user:1', text);
  if (opened === null) return;
  holds(isDeepStrictEqual(opened, content), 'what is opened is what was sealed');
}

function envelopes(input: Buffer): void {
  carriesEnvelopes(input, 'messages');
  carriesEnvelopes(input, 'generate-content');
  let value: unknown;
  try {
    value = JSON.parse(String(input));
  } catch (cause) {
    throw new GatewayError('invalid_body', { cause });
  }
  JSON.stringify(stripEnvelopes(value));
}

function cutsOf(input: Buffer): number[] {
  const random = createRandom(seedOf(input));
  return Array.from({ length: 16 }, () => random.below(input.length + 1));
}

function eventStream(input: Buffer): void {
  // Cheap, since an event may be one byte, and many of them must not take longer here than in the reader.
  const digest = (chunks: readonly Buffer[]): number => {
    let hash = 0;
    try {
      eachEvent(chunks, ({ raw, name, data }) => {
        hash = seedOf(raw, hash + 1 + (name?.length ?? -1) + 7 * (data?.length ?? -1));
      });
    } catch (error) {
      if (!(error instanceof EventTooLarge)) throw error;
      hash = seedOf(Buffer.from(error.message), hash);
    }
    return hash;
  };
  const whole = digest([input]);
  holds(
    digest(sliced(input, cutsOf(input))) === whole,
    'events are the same wherever they are cut',
  );
}

function interim(input: Buffer): void {
  const rewritten = (pieces: readonly Buffer[]): string => {
    const interimResponses = new InterimResponses();
    let isBegun = false;
    for (const piece of pieces) if (!isBegun) isBegun = interimResponses.rewrite(piece);
    return Buffer.concat(pieces).toString('latin1');
  };
  const whole = rewritten([Buffer.from(input)]);
  holds(whole.length === input.length, 'no byte is added or lost');
  const cut = rewritten(sliced(input, cutsOf(input)));
  holds(cut === whole, 'interim interimResponses are rewritten alike wherever they are cut');
}

const texts = (...list: readonly string[]): Buffer[] => list.map((text) => Buffer.from(text));

export const pieceTargets: readonly FuzzTarget[] = [
  {
    name: 'data URL',
    isJson: false,
    samples: texts(
      'data:image/png;base64,iVBORw0KGgo=',
      'data:text/plain;charset=utf-8,a%20b',
      'DATA:;BASE64,aGk=',
      'data:application/pdf;name=a.pdf;base64,AA%3D%3D',
    ),
    run: dataUrl,
    isRefusal: never,
  },
  { name: 'envelope', isJson: false, samples: texts(sealed), run: envelope, isRefusal: never },
  {
    name: 'envelopes of a request',
    isJson: true,
    samples: texts(enveloped),
    run: envelopes,
    isRefusal: (error) => error instanceof GatewayError,
  },
  {
    name: 'event stream',
    isJson: false,
    samples: texts(
      'data: {"a":1}\n\ndata: [DONE]\n\n',
      '\ufeffevent: x\r\ndata: {"a":\r\ndata: 1}\r\n\r\n: comment\r\n\r\n',
      'event:y\rdata:1\r\rid: 2\rdata: "é🙂"\r\r',
    ),
    run: eventStream,
    isRefusal: never,
  },
  {
    name: 'interim interimResponses',
    isJson: false,
    samples: texts(
      'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n',
      'HTTP/1.1 103 \r\nlink: a\r\n\r\nHTTP/1.0 100 \r\n\r\nHTTP/1.1 200 OK\r\n\r\n',
    ),
    run: interim,
    isRefusal: never,
  },
];
