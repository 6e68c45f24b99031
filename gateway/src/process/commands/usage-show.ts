import { readDatabase } from './command-config.ts';
import { type Command, commonOptions, printResult } from './command.ts';
import { formatTable } from './text-table.ts';

type Described = Awaited<ReturnType<(typeof import('#console-api/index.ts'))['describeUsage']>>;

/** One request with its receipt, line by line, as the console shows it. */
export const usageShow: Command = {
  name: 'usage show',
  description:
    'ID is the x-request-id of the response. The amounts are worked out again from the lines of the receipt: quantity ×\n' +
    'price, their sum × the multiplier of the group, rounded up once.',
  options: commonOptions,
  positionals: ['ID'],
  async run(input, io) {
    const [id = ''] = input.positionals;
    const request = await readDatabase(input, io, async ({ database: { kysely } }) => {
      const { describeUsage } = await import('#console-api/index.ts');
      const { errorTexts, findUsage } = await import('#usage/index.ts');
      const entry = await findUsage(kysely, id, {});
      if (entry === null) throw new Error(`request '${id}' does not exist, or is no longer kept`);
      return describeUsage(kysely, entry, await errorTexts(kysely, id));
    });
    const receipt = await receiptLines(request);
    const parts = [
      formatTable(['request', request.id], factsOf(request)),
      receipt.length === 0 ? 'nothing was charged\n' : formatTable(receiptHeading, receipt),
      request.attempts.length === 0
        ? 'no upstream was asked\n'
        : formatTable(attemptHeading, attemptLines(request)),
    ];
    return printResult(input, io, request, parts.join('\n'));
  },
};

function factsOf(request: Described): [string, string][] {
  const { team, channel, error, message, ttft_ms: firstToken, held, multiplier, payer } = request;
  const facts: [string, string | null][] = [
    ['time', request.time],
    ['key', request.key],
    ['user', request.user],
    ['team', team],
    ['model', request.model],
    ['protocol', request.protocol],
    ['client', request.client],
    ['channel', channel],
    ['outcome', `${request.status} ${request.outcome}`],
    ['error', error],
    ['message', message],
    ['first token', firstToken === null ? null : `${firstToken} ms`],
    ['duration', `${request.duration_ms} ms`],
    ['held', held === null ? null : `${held} USD`],
    ['group', multiplier === null ? request.group : `${request.group} × ${multiplier}`],
    ['paid by', payer],
    ['counted', request.usage_source],
    ['charged', request.cost === null ? 'nothing' : `${request.cost} USD`],
  ];
  return facts.filter((fact): fact is [string, string] => fact[1] !== null && fact[1] !== '');
}

const receiptHeading = ['PART', 'QUANTITY', 'PRICE', 'AMOUNT'];

/** Places of a price, and of a quantity of seconds. */
const pricePlaces = 60;
const quantityPlaces = 3;

/** Each line, the sum, and what the multiplier makes of it. No number is rounded. */
async function receiptLines({ receipt, multiplier, cost }: Described): Promise<string[][]> {
  if (receipt === null || cost === null) return [];
  const { scaled, unscaled } = await import('#config/index.ts');
  const places = pricePlaces + quantityPlaces;
  const amounts = receipt.map(({ quantity, price }) => {
    const thousandths = BigInt(Math.round(quantity * 10 ** quantityPlaces));
    return thousandths * (scaled(price, pricePlaces) ?? 0n);
  });
  const sum = amounts.reduce((total, amount) => total + amount, 0n);
  const factor = multiplier ?? '1';
  const product = sum * (scaled(factor, pricePlaces) ?? 0n);
  return [
    ...receipt.map(({ part, quantity, price }, at) => [
      part,
      String(quantity),
      `× ${price}`,
      `= ${unscaled(amounts[at] ?? 0n, places)}`,
    ]),
    ['sum', '', '', `= ${unscaled(sum, places)}`],
    ...(factor === '1'
      ? []
      : [['group', '', `× ${factor}`, `= ${unscaled(product, places + pricePlaces)}`]]),
    ['charged', '', '', `= ${cost}`],
  ];
}

const attemptHeading = ['ATTEMPT', 'CHANNEL', 'STATUS', 'RESULT', 'MS', 'WORDS'];

const attemptLines = ({ attempts }: Described): string[][] =>
  attempts.map(({ channel, status, result, duration_ms: ms, words }, at) => [
    String(at + 1),
    channel,
    status === null ? '' : String(status),
    result,
    String(ms),
    words ?? '',
  ]);
