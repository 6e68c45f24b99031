import { eventData } from './events.ts';
import { refusalText, speakers, type Protocol, type Question } from './speak.ts';

/** An answer, as far as it has come. */
export interface Answer {
  readonly state: 'waiting' | 'streaming' | 'done' | 'stopped' | 'failed';
  readonly protocol: Protocol;
  readonly model: string;
  readonly path: string;
  readonly body: object;
  readonly requestId: string | null;
  readonly status: number | null;
  readonly text: string;
  readonly reasoning: string;
  readonly pictures: readonly string[];
  /** What the gateway or the stream said; null: nothing was wrong. */
  readonly problem: string | null;
  /** Milliseconds since it was asked; null: not yet. */
  readonly firstToken: number | null;
  readonly total: number | null;
  /** What came, as it came. */
  readonly events: readonly string[];
}

/** Events that are kept to be looked at. */
const mostEvents = 2_000;

interface Ask {
  readonly protocol: Protocol;
  readonly question: Question;
  readonly key: string;
  readonly signal: AbortSignal;
  readonly onChange: (answer: Answer) => void;
}

export function unanswered(protocol: Protocol, question: Question): Answer {
  const speaker = speakers[protocol];
  return {
    state: 'waiting',
    protocol,
    model: question.model,
    path: speaker.path(question),
    body: speaker.body(question),
    requestId: null,
    status: null,
    text: '',
    reasoning: '',
    pictures: [],
    problem: null,
    firstToken: null,
    total: null,
    events: [],
  };
}

/** Asks the gateway as any client does. Ends when the answer has, one way or another; it never throws. */
export async function ask({ protocol, question, key, signal, onChange }: Ask): Promise<Answer> {
  const started = performance.now();
  let answer = unanswered(protocol, question);
  const change = (next: Partial<Answer>): void => {
    answer = { ...answer, ...next };
    onChange(answer);
  };
  const end = (next: Partial<Answer>): Answer => {
    change({ total: performance.now() - started, ...next });
    return answer;
  };
  try {
    const response = await fetch(answer.path, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(answer.body),
      credentials: 'omit',
      signal,
    });
    const { status } = response;
    change({ status, requestId: response.headers.get('x-request-id') });
    if (!response.ok || response.body === null) {
      const text = await response.text();
      return end({ state: 'failed', problem: refusalText(text) ?? text, events: [text] });
    }
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream');
    for await (const data of isStream === true ? eventData(response.body) : [response.text()]) {
      const events = answer.events.length < mostEvents ? [...answer.events, data] : answer.events;
      if (data === '[DONE]') {
        change({ events });
        continue;
      }
      const {
        text = '',
        reasoning = '',
        pictures = [],
        error,
      } = speakers[protocol].read(parse(data));
      const isContent = text !== '' || reasoning !== '' || pictures.length > 0;
      change({
        events,
        state: 'streaming',
        text: answer.text + text,
        reasoning: answer.reasoning + reasoning,
        pictures: [...answer.pictures, ...pictures],
        ...(isContent && answer.firstToken === null && { firstToken: performance.now() - started }),
        ...(error !== undefined && { problem: error }),
      });
    }
    return end({ state: answer.problem === null ? 'done' : 'failed' });
  } catch (error) {
    if (signal.aborted) return end({ state: 'stopped' });
    return end({
      state: 'failed',
      problem: error instanceof Error ? error.message : String(error),
    });
  }
}

function parse(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return null;
  }
}
