import type {
  Block,
  FunctionTool,
  GenerationRequest,
  OpaqueBlock,
  PictureDefaults,
  PictureTrace,
  ToolCallBlock,
  ToolResultBlock,
  Turn,
} from '#canonical/index.ts';
import { isRecord, pictureTool } from '#protocols/index.ts';
import type { LossList } from '../losses.ts';

/** What the upstream and the model can do with pictures. */
export interface PictureToolTarget {
  /** The model has an image model behind its picture tool. */
  readonly drawsPictures?: boolean | undefined;
  readonly capabilities: ReadonlySet<string>;
}

export interface WithPictureTool {
  readonly request: GenerationRequest;
  /** What the client's tool says of every picture; null: there is no tool that the gateway runs. */
  readonly pictures: PictureDefaults | null;
}

/**
 * Gives the model a function in place of the client's picture tool, if the gateway can run it, and turns the traces of
 * the tool in the conversation into calls of that function.
 * @param showsPictures results of tools can hold pictures
 * @throws GatewayError `invalid_value` for a tool that says what no picture can be
 */
export function offerPictureTool(
  request: GenerationRequest,
  { drawsPictures = false, capabilities }: PictureToolTarget,
  showsPictures: boolean,
  losses: LossList,
): WithPictureTool {
  if (!drawsPictures) return { request, pictures: null };
  const canSee = showsPictures && (capabilities.size === 0 || capabilities.has('vision'));
  const called = { ...request, turns: request.turns.flatMap((turn) => withCalls(turn, canSee)) };
  const tool = request.tools.find((each) => each.type === 'hosted' && each.kind === 'image');
  if (tool?.type !== 'hosted') return { request: called, pictures: null };
  const { defaults, others } = pictureTool.readTool(isRecord(tool.value) ? tool.value : {});
  for (const name of others) losses.dropped(`tools.${tool.name}.${name}`);
  const offered: FunctionTool = {
    type: 'function',
    name: pictureTool.name,
    description: pictureTool.description,
    schema: pictureTool.argumentsSchema(defaults),
    strict: null,
    hosted: 'picture',
  };
  const tools = request.tools.map((each) => (each === tool ? offered : each));
  return { request: { ...called, tools }, pictures: defaults };
}

/** Results belong to the user, so each run of calls ends the turn of the assistant. */
function withCalls(turn: Turn, canSee: boolean): Turn[] {
  if (!turn.blocks.some(isTrace)) return [turn];
  const turns: Turn[] = [];
  let blocks: Block[] = [];
  let results: Block[] = [];
  const close = (): void => {
    if (blocks.length > 0) turns.push({ ...turn, blocks });
    if (results.length > 0) turns.push({ role: 'user', blocks: results });
    blocks = [];
    results = [];
  };
  for (const block of turn.blocks) {
    if (isTrace(block)) {
      blocks.push(callOf(block.picture));
      results.push(resultOf(block.picture, canSee));
      continue;
    }
    if (results.length > 0 && block.type !== 'tool-call') close();
    blocks.push(block);
  }
  close();
  return turns;
}

function isTrace(block: Block): block is OpaqueBlock & { readonly picture: PictureTrace } {
  return block.type === 'opaque' && block.picture !== undefined;
}

function callOf({ id, prompt }: PictureTrace): ToolCallBlock {
  return {
    type: 'tool-call',
    id,
    name: pictureTool.name,
    kind: 'function',
    arguments: JSON.stringify(prompt === null ? {} : { prompt }),
    hosted: 'picture',
  };
}

function resultOf({ id, picture, failure }: PictureTrace, canSee: boolean): ToolResultBlock {
  const text = (words: string): Block => ({ type: 'text', text: words });
  const content =
    failure !== null
      ? [text(`There is no picture: ${failure}`)]
      : picture !== null && canSee
        ? [text('The picture was shown to the user:'), picture]
        : [text('The picture was shown to the user.')];
  return {
    type: 'tool-result',
    id,
    name: null,
    kind: 'function',
    content,
    isError: failure !== null,
  };
}
