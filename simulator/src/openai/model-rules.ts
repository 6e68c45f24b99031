import { isObject, isPresent, objectsIn, type JsonObject } from '../json.ts';
import { Rejection } from '../rejection.ts';

/**
 * What the vendor's own models refuse beyond what all do. Only names such as `gpt-5.4` and `o3` have such rules here: the
 * simulator's demo models take everything.
 */
interface ModelRules {
  readonly endpoints: readonly Endpoint[];
  /** Null: it does not reason. */
  readonly efforts: readonly string[] | null;
  /** Chat completions take function tools beside any effort, without one or with `none`, or with `none` alone. */
  readonly chatTools: 'any' | 'unset' | 'none';
}

type Endpoint = 'chat' | 'responses';

const both: readonly Endpoint[] = ['chat', 'responses'];

/** The first that matches. */
const table: readonly (readonly [RegExp, ModelRules])[] = [
  [/^(gpt-[\d.]+|o\d)-pro/, only('responses', ['medium', 'high', 'xhigh'])],
  [/deep-research|^computer-use/, only('responses', ['medium'])],
  [/^gpt-5(\.1)?-codex(?!-max)|^codex/, only('responses', ['low', 'medium', 'high'])],
  [/codex/, only('responses', ['low', 'medium', 'high', 'xhigh'])],
  [/-search|audio/, { endpoints: ['chat'], efforts: null, chatTools: 'any' }],
  [/^gpt-5-chat/, { endpoints: both, efforts: null, chatTools: 'any' }],
  [/^gpt-5[\d.]*-chat/, serving('any', ['medium'])],
  [/^gpt-5(?![\d.])/, serving('any', ['minimal', 'low', 'medium', 'high'])],
  [/^gpt-5\.1/, serving('any', ['none', 'low', 'medium', 'high'])],
  [/^gpt-5\.[23]/, serving('any', ['none', 'low', 'medium', 'high', 'xhigh'])],
  [/^gpt-5\.[45]/, serving('unset', ['none', 'low', 'medium', 'high', 'xhigh'])],
  [/^gpt-(5\.|6(?!\.))/, serving('none', ['none', 'low', 'medium', 'high', 'xhigh', 'max'])],
  [/^gpt-[6-9]/, serving('none', ['low', 'medium', 'high', 'xhigh', 'max'])],
  [/^o\d/, serving('any', ['low', 'medium', 'high'])],
  [/^(gpt-(?!oss)|chatgpt-)/, { endpoints: both, efforts: null, chatTools: 'any' }],
];

function only(endpoint: Endpoint, efforts: readonly string[]): ModelRules {
  return { endpoints: [endpoint], efforts, chatTools: 'any' };
}

function serving(chatTools: ModelRules['chatTools'], efforts: readonly string[]): ModelRules {
  return { endpoints: both, efforts, chatTools };
}

/** @returns null for a model of no known vendor. */
function rulesOf(model: string): ModelRules | null {
  return table.find(([name]) => name.test(model))?.[1] ?? null;
}

/** @throws Rejection */
export function checkChatModel(body: JsonObject, model: string): void {
  const rules = rulesOf(model);
  if (rules === null) return;
  checkEndpoint(rules, 'chat');
  const effort = body['reasoning_effort'];
  checkEffort(rules, 'reasoning_effort', effort);
  const hasFunctions = objectsIn(body['tools']).some((tool) => tool['type'] === 'function');
  const isTaken =
    rules.chatTools === 'any' ||
    effort === 'none' ||
    (rules.chatTools === 'unset' && !isPresent(effort));
  if (hasFunctions && !isTaken) {
    throw new Rejection(
      400,
      `Function tools with reasoning_effort are not supported for ${model} in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.`,
      { param: 'reasoning_effort' },
    );
  }
}

/** @throws Rejection */
export function checkResponsesModel(body: JsonObject, model: string): void {
  const rules = rulesOf(model);
  if (rules === null) return;
  checkEndpoint(rules, 'responses');
  const { reasoning } = body;
  if (isObject(reasoning)) checkEffort(rules, 'reasoning.effort', reasoning['effort']);
}

function checkEndpoint({ endpoints }: ModelRules, endpoint: Endpoint): void {
  if (endpoints.includes(endpoint)) return;
  throw new Rejection(
    404,
    endpoint === 'chat'
      ? 'This model is only supported in v1/responses and not in v1/chat/completions.'
      : 'This model is only supported in v1/chat/completions and not in v1/responses.',
    { param: 'model' },
  );
}

function checkEffort({ efforts }: ModelRules, param: string, effort: unknown): void {
  if (!isPresent(effort)) return;
  if (efforts === null) {
    throw new Rejection(
      400,
      `Unsupported parameter: '${param}' is not supported with this model.`,
      {
        param,
        code: 'unsupported_parameter',
      },
    );
  }
  if (efforts.includes(String(effort))) return;
  const list = efforts.map((each) => `'${each}'`).join(', ');
  throw new Rejection(
    400,
    `Unsupported value: '${param}' does not support '${String(effort)}' with this model. Supported values are: ${list}.`,
    { param, code: 'unsupported_value' },
  );
}
