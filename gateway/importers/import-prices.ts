import type { ModelEntry, PriceList, Skipped } from './price-lists/index.ts';
import { type Command, commonOptions, exitCode, printJson, UsageError } from '#commands/command.ts';

export const importPrices: Command = {
  name: 'import prices',
  description: `FORMAT is litellm (model_prices_and_context_window.json) or models.dev (api.json); FILE a copy of it.
Prints entries for \`models:\` of the configuration; nothing is changed. Models that one price cannot describe are
left out, and counted on stderr.`,
  options: {
    provider: {
      type: 'string',
      multiple: true,
      value: 'NAME',
      help: 'only models of this provider, as the file calls it',
    },
    json: commonOptions.json,
  },
  positionals: ['FORMAT', 'FILE'],
  async run(input, io) {
    const { isPriceListFormat, priceListFormats, readPriceList, toModelEntry } =
      await import('./price-lists/index.ts');
    const [format = '', file = ''] = input.positionals;
    if (!isPriceListFormat(format)) {
      throw new UsageError(`FORMAT: expected ${priceListFormats.join(' or ')}, got '${format}'`);
    }
    const { readInput } = await import('./read-input.ts');
    const text = await readInput(io, file);
    const providers = input.texts('provider');
    const list = readPriceList(format, text, providers);
    const unknown = providers.filter((provider) => !list.providers.includes(provider));
    if (unknown.length > 0) {
      throw new Error(
        `no provider '${unknown.join("', '")}' in the file; it has ${list.providers.join(', ')}`,
      );
    }
    const models = list.models.map(toModelEntry);
    if (input.flag('json')) {
      printJson(io, { models, skipped: list.skipped });
    } else {
      const { stringify } = await import('yaml');
      // On one line: a name over several lines would continue into the next entry.
      const options = { blockQuote: false, lineWidth: 0 } as const;
      io.stdout(toYaml(models, (name) => stringify(name, options).trimEnd()));
      io.stderr(summarise(list));
    }
    return list.models.length > 0 ? exitCode.done : exitCode.failed;
  },
};

/** Prices are bare digits: the configuration reads numbers as they are written. */
function toYaml(models: readonly ModelEntry[], quote: (name: string) => string): string {
  const entries = models.map(({ id, price, ...rest }) => {
    const lines = [`  - id: ${quote(id.replaceAll('${', () => '$${'))}`];
    for (const [key, value] of Object.entries(rest)) lines.push(`    ${key}: ${value}`);
    return [...lines, `    price: ${toFlow(price)}`].map((line) => `${line}\n`).join('');
  });
  return models.length === 0 ? 'models: []\n' : `models:\n${entries.join('')}`;
}

function toFlow(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toFlow).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return String(value);
  const entries = Object.entries(value).map(([part, inner]) => `${part}: ${toFlow(inner)}`);
  return `{ ${entries.join(', ')} }`;
}

/** How many left-out models are named. */
const mostNames = 5;

function summarise({ models, skipped }: PriceList): string {
  const byReason = Map.groupBy(skipped, ({ reason }) => reason);
  const lines = Array.from(byReason, ([reason, entries]) => `  ${reason}: ${nameSome(entries)}\n`);
  const count = models.length === 1 ? '1 model' : `${models.length} models`;
  return `${count} written${lines.length === 0 ? '' : `, ${skipped.length} left out`}\n${lines.join('')}`;
}

function nameSome(entries: readonly Skipped[]): string {
  const names = entries.slice(0, mostNames).map(({ id }) => id);
  const more = entries.length - names.length;
  return names.join(', ') + (more > 0 ? ` and ${more} more` : '');
}
