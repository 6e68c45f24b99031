import type {
  Block,
  Candidate,
  Citation,
  Finish,
  GenerationEvent,
  NativeState,
  TokenLogprob,
} from '#canonical/index.ts';

type Delta = 'text' | 'refusal' | 'reasoning';

/** The block that deltas are added to. */
interface Open {
  readonly type: Delta;
  readonly summary: boolean | undefined;
  text: string;
  state: NativeState | undefined;
  readonly logprobs: TokenLogprob[];
  /** Null: of something that only its vendor can point to. */
  readonly citations: (Citation | null)[];
}

interface Call {
  readonly start: Extract<GenerationEvent, { type: 'call-start' }>;
  text: string;
}

interface CollectedResponse {
  /** What came, in order; the last one may still be open. */
  readonly pieces: (Open | Call | Block)[];
  open: Open | null;
  readonly calls: Map<number, Call>;
  finish: Finish | null;
}

/**
 * Puts a stream of events together as a response, the way `GenerationEvent` defines it. Blocks that end up with
 * neither text nor state are left out; a response without a finish gets `other`.
 */
export function collectEvents(events: Iterable<GenerationEvent>): Candidate[] {
  const responses: CollectedResponse[] = [];
  for (const event of events) {
    const choice = event.choice ?? 0;
    while (responses.length <= choice) {
      responses.push({ pieces: [], open: null, calls: new Map(), finish: null });
    }
    const response = responses[choice];
    if (response !== undefined) take(response, event);
  }
  return responses.map(({ pieces, finish }) => ({
    blocks: pieces.flatMap(blockOf),
    finish: finish ?? { reason: 'other' },
  }));
}

function take(response: CollectedResponse, event: GenerationEvent): void {
  switch (event.type) {
    case 'text':
      delta(response, 'text', event.text).logprobs.push(...(event.logprobs ?? []));
      return;
    case 'refusal':
    case 'reasoning':
      delta(
        response,
        event.type,
        event.text,
        event.type === 'reasoning' ? event.summary : undefined,
      );
      return;
    case 'state':
      if (response.open === null) delta(response, 'reasoning', '').state = event.state;
      else response.open.state = event.state;
      return;
    case 'block-end':
      response.open = null;
      return;
    case 'call-start': {
      const call = { start: event, text: '' };
      response.open = null;
      response.calls.set(event.call, call);
      response.pieces.push(call);
      return;
    }
    case 'call-arguments': {
      const call = response.calls.get(event.call);
      if (call === undefined) throw new Error(`arguments of call ${event.call} before its start`);
      call.text += event.text;
      return;
    }
    case 'call-end':
      return;
    case 'block':
      response.open = null;
      response.pieces.push(event.block);
      return;
    case 'citation':
      citedText(response).citations.push(event.citation);
      return;
    case 'finish':
      response.finish = event.finish;
  }
}

function delta(response: CollectedResponse, type: Delta, text: string, summary?: boolean): Open {
  let { open } = response;
  if (open === null || open.type !== type || open.summary !== summary) {
    open = { type, summary, text: '', state: undefined, logprobs: [], citations: [] };
    response.open = open;
    response.pieces.push(open);
  }
  open.text += text;
  return open;
}

/** The open text, or the one that was open last. */
function citedText(response: CollectedResponse): Open {
  if (response.open?.type === 'text') return response.open;
  const texts = response.pieces.filter(
    (piece): piece is Open => 'logprobs' in piece && piece.type === 'text',
  );
  return texts.at(-1) ?? delta(response, 'text', '');
}

function blockOf(piece: Open | Call | Block): Block[] {
  if ('start' in piece) {
    const { id, name, namespace, kind, state } = piece.start;
    return [
      {
        type: 'tool-call',
        id,
        name,
        ...(namespace === undefined ? {} : { namespace }),
        kind,
        arguments: piece.text,
        ...(state === undefined ? {} : { state }),
      },
    ];
  }
  if (!('summary' in piece && 'logprobs' in piece)) return [piece];
  const { type, text, summary, state, logprobs } = piece;
  const citations = piece.citations.filter((citation) => citation !== null);
  if (text === '' && state === undefined && citations.length === 0) return [];
  const common = { text, ...(state === undefined ? {} : { state }) };
  if (type === 'refusal') return [{ type, ...common }];
  if (type === 'reasoning') {
    return [{ type, ...common, ...(summary === undefined ? {} : { summary }) }];
  }
  return [
    {
      type,
      ...common,
      ...(logprobs.length > 0 ? { logprobs } : {}),
      ...(citations.length > 0 ? { citations } : {}),
      ...(citations.length < piece.citations.length ? { citesOwn: true } : {}),
    },
  ];
}
