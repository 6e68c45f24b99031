import type { TextProtocol } from '../behaviour/text-protocols.ts';

/* What upstreams report, and the lines that a page must show for it. */

/** A line as a person reads it: what, how many, and the price in the configuration's own digits. */
export interface ShownLine {
  readonly words: string;
  readonly quantity: number;
  /** USD. */
  readonly price: string;
  /** What the price is for. Default: a million of them. */
  readonly per?: 'one';
}

/** What an upstream reports, in the words of no protocol. */
export interface Counts {
  /** Without what was read from a cache or written to one. */
  readonly input: number;
  readonly read?: number;
  /** For five minutes; messages only. */
  readonly written?: number;
  /** For an hour; messages only. */
  readonly writtenLong?: number;
  /** With reasoning. */
  readonly output: number;
  readonly reasoning?: number;
}

/** The same as the protocol's usage object. */
export function reported(name: TextProtocol['name'], counts: Counts): Record<string, unknown> {
  const { input, read = 0, written = 0, writtenLong = 0, output, reasoning = 0 } = counts;
  switch (name) {
    case 'chat':
      return {
        prompt_tokens: input + read,
        prompt_tokens_details: { cached_tokens: read },
        completion_tokens: output,
        completion_tokens_details: { reasoning_tokens: reasoning },
      };
    case 'responses':
      return {
        input_tokens: input + read,
        input_tokens_details: { cached_tokens: read },
        output_tokens: output,
        output_tokens_details: { reasoning_tokens: reasoning },
      };
    case 'messages':
      return {
        input_tokens: input,
        cache_read_input_tokens: read,
        cache_creation_input_tokens: written + writtenLong,
        cache_creation: {
          ephemeral_5m_input_tokens: written,
          ephemeral_1h_input_tokens: writtenLong,
        },
        output_tokens: output,
      };
    case 'generate-content':
      return {
        promptTokenCount: input + read,
        cachedContentTokenCount: read,
        candidatesTokenCount: output - reasoning,
        thoughtsTokenCount: reasoning,
      };
  }
}

/** USD per million: digits that make every rounding visible. */
export const prices = {
  input: '0.123456789',
  read: '0.012345678',
  written: '0.154320986',
  writtenLong: '0.246913578',
  output: '0.987654321',
  longInput: '0.2469',
} as const;

/** YAML: a price with everything that text can cost. */
export const textPrice = `{ input: ${prices.input}, cache_read: ${prices.read}, cache_write: ${prices.written}, cache_write_1h: ${prices.writtenLong}, output: ${prices.output}, tiers: [{ above: 2000, input: ${prices.longInput} }], multipliers: { service_tier.priority: 1.75, speed.fast: 6, inference_geo.us: 1.1 }, fees: { web_search: 0.0123 } }`;

/** The lines of these counts, in the order of a receipt. @param above of the tier, if one applies */
export function linesOf(counts: Counts, above: string | null = null): ShownLine[] {
  const { input, read = 0, written = 0, writtenLong = 0, output } = counts;
  const end = above === null ? '' : `, prompt above ${above}`;
  const lines: ShownLine[] = [
    { words: 'Input', quantity: input, price: above === null ? prices.input : prices.longInput },
    { words: 'Read from the cache', quantity: read, price: prices.read },
    { words: 'Written to the cache, 5 min', quantity: written, price: prices.written },
    { words: 'Written to the cache, 1 h', quantity: writtenLong, price: prices.writtenLong },
    { words: 'Output', quantity: output, price: prices.output },
  ];
  return lines
    .filter(({ quantity }) => quantity > 0)
    .map((line) => ({ ...line, words: line.words + end }));
}

/** Decimal text as a whole number of 10⁻³⁰. */
const exactOf = (text: string): bigint => {
  const [whole = '', fraction = ''] = text.split('.');
  return BigInt(whole + fraction.padEnd(30, '0'));
};
const one = exactOf('1');

/** With at least two places, as amounts are shown. */
function textOf(value: bigint): string {
  const digits = value.toString().padStart(31, '0');
  const fraction = digits.slice(-30).replace(/0+$/, '').padEnd(2, '0');
  return `${digits.slice(0, -30)}.${fraction}`;
}

/** Of two decimal texts. */
export const product = (a: string, b: string) => textOf((exactOf(a) * exactOf(b)) / one);

export interface ShownReceipt {
  /** What, quantity, rate and amount of each line. */
  readonly lines: readonly (readonly string[])[];
  readonly sum: string;
  /** Before it is rounded. */
  readonly product: string;
  /** To the nano-USD, a tie to even. */
  readonly total: string;
}

/** What a page must show, worked out from the configuration alone. @param factor of the group */
export function workedOut(lines: readonly ShownLine[], factor: string): ShownReceipt {
  const amounts = lines.map(({ quantity, price, per }) => {
    const amount = (exactOf(String(quantity)) * exactOf(price)) / one;
    return per === 'one' ? amount : amount / 1_000_000n;
  });
  const sum = amounts.reduce((all, each) => all + each, 0n);
  const multiplied = (sum * exactOf(factor)) / one;
  const nano = 10n ** 21n;
  const twice = (multiplied % nano) * 2n;
  const down = multiplied / nano;
  const total = twice > nano || (twice === nano && down % 2n === 1n) ? down + 1n : down;
  const count = new Intl.NumberFormat('en-US', { maximumFractionDigits: 3 });
  return {
    lines: lines.map(({ words, quantity, price, per }, at) => [
      words,
      `${count.format(quantity)}${words.startsWith('Video') && per === 'one' ? ' s' : ''}`,
      `${textOf(exactOf(price))}${per === 'one' ? '' : ' / M'}`,
      textOf(amounts[at] ?? 0n),
    ]),
    sum: textOf(sum),
    product: textOf(multiplied),
    total: textOf(total * nano),
  };
}
